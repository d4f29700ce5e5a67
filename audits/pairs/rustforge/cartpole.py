"""Gymnasium's CartPole-v1 against RustForge's."""

import rustforge

from audits.pair import declared, drifting, pins, placed
from audits.pairs.rustforge._own_start import first_observation, number
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gym, oracle_from_gym

CONTRACT = Contract(
    version="rustforge_cartpole-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (4,)),
    state=(),
    starts=(Field("state", "float32", (4,)),),
    make_start=lambda seed: {"state": first_observation("CartPole", seed)},
    randomness=Randomness("RustForge's start is placed in the reference"),
    gates=drifting(1e-4, "obs"),
    horizon=500,
)
Oracle = oracle_from_gym("CartPole-v1", place=placed(lambda env: env.state.astype("float32")))
Candidate = from_gym(lambda: rustforge.make("CartPole"), seed=number)
probe = pins("gymnasium", "rustforge-rl")
PAIR = declared(__name__, "gymnasium CartPole-v1", CONTRACT)
