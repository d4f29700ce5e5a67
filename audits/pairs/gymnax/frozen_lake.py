"""Gymnasium's FrozenLake-v1 against gymnax's, both without slipping."""

import gymnasium
from gymnax.environments.misc.frozen_lake import FrozenLake

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Field, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

CONTRACT = Contract(
    version="gymnax_frozen_lake-v0",
    params={},
    action=Discrete(4),
    observation=Field("obs", "int32"),
    state=(
        Field("position", "int32", low=0, high=15, step=1),
        Field("time", "int32", low=0, high=99, step=1),
    ),
    randomness=Randomness("none"),
    # A position drawn alone may be a hole or the goal, where an episode has ended.
    placed=0,
    horizon=100,
)
Oracle = oracle_from_gym(
    lambda: gymnasium.make("FrozenLake-v1", is_slippery=False),
    fields={"position": "unwrapped.s", "time": "_elapsed_steps"},
)
Candidate = from_gymnax(
    FrozenLake(is_slippery=False), fields={"position": "position", "time": "time"}
)
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium FrozenLake-v1", CONTRACT)
