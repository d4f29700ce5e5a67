"""One functional CartPole in Gymnasium's `FunctionalJaxEnv` against many in its vector wrapper."""

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.envs.functional_jax_env import FunctionalJaxEnv, FunctionalJaxVectorEnv
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional

from audits.pair import declared, drifting, pins
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_vector, oracle_from_gym


def single():
    rules = CartPoleFunctional()
    rules.transform(jax.jit)
    return FunctionalJaxEnv(rules)


def place(env, start):
    env.state = jnp.asarray(start.fields["state"])
    return np.asarray(env.state)


def make_start(seed):
    return {"state": np.random.default_rng(seed).uniform(-0.05, 0.05, 4).astype(np.float32)}


CONTRACT = Contract(
    version="functional_vector_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,), names=("x", "x_dot", "theta", "theta_dot")),
    state=(),
    starts=(Field("state", "float32", (4,)),),
    make_start=make_start,
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    gates=drifting(1e-4, "obs"),
    truncates=False,
    horizon=500,
)
Oracle = oracle_from_gym(single, place=place, seed=lambda start: int(start.seed[0]) >> 1)
Candidate = from_vector(
    lambda count: FunctionalJaxVectorEnv(CartPoleFunctional(), count),
    place=place,
    seed=lambda starts: int(starts.seed[0, 0]),
)
probe = pins("gymnasium", "jax")
PAIR = declared(__name__, "gymnasium FunctionalJaxEnv of CartPole", CONTRACT)
