"""Level 3: ten thousand battles never seen before, without one difference."""

import os

import numpy as np
import pytest

from twinstep.testing import starts_of

pytestmark = [pytest.mark.level3, pytest.mark.slow, pytest.mark.environment("pokejax")]

#: In each of the two variants; played in parts, so that a difference is reported early.
BATTLES, PART = 5000, 500
#: Battles longer than this are cut.
HORIZON = 1100


@pytest.mark.needs(
    when=lambda facts, row: facts.pair.subject.variant.name in ("randbats", "anything"),
    why="random-battle teams and random movesets only",
)
def test_ten_thousand_new_random_battles_match(twinstep_lab):
    """Random-battle teams and random movesets, half each; TWINSTEP_SEED repeats a seed."""
    seed = int(os.environ.get("TWINSTEP_SEED") or np.random.SeedSequence().entropy % 2**32)
    twinstep_lab.notes["lines"] = [
        f"L3 {twinstep_lab.pair.label}: {BATTLES} battles of seed {seed}"
    ]
    print(f"TWINSTEP_SEED={seed}")
    rng = np.random.default_rng(seed)
    ended = 0
    for _ in range(BATTLES // PART):
        drawn = rng.integers(0, 2**32, (PART, 2)).astype(np.uint32)
        traces = twinstep_lab.reference.recorded(
            "random", starts_of(twinstep_lab.contract, drawn), HORIZON
        )
        twinstep_lab.require_lockstep(traces)
        ended += traces.total("terminated")
    assert ended == BATTLES
