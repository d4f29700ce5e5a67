"""rejax, a trainer that we did not write, trains Pong through the gymnax adapter.

rejax and gymnax ask for other versions than the ordinary environment holds: `make trainers` runs
this in an environment of its own, and fails if it is skipped there.
"""

import jax
import numpy as np
import pytest

import twinstep
from twinstep.adapters.gymnax import Gymnax
from twinstep.rollouts import test_adapters

rejax = pytest.importorskip("rejax", reason="rejax is not installed: make trainers")

pytestmark = pytest.mark.e2e

LANES, STEPS = 256, 32
BATCH = LANES * STEPS


def _trained(updates, **params):
    """Return (lengths, returns) [evaluations, 128]: before training, and four times in it."""
    env = Gymnax(twinstep.make("pong-v0", "jax", max_score=1, **params), values=5)
    settings = {
        "num_envs": LANES,
        "num_steps": STEPS,
        "num_epochs": 4,
        "num_minibatches": 8,
        "learning_rate": 3e-3,
        "gamma": 0.97,
        "gae_lambda": 0.9,
        "ent_coef": 0.005,
        "max_grad_norm": 0.5,
        "total_timesteps": updates * BATCH,
        "eval_freq": updates * BATCH // 4,
        "agent_kwargs": {"activation": "tanh"},
    }
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        learner = rejax.PPO.create(env=env, **settings)
        _, evaluations = jax.jit(learner.train)(jax.random.key(0))
    return jax.tree.map(np.asarray, evaluations)


@pytest.mark.parametrize("continuous", [False, True])
def test_rejax_learns_pong(continuous):
    """From losing to winning more than it loses; each episode that it plays ends by itself."""
    lengths, returns = _trained(80, continuous=continuous)
    assert lengths.shape == returns.shape == (5, 128)
    scores = returns.mean(1)
    print("score before training and in it:", *(f"{score:.2f}" for score in scores))
    assert scores[0] < -0.7
    assert scores[-1] > 0
    horizon = twinstep.make("pong-v0", "jax", max_score=1).contract.horizon
    assert (lengths < horizon).all()


@pytest.mark.parametrize("values", [5, 6])
def test_steps_match_the_oracle_where_gymnax_is_installed(fs8, values):
    """With gymnax's own spaces, as rejax has them."""
    test_adapters.test_gymnax_steps_match_the_oracle(fs8, values)


def test_spaces_are_gymnaxs_own():
    from gymnax.environments import spaces

    for continuous, kind in ((False, spaces.Discrete), (True, spaces.Box)):
        env = Gymnax(twinstep.make("pong-v0", "jax", continuous=continuous))
        action, seen = env.action_space(), env.observation_space()
        assert isinstance(action, kind)
        assert isinstance(seen, spaces.Box)
        assert seen.contains(env.reset(jax.random.key(0))[0])
        assert action.contains(action.sample(jax.random.key(1)))
