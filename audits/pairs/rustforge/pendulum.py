"""Gymnasium's Pendulum-v1 against RustForge's, whose first angle only its observation shows.

That is a number of float32, and an upright pendulum doubles an error every few steps: whole
episodes are compared in distribution; besides, those that begin alike must stay together.
"""

import rustforge

from audits.pair import declared, pins, placed, swung
from audits.pairs.rustforge._own_start import first_observation, number
from twinstep import Box, Contract, Distribution, Field, GateRule, Horizon, Randomness
from twinstep.inward import from_gym, oracle_from_gym

CONTRACT = Contract(
    version="rustforge_pendulum-v0",
    params={},
    action=Box(-2.0, 2.0, (1,), beyond=1.5),
    observation=Field("obs", "float32", (3,), names=("cos", "sin", "theta_dot")),
    state=(),
    starts=(Field("state", "float64", (2,)),),
    make_start=lambda seed: swung(first_observation("Pendulum", seed)),
    randomness=Randomness("RustForge's start is placed in the reference"),
    gates=(GateRule(Distribution(steps=200)),),
    further=(GateRule(Horizon(1e-3, median=100, least=40), fields="obs"),),
    horizon=200,
)
Oracle = oracle_from_gym("Pendulum-v1", place=placed(lambda env: env._get_obs()))
Candidate = from_gym(lambda: rustforge.make("Pendulum"), seed=number)
probe = pins("gymnasium", "rustforge-rl")
PAIR = declared(__name__, "gymnasium Pendulum-v1", CONTRACT)
