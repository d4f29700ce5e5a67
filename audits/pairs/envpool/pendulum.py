"""Gymnasium's Pendulum-v1 against EnvPool's, whose first angle is known only by its observation."""

from audits.pair import declared, drifting, pins, placed, swung
from audits.pairs.envpool._own_start import first_observation
from twinstep import Box, Contract, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym

CONTRACT = Contract(
    version="envpool_pendulum-v0",
    params={},
    action=Box(-2.0, 2.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (3,), names=("cos", "sin", "theta_dot")),
    state=(),
    starts=(Field("state", "float64", (2,)),),
    make_start=lambda seed: swung(first_observation("Pendulum-v1", seed)),
    randomness=Randomness("EnvPool's start is placed in the reference"),
    gates=drifting(1e-3, "obs", "reward"),
    horizon=200,
)
Oracle = oracle_from_gym("Pendulum-v1", place=placed(lambda env: env._get_obs()))
Candidate = from_envpool("Pendulum-v1")
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium Pendulum-v1", CONTRACT)
