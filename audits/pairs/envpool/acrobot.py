"""Gymnasium's Acrobot-v1 against EnvPool's, which gives only float32 of its start.

Rounding grows so fast that whole episodes are compared in distribution; besides, those that begin
alike must stay together for 40 steps.
"""

import numpy as np

from audits.pair import declared, pins, placed
from audits.pairs.envpool._own_start import first_observation
from twinstep import (
    Contract,
    Discrete,
    Distribution,
    Field,
    GateRule,
    Horizon,
    Randomness,
)
from twinstep.inward import from_envpool, oracle_from_gym


def make_start(seed):
    cos1, sin1, cos2, sin2, *speeds = first_observation("Acrobot-v1", seed).astype(np.float64)
    return {"state": np.array([np.arctan2(sin1, cos1), np.arctan2(sin2, cos2), *speeds])}


CONTRACT = Contract(
    version="envpool_acrobot-v0",
    params={},
    action=Discrete(3),
    observation=Field("obs", "float32", (6,), names=("cos1", "sin1", "cos2", "sin2", "v1", "v2")),
    state=(),
    starts=(Field("state", "float64", (4,)),),
    make_start=make_start,
    randomness=Randomness("EnvPool's start is placed in the reference"),
    gates=(GateRule(Distribution(steps=500)),),
    further=(GateRule(Horizon(1e-4, median=40, least=40), fields="obs"),),
    horizon=500,
)
Oracle = oracle_from_gym("Acrobot-v1", place=placed(lambda env: env._get_ob()))
Candidate = from_envpool("Acrobot-v1")
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium Acrobot-v1", CONTRACT)
