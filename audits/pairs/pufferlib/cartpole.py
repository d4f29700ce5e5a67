"""Gymnasium's CartPole of 200 steps against PufferLib's in C."""

import gymnasium

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.pufferlib._cart import Cart
from twinstep import Contract, Discrete, Field, Probe, Randomness
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.oracles.pong import upstream

NAMES = ("x", "x_dot", "theta", "theta_dot")


def place(env, start):
    env.state[:] = start.fields["state"]
    return env.state.copy()


CONTRACT = Contract(
    version="pufferlib_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,), names=NAMES),
    state=(
        *ranged(NAMES, (2.4, 3.0, 0.2, 3.0)),
        Field("time", "int32", low=0, high=199, step=1),
    ),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    # As large as those of gymnax's port, which has the same arithmetic.
    gates=rounding({"obs": 3e-6, "state.*": 3e-6}),
    horizon=200,
    **uniform([-0.04] * 4, 0.04),
)
Oracle = oracle_from_gym(
    lambda: gymnasium.make("CartPole-v1", max_episode_steps=200, disable_env_checker=True),
    place=placed(lambda env: env.state.astype("float32")),
    fields=elements(NAMES),
)
Candidate = from_gym(
    Cart,
    dtype="float32",
    place=place,
    fields={name: f"state[{n}]" for n, name in enumerate(NAMES)} | {"time": "time"},
)


def probe(params):
    there = upstream.probe(params)
    found = {**pins("gymnasium")(params).pins, "PufferLib": upstream.VERSION}
    return Probe(found, there.problem, there.mend)


PAIR = declared(__name__, "gymnasium CartPole-v1 of 200 steps", CONTRACT)
