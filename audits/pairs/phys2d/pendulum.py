"""Gymnasium's Pendulum-v1 against its own port in JAX, which knows no time limit."""

import gymnasium
from gymnasium.envs.phys2d.pendulum import PendulumFunctional

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_functional, oracle_from_gym

NAMES = ("theta", "theta_dot")

CONTRACT = Contract(
    version="phys2d_pendulum-v0",
    params={},
    action=Box(-2.0, 2.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (3,), names=("cos", "sin", "theta_dot")),
    state=ranged(NAMES, (12.0, 8.0)),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    truncates=False,
    ends=False,
    gates=rounding({"obs": 9e-06, "reward": 6e-05, "state.theta": 9e-06, "state.theta_dot": 7e-06}),
    horizon=200,
    **uniform([-3.14, -1.0], [3.14, 1.0]),
)
Oracle = oracle_from_gym(
    lambda: gymnasium.make("Pendulum-v1").unwrapped,
    place=placed(lambda env: env._get_obs()),
    fields=elements(NAMES, clock=False),
)
Candidate = from_functional(
    PendulumFunctional(),
    place=lambda state, start: start.fields["state"],
    fields={name: f"[{place}]" for place, name in enumerate(NAMES)},
)
probe = pins("gymnasium", "jax")
PAIR = declared(__name__, "gymnasium Pendulum-v1", CONTRACT)
