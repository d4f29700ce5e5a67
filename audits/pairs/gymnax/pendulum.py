"""Gymnasium's Pendulum-v1 against gymnax's."""

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.gymnax._control import put
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("theta", "theta_dot")

CONTRACT = Contract(
    version="gymnax_pendulum-v0",
    params={},
    action=Box(-2.0, 2.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (3,), names=("cos", "sin", "theta_dot")),
    state=(*ranged(NAMES, (12.0, 8.0)), Field("time", "int32", low=0, high=199, step=1)),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    gates=rounding({"obs": 9e-06, "reward": 6e-05, "state.theta": 1e-05, "state.theta_dot": 6e-06}),
    horizon=200,
    **uniform([-3.14, -1.0], [3.14, 1.0]),
)
Oracle = oracle_from_gym(
    "Pendulum-v1",
    place=placed(lambda env: env._get_obs()),
    fields=elements(NAMES),
)
Candidate = from_gymnax(
    "Pendulum-v1",
    place=put(NAMES),
    fields={name: name for name in (*NAMES, "time")},
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium Pendulum-v1", CONTRACT)
