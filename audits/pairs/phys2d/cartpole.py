"""Gymnasium's CartPole-v1 against its own port in JAX, which knows no time limit."""

import gymnasium
from gymnasium.envs.phys2d.cartpole import CartPoleFunctional

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_functional, oracle_from_gym

NAMES = ("x", "x_dot", "theta", "theta_dot")

CONTRACT = Contract(
    version="phys2d_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,), names=NAMES),
    state=ranged(NAMES, (2.4, 3.0, 0.2, 3.0)),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    truncates=False,
    # As large as those of gymnax's port, which has the same arithmetic.
    gates=rounding({"obs": 3e-6, "state.*": 3e-6}),
    horizon=500,
    **uniform([-0.05] * 4, 0.05),
)
Oracle = oracle_from_gym(
    lambda: gymnasium.make("CartPole-v1").unwrapped,
    place=placed(lambda env: env.state.astype("float32")),
    fields=elements(NAMES, clock=False),
)
Candidate = from_functional(
    CartPoleFunctional(),
    place=lambda state, start: start.fields["state"],
    fields={name: f"[{place}]" for place, name in enumerate(NAMES)},
)
probe = pins("gymnasium", "jax")
PAIR = declared(__name__, "gymnasium CartPole-v1", CONTRACT)
