"""Gymnasium's MountainCarContinuous-v0 against gymnax's."""

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.gymnax._control import put
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("position", "velocity")

CONTRACT = Contract(
    version="gymnax_continuous_mountain_car-v0",
    params={},
    action=Box(-1.0, 1.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (2,), names=NAMES),
    state=(
        *ranged(NAMES, ((-1.2, 0.6), 0.07), "float32"),
        Field("time", "int32", low=0, high=998, step=1),
    ),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    gates=rounding(
        {"obs": 2e-06, "reward": 2e-05, "state.position": 2e-06, "state.velocity": 8e-08}
    ),
    horizon=1000,
    **uniform([-0.6, 0.0], [-0.4, 0.0]),
)
Oracle = oracle_from_gym(
    "MountainCarContinuous-v0",
    place=placed(lambda env: env.state, "float32"),
    fields=elements(NAMES),
)
Candidate = from_gymnax(
    "MountainCarContinuous-v0",
    place=put(NAMES),
    fields={name: name for name in (*NAMES, "time")},
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium MountainCarContinuous-v0", CONTRACT)
