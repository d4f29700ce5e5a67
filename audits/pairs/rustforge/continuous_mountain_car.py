"""Gymnasium's MountainCarContinuous-v0 against RustForge's."""

import rustforge

from audits.pair import declared, drifting, pins, placed
from audits.pairs.rustforge._own_start import first_observation, number
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym

CONTRACT = Contract(
    version="rustforge_continuous_mountain_car-v0",
    params={},
    action=Box(-1.0, 1.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (2,)),
    state=(),
    starts=(Field("state", "float32", (2,)),),
    make_start=lambda seed: {"state": first_observation("MountainCarContinuous", seed)},
    randomness=Randomness("RustForge's start is placed in the reference"),
    gates=drifting(1e-4, "obs", "reward"),
    horizon=200,
)
Oracle = oracle_from_gym("MountainCarContinuous-v0", place=placed(lambda env: env.state, "float32"))
Candidate = from_gym(lambda: rustforge.make("MountainCarContinuous"), seed=number)
probe = pins("gymnasium", "rustforge-rl")
PAIR = declared(__name__, "gymnasium MountainCarContinuous-v0", CONTRACT)
