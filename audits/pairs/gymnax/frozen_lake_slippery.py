"""Gymnasium's slippery FrozenLake-v1 against gymnax's."""

from gymnax.environments.misc.frozen_lake import FrozenLake

from audits.pair import declared, pins
from twinstep import Contract, Discrete, Distribution, Field, GateRule, Randomness
from twinstep.inward import from_gymnax, oracle_from_gym

CONTRACT = Contract(
    version="gymnax_frozen_lake_slippery-v0",
    params={},
    action=Discrete(4),
    observation=Field("obs", "int32"),
    state=(),
    randomness=Randomness("each side's own"),
    gates=(GateRule(Distribution()),),
    horizon=100,
)
Oracle = oracle_from_gym("FrozenLake-v1")
Candidate = from_gymnax(FrozenLake(is_slippery=True))
probe = pins("gymnasium", "gymnax", "jax")
PAIR = declared(__name__, "gymnasium FrozenLake-v1", CONTRACT)
