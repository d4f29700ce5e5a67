"""bsuite's Memory Chain of length 5 with one bit against gymnax's; the bit is part of the start."""

import numpy as np
from bsuite.environments.memory_chain import MemoryChain

from audits.pair import declared, pins, rounding
from audits.references.bsuite import Bsuite
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym


def place(env, start):
    env.env._context = np.asarray(start.fields["context"], int)
    return env.env._get_observation()


CONTRACT = Contract(
    version="gymnax_memory_chain-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (3,)),
    state=(
        Field("context", "int32", (1,), low=0, high=1, step=1),
        Field("time", "int32", low=0, high=5, step=1),
    ),
    starts=(Field("context", "int32", (1,)),),
    make_start=lambda seed: {"context": np.int32([seed[0] & 1])},
    randomness=Randomness("the bit is placed in both", parts={"context": ("obs",)}),
    truncates=False,
    gates=rounding({"obs": 3e-7}),
    horizon=10,
)
Oracle = oracle_from_gym(
    lambda: Bsuite(MemoryChain(5)),
    place=place,
    fields={"context": "env._context", "time": "env._timestep"},
    observation=lambda obs: obs[0],
)
Candidate = from_gymnax(
    "MemoryChain-bsuite",
    place=lambda state, start: state.replace(context=start.fields["context"]),
    fields={"context": "context", "time": "time"},
)
probe = pins("bsuite", "gymnax", "jax")
PAIR = declared(__name__, "bsuite MemoryChain", CONTRACT)
