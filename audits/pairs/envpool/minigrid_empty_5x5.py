"""MiniGrid's empty room of 5x5 against EnvPool's."""

from audits.pair import declared, pins
from audits.pairs.envpool._room import room

CONTRACT, Oracle, Candidate = room("envpool_minigrid_empty_5x5-v0", "MiniGrid-Empty-5x5-v0", 100)
probe = pins("minigrid", "envpool")
PAIR = declared(__name__, "minigrid MiniGrid-Empty-5x5-v0", CONTRACT)
