"""Level 1: the first state of an episode, for rules that poke a seed late and wait."""

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.properties.emurust import console
from twinstep.testing import frames_differ, starts_of

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: Frames to the seed, least frames to the first one, and the number of waits to choose from.
STARTS = ((0, 1, 1), (1, 1, 1), (3, 3, 1), (16, 16, 1), (2, 16, 1), (2, 3, 50))
LANES = 8


@pytest.mark.parametrize(("seeded", "frames", "waits"), STARTS)
def test_the_first_frame_matches_wherever_the_seed_is_poked(
    twinstep_lab, tmp_path, seeded, frames, waits
):
    """Also without a frame after the seed, so that none has been drawn."""
    rules = f"seed=Value(0xFFF0, 6), seed_frame={seeded}, start_frames={frames}, waits={waits}"
    other = console.with_rules(twinstep_lab, tmp_path, rules)
    try:
        seeds = np.random.default_rng(0).integers(0, 2**32, (LANES, 2), np.uint32)
        starts = starts_of(other.contract, seeds)
        _, got = other.runner.reset(starts)
        none = np.zeros((0, 1), np.int32)
        trials = [(take_lanes(starts, lane), none) for lane in range(LANES)]
        truths = other.oracle.replays(trials)
        want = {path: np.concatenate([frames[path] for frames, _, _ in truths]) for path in got}
        wrong = frames_differ(want, got, other.rules.lockstep())
        assert not {path for path, rows in wrong.items() if rows.any()}
    finally:
        other.reference.close()
