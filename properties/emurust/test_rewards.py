"""Level 1: rewards, for rules that read the memory in every possible way."""

import numpy as np
import pytest

from twinstep.frames import take_lanes
from twinstep.properties.emurust import console
from twinstep.testing import starts_of

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: catch counts frames at C109, draws at C105 and C106 and has its paddle at C102.
NEW = "New((Value(0xC102),), 1.0)", "New((Value(0xC109), Value(0xC102)), 8.0)"
WIDE = "New((Value(0xC105, 2), Value(0xC108, 4)), 64.0)", "New((Value(0xC100, 16),), 512.0)"
SUMS = "Bits(Value(0xC105, 2), 0.25)", "Change(Value(0xC109), 0.5)", "Change(Value(0xC105, 2))"
REWARDS = {
    "new": NEW,
    "wide": WIDE,
    "sums": SUMS,
    "all": (*SUMS, *WIDE, *NEW),
    "new twice": (NEW[0], NEW[0]),
}
LANES, STEPS = 6, 100


@pytest.mark.parametrize("parts", REWARDS.values(), ids=REWARDS)
def test_rewards_match_whatever_they_are_made_of(twinstep_lab, tmp_path, parts):
    """The memory of seen combinations survives, too."""
    rules = f"reward=({', '.join(parts)},), seed=Value(0xC105, 2), start_frames=16, "
    rules += 'actions=((), ("left",), ("right",))'
    other = console.with_rules(twinstep_lab, tmp_path, rules, frame_skip=8, observe="half")
    try:
        rng = np.random.default_rng(1)
        starts = starts_of(other.contract, rng.integers(0, 2**32, (LANES, 2), np.uint32))
        starts = [take_lanes(starts, lane) for lane in range(LANES)]
        frames = console.compare(other, starts, rng.integers(0, 3, STEPS, np.int32), hidden=False)
    finally:
        other.reference.close()
    assert len({float(reward) for each in frames for reward in each["reward"][:, 0]}) > 1
