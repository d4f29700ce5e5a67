"""Gymnasium's MountainCar-v0 against EnvPool's."""

from audits.pair import declared, drifting, pins, placed
from audits.pairs.envpool._own_start import first_observation
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym

CONTRACT = Contract(
    version="envpool_mountain_car-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (2,), names=("position", "velocity")),
    state=(),
    starts=(Field("state", "float32", (2,)),),
    make_start=lambda seed: {"state": first_observation("MountainCar-v0", seed)},
    randomness=Randomness("EnvPool's start is placed in the reference"),
    gates=drifting(1e-4, "obs"),
    horizon=200,
)
Oracle = oracle_from_gym("MountainCar-v0", place=placed(lambda env: env.state.astype("float32")))
Candidate = from_envpool("MountainCar-v0")
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium MountainCar-v0", CONTRACT)
