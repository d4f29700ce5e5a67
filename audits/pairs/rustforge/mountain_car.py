"""Gymnasium's MountainCar-v0 against RustForge's."""

import rustforge

from audits.pair import declared, drifting, pins, placed
from audits.pairs.rustforge._own_start import first_observation, number
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym

CONTRACT = Contract(
    version="rustforge_mountain_car-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (2,)),
    state=(),
    starts=(Field("state", "float32", (2,)),),
    make_start=lambda seed: {"state": first_observation("MountainCar", seed)},
    randomness=Randomness("RustForge's start is placed in the reference"),
    gates=drifting(1e-4, "obs"),
    horizon=200,
)
Oracle = oracle_from_gym("MountainCar-v0", place=placed(lambda env: env.state.astype("float32")))
Candidate = from_gym(lambda: rustforge.make("MountainCar"), seed=number)
probe = pins("gymnasium", "rustforge-rl")
PAIR = declared(__name__, "gymnasium MountainCar-v0", CONTRACT)
