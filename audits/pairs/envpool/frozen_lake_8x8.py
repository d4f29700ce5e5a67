"""Gymnasium's slippery FrozenLake8x8-v1 against EnvPool's."""

from audits.pair import declared, pins
from audits.pairs.envpool._drawn import drawn

CONTRACT, Oracle, Candidate = drawn(
    "envpool_frozen_lake_8x8-v0", ("FrozenLake8x8-v1", "FrozenLake8x8-v1"), 4, horizon=200
)
probe = pins("gymnasium", "envpool")
PAIR = declared(__name__, "gymnasium FrozenLake8x8-v1", CONTRACT)
