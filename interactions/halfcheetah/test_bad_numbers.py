"""Level 2: invalid numbers have the same effect in a candidate as in MuJoCo."""

import numpy as np
import pytest

from twinstep.testing import LANES as RECORDED
from twinstep.testing import frames_differ, some_starts

pytestmark = [pytest.mark.level2, pytest.mark.environment("halfcheetah")]

LANES = RECORDED  # nothing further is compiled
NAN, INF = np.nan, np.inf
#: The bad value, and its place: an action's motor, or a joint of the state. None is the first
#: number of the candidate's dtype beyond 1e10, the largest that MuJoCo accepts.
BAD = {
    "a control is not a number": ("action", 2, NAN),
    "a control is infinite": ("action", 2, INF),
    "a control is large": ("action", 2, -3e10),
    "a position is not a number": ("qpos", 2, NAN),
    "a position is too large": ("qpos", 4, 1.1e10),
    "a position is just too large": ("qpos", 2, None),
    "a velocity is infinite": ("qvel", 4, INF),
    "a velocity is too large": ("qvel", 4, -1.1e10),
    # Joints this fast give accelerations beyond 1e10, in the first substep and in the second.
    "an acceleration is too large": ("qvel", 4, 1e7),
    "an acceleration becomes too large": ("qvel", 4, 1e5),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_number_does_what_it_does_in_mujoco(twinstep_lab, what):
    """The episode continues as the reference's does, and the reward includes the jump."""
    name, at, value = BAD[what]
    if value is None:
        value = np.nextafter(np.dtype(twinstep_lab.runner.dtype).type(1e10), INF)
    rng = twinstep_lab.reference.rng(f"bad numbers {what}")
    states = {n: rng.uniform(-0.1, 0.1, (LANES, 9)) for n in ("qpos", "qvel", "qacc_warmstart")}
    states["elapsed"] = np.zeros(LANES, np.int32)
    states["qpos"][:, 0] += 3.0
    actions = rng.uniform(-1, 1, (2, LANES, 1, 6)).astype(np.float32)
    given = actions[0, :, 0] if name == "action" else states[name]
    # In every second lane: the others continue as if nothing had happened.
    given[::2, at] = value
    want, _ = twinstep_lab.oracle.steps(states, actions, some_starts(twinstep_lab.contract, LANES))
    got = twinstep_lab.runner.play_from(states, actions)
    found = frames_differ(want, got, twinstep_lab.rules.one_step())
    if found:
        twinstep_lab.fail(f"{', '.join(sorted(found))} differ where {what}")
