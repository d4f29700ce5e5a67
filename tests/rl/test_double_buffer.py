"""Double-buffered sampling changes only the order of waiting."""

import dataclasses
import threading

import jax
import numpy as np
import pytest

from twinstep.plans import PPO
from twinstep.rl.ppo import Trainer
from twinstep.tests.toys import tasks

SMALL = PPO(lanes=16, steps=8, minibatches=4, epochs=2, hidden=(16,), memory=5, double_buffer=True)
SEEDS = [0, 3]


def _trained(env, ppo=SMALL):
    """Return learned parameters, statistics and the number of lanes in each step."""
    made = Trainer(env, ppo)
    learner, player = made.begin(SEEDS)
    curves = []
    for _ in range(3):
        learner, player, row = made.batch_on_host(learner, player)
        curves.append(jax.tree.map(np.array, row))
    return jax.tree.map(np.array, learner.params), curves, env.stepped


def test_halves_that_step_apart_or_together_learn_the_same_bits():
    """A candidate's halves step apart, a reference steps whole: both give the same policy."""
    params, curves, stepped = _trained(tasks.OnHost(tasks.make("cue")))
    whole = _trained(tasks.OnHost(tasks.make("cue"), independent=False))
    jax.tree.map(np.testing.assert_array_equal, (params, curves), whole[:2])
    assert stepped == [16] * (2 * SMALL.steps * 3)
    assert whole[2] == [32] * (SMALL.steps * 3)


@pytest.mark.parametrize("task", ["cue", "aim"])
def test_halves_learn_what_the_whole_learns(task):
    """Seeds, noise and hidden states stay with their lanes; sums may be rounded differently."""
    params, curves, _ = _trained(tasks.OnHost(tasks.make(task)))
    whole = _trained(
        tasks.OnHost(tasks.make(task)), dataclasses.replace(SMALL, double_buffer=False)
    )
    assert whole[2] == [32] * (SMALL.steps * 3)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4),
        (params, curves),
        whole[:2],
    )


def test_one_half_steps_while_the_policy_acts_on_the_other():
    """Each waits for the other one: sequentially, neither would ever end."""
    acting, stepping = threading.Event(), threading.Event()

    class Waiting(tasks.OnHost):
        def step(self, state, actions):
            if len(self.stepped) == 0:
                stepping.set()
                assert acting.wait(30), "the policy does not act while a half steps"
            return super().step(state, actions)

    made = Trainer(Waiting(tasks.make("cue")), dataclasses.replace(SMALL, steps=1))
    act = made._act

    def acted(*given, part):
        if part == 1:
            assert stepping.wait(30), "no half steps while the policy acts"
            acting.set()
        return act(*given, part=part)

    made._act = acted
    made.batch_on_host(*made.begin(SEEDS))
    assert acting.is_set()


def test_an_error_of_the_environment_reaches_who_trains():
    class Broken(tasks.OnHost):
        def step(self, state, actions):
            raise RuntimeError("no such lane")

    made = Trainer(Broken(tasks.make("cue")), SMALL)
    with pytest.raises(RuntimeError, match="no such lane"):
        made.batch_on_host(*made.begin(SEEDS))


def test_lanes_that_cannot_be_halved_step_whole():
    env = tasks.OnHost(tasks.make("cue"))
    made = Trainer(env, dataclasses.replace(SMALL, lanes=6, minibatches=3))
    made.batch_on_host(*made.begin([0]))
    assert env.stepped == [6] * SMALL.steps
