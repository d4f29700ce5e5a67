"""Gymnasium's MountainCarContinuous-v0 against EnvPool's.

Gymnasium keeps its state in float32, EnvPool in double: whole episodes drift apart, so only their
first 200 steps are played.
"""

from audits.pair import declared, drifting, pins, placed
from audits.pairs.envpool._own_start import first_observation
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym

CONTRACT = Contract(
    version="envpool_continuous_mountain_car-v0",
    params={},
    action=Box(-1.0, 1.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (2,), names=("position", "velocity")),
    state=(),
    starts=(Field("state", "float32", (2,)),),
    make_start=lambda seed: {"state": first_observation("MountainCarContinuous-v0", seed)},
    randomness=Randomness("EnvPool's start is placed in the reference"),
    gates=drifting(1e-4, "obs", "reward"),
    horizon=200,
)
Oracle = oracle_from_gym("MountainCarContinuous-v0", place=placed(lambda env: env.state, "float32"))
Candidate = from_envpool("MountainCarContinuous-v0")
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium MountainCarContinuous-v0", CONTRACT)
