"""Gymnasium's Taxi-v4 against EnvPool's Taxi-v3."""

import numpy as np

from audits.pair import declared, pins
from audits.pairs.envpool._own_start import first_observation
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_envpool, oracle_from_gym


def place(env, start):
    env.unwrapped.s = int(start.fields["state"])
    return env.unwrapped.s


CONTRACT = Contract(
    version="envpool_taxi-v0",
    params={},
    action=Discrete(6),
    observation=Field("obs", "int32"),
    state=(),
    starts=(Field("state", "int32"),),
    make_start=lambda seed: {"state": np.int32(first_observation("Taxi-v3", seed).item())},
    randomness=Randomness("EnvPool's start is placed in the reference"),
    horizon=200,
)
Oracle = oracle_from_gym("Taxi-v4", place=place)
Candidate = from_envpool("Taxi-v3", observation=lambda obs: obs.reshape(-1))
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium Taxi-v4", CONTRACT)
