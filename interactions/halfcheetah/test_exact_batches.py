"""Level 2: HalfCheetah's candidates round alike in every batch, which their gates would not ask."""

import numpy as np
import pytest

from twinstep import Start
from twinstep.testing import LANES, sample_actions, some_starts

pytestmark = [pytest.mark.level2, pytest.mark.environment("halfcheetah")]

STEPS = 20


def _lanes(starts, rows):
    return Start(starts.seed[rows], {name: values[rows] for name, values in starts.fields.items()})


def _play(runner, starts, actions):
    state, _ = runner.reset(starts)
    return runner.step_loop(state, actions)[1]


def test_a_lane_alone_and_in_reverse_order_has_the_same_bits(twinstep_lab):
    """Steps of a lane do not depend on how many lanes there are, nor on its place, in any bit."""
    rng = twinstep_lab.reference.rng("exact batches")
    starts = some_starts(twinstep_lab.contract, LANES)  # nothing further is compiled
    actions = np.stack([sample_actions(twinstep_lab.contract, LANES, rng) for _ in range(STEPS)])
    whole = _play(twinstep_lab.runner, starts, actions)
    back = np.arange(LANES)[::-1]
    turned = _play(twinstep_lab.runner, _lanes(starts, back), actions[:, back])
    turned = {path: values[:, back] for path, values in turned.items()}
    twinstep_lab.require_same(whole, turned, ("in order", "in reverse"), first=1)
    for lane in (0, LANES // 2, LANES - 1):
        row = np.array([lane])
        alone = _play(twinstep_lab.runner, _lanes(starts, row), actions[:, row])
        part = {path: values[:, row] for path, values in whole.items()}
        twinstep_lab.require_same(part, alone, (f"as lane {lane}", "alone"), first=1)
