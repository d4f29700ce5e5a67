"""A cheetah at rest: the solver takes no Newton step where MuJoCo takes none.

MuJoCo stops before its first step where the forces left unbalanced and the gain that the step
promises are small. A float64 engine that always takes the step is more than 1e-10 off in most steps
of a cheetah that lies still, which no driver that moves it shows.
"""

import numpy as np
import pytest

import twinstep
from twinstep.oracles.halfcheetah import upstream
from twinstep.project import registry
from twinstep.runner.runner import Runner
from twinstep.tests.support.requirements import need

STEPS = 500
HELD = {"lets go": np.zeros(6), "stretches": np.ones(6), "bends": -np.ones(6)}


@pytest.fixture(scope="module")
def rested():
    """The reference's states, actions and next velocities: f64[N, ...] of all that is held."""
    need(upstream.probe({}))
    env = twinstep.make("halfcheetah-v0", "oracle", auto_reset="off")
    states, actions, after = [], [], []
    for held in HELD.values():
        state, _ = env.reset(0)
        for _ in range(STEPS):
            before = env.frame(state).state
            states.append({name: np.array(value) for name, value in before.items()})
            actions.append(held.astype(np.float32))
            state, _ = env.step(state, actions[-1][None])
            after.append(np.array(env.frame(state).state["qvel"]))
    env.close()
    joined = {name: np.concatenate([row[name] for row in states]) for name in states[0]}
    return joined, np.stack(actions), np.concatenate(after)


@pytest.mark.parametrize("name", ["jax64", "rust64"])
def test_a_cheetah_that_holds_still_moves_as_in_mujoco(rested, name):
    """A step in a thousand may lie on an edge, where a double's last bit decides."""
    states, actions, after = rested
    subject = registry.variant_of("halfcheetah", "")
    runner = Runner.of(registry.pairs(subject, [name])[0])
    _, frame = runner.step(runner.load(states), actions[:, None])
    errors = np.abs(frame["state.qvel"] - after).max(1)
    assert (errors > 1e-10).mean() <= 1e-3
    assert errors.max() <= 1e-8
