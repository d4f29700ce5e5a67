"""Level 3, as shipped: a state that is saved, restored or cloned goes on as it was."""

import numpy as np
import pytest

from twinstep.compare.autoreset import mismatch
from twinstep.errors import CandidateBroken, UserError
from twinstep.rollouts.test_shipped import (
    VIEWS,
    _require,
    _require_steps,
    expected_lanes,
    is_saved,
    lanes_that_fit,
    part_from,
    ships,
    stepped,
)

pytestmark = [pytest.mark.level3, pytest.mark.gates("lockstep"), pytest.mark.one_variant]

#: Steps after each of which the state is saved: a field may matter only before something happens.
MOMENTS = 24
MODES = [
    mode if mode == "same-step" else pytest.param(mode, marks=pytest.mark.recompiles)
    for mode in VIEWS
]


@pytest.mark.calling(compiles="own")
@pytest.mark.parametrize("mode", MODES)
@ships()
@is_saved
def test_saved_and_cloned_states_continue_exactly(twinstep_lab, mode):
    """Saved at several moments in which most lanes still play, and played on to the end."""
    env = twinstep_lab.shipped(mode)
    expected, seeds = expected_lanes(twinstep_lab, mode, lanes_that_fit(twinstep_lab))
    # Without auto-reset nothing says what a step beyond an episode's end does.
    lasts = int(np.median(expected.valid.sum(0))) if mode == "off" else len(expected.actions)
    half = lasts // 2
    state, _ = env.reset(seeds)
    state, _ = stepped(env, state, expected.actions[:half])
    begun = [_restored(env, state), env.clone(state)]
    compared = 0
    for t in range(half, min(half + MOMENTS, len(expected.actions))):
        lives = expected.valid[t] if mode == "off" else np.ones_like(expected.valid[t])
        if not lives.any():
            break
        if (restored := _restored(env, state)) is not None:
            _, want = env.step(env.clone(state), expected.actions[t])
            for twin in (restored, env.clone(state)):
                problem = _differing(want, env.step(twin, expected.actions[t])[1], lives)
                _require(twinstep_lab, mode, "random", problem)
            compared += int(lives.sum())
        state, _ = env.step(state, expected.actions[t])
    assert compared, "no lane was compared: a test that cannot fail"
    part = part_from(expected, half)
    for twin in begun:
        if twin is not None:
            _, steps = stepped(env, twin, part.actions)
            found = mismatch(part, steps, twinstep_lab.rules.lockstep())
            _require_steps(twinstep_lab, mode, "random", found)


def _restored(env, state):
    """Return the state saved and restored; None where the backend says that it cannot."""
    try:
        return env.restore(env.save(state))
    except (UserError, CandidateBroken) as error:
        if "waits for its next episode" not in str(error):
            raise
        return None


def _differing(want, got, lanes):
    names = [
        name
        for name, one, two in zip(want._fields, want, got, strict=True)
        if one is not None and np.asarray(one)[lanes].tobytes() != np.asarray(two)[lanes].tobytes()
    ]
    return f"after a restored state {', '.join(names)} differ" if names else ""
