"""Gymnasium's slippery FrozenLake-v1 against EnvPool's."""

from audits.pair import declared, pins
from audits.pairs.envpool._drawn import drawn

CONTRACT, Oracle, Candidate = drawn(
    "envpool_frozen_lake-v0", ("FrozenLake-v1", "FrozenLake-v1"), 4, horizon=100
)
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium FrozenLake-v1", CONTRACT)
