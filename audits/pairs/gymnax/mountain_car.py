"""Gymnasium's MountainCar-v0 against gymnax's."""

from audits.pair import declared, elements, pins, placed, ranged, rounding, uniform
from audits.pairs.gymnax._control import put
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

NAMES = ("position", "velocity")

CONTRACT = Contract(
    version="gymnax_mountain_car-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (2,), names=NAMES),
    state=(
        *ranged(NAMES, ((-1.2, 0.6), 0.07)),
        Field("time", "int32", low=0, high=199, step=1),
    ),
    randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
    gates=rounding({"obs": 2e-06, "state.position": 2e-06, "state.velocity": 9e-08}),
    horizon=200,
    **uniform([-0.6, 0.0], [-0.4, 0.0]),
)
Oracle = oracle_from_gym(
    "MountainCar-v0",
    place=placed(lambda env: env.state.astype("float32")),
    fields=elements(NAMES),
)
Candidate = from_gymnax(
    "MountainCar-v0",
    place=put(NAMES),
    fields={name: name for name in (*NAMES, "time")},
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium MountainCar-v0", CONTRACT)
