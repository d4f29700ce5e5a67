"""Level 3 at length: ten million frames that were never played before."""

import os
import secrets
import tempfile
from pathlib import Path

import numpy as np
import pytest

from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.testing import NeedsOracle, TraceSet, check_episodes, chunk_lanes, starts_of

pytestmark = [pytest.mark.level3, pytest.mark.slow, pytest.mark.environment("emurust")]

#: Frames of all games together.
FRAMES = 10_000_000
#: Chunks recorded at a time.
CHUNKS = 4


def _shows_a_game(facts, row):
    params = facts.pair.subject.contract.params
    return params["rom"] in GAMES and params["observe"] == "full"


@pytest.mark.gates("lockstep")
@pytest.mark.needs(when=_shows_a_game, why="played by the variant that shows the whole picture")
def test_its_share_of_ten_million_random_frames_matches(twinstep_lab):
    """Return a run's seed: TWINSTEP_SEED repeats one; without it episodes are new each time."""
    params = twinstep_lab.contract.params
    if twinstep_lab.reference.harness.imported:
        raise NeedsOracle("exported traces have the episodes they have")
    seed = int(os.environ.get("TWINSTEP_SEED") or secrets.randbits(32))
    # The games play different episodes.
    rng = np.random.default_rng([seed, list(GAMES).index(params["rom"])])
    share, frames, episodes = FRAMES / len(GAMES), 0, 0
    lanes = chunk_lanes(twinstep_lab.contract)
    for driver in _in_turn(twinstep_lab.contract.drivers):
        if frames >= share:
            break
        said = f"{twinstep_lab.pair.label}: {frames:,} of {share:,.0f} frames, TWINSTEP_SEED={seed}"
        twinstep_lab.reference.harness.settings.progress(said)
        chosen = rng.integers(2**32, size=(CHUNKS * lanes, 2), dtype=np.uint32)
        outcome = _compare(twinstep_lab, driver, chosen, lanes)
        twinstep_lab.require_equal(outcome)
        frames += outcome.steps * params["frame_skip"]
        episodes += outcome.episodes
    twinstep_lab.notes["lines"] = [
        f"L3 {twinstep_lab.pair.label}: {frames:,} frames in {episodes:,} episodes, no difference; "
        f"TWINSTEP_SEED={seed}"
    ]


def _in_turn(drivers):
    while True:
        yield from drivers


def _compare(lab, driver, seeds, lanes):
    """Record episodes u32[N, 2] outside the cache, which should not keep them, and replay them."""
    starts = starts_of(lab.contract, seeds)
    path = lab.pair.subject.driver(driver)
    with tempfile.TemporaryDirectory() as folder:
        chunks = lab.oracle.record(path, starts, lab.contract.horizon, lanes, folder)
        traces = TraceSet(Path(folder), {"chunks": chunks})
        return check_episodes(lab.runner, traces, lab.rules.lockstep())
