"""MiniGrid's MiniGrid-Empty-6x6-v0 against XLand-MiniGrid's."""

from audits.pair import declared, pins
from audits.pairs.xminigrid import _room

CONTRACT = _room.contract("empty_6x6", "MiniGrid-Empty-6x6-v0", 6, 144)
Oracle, Candidate = _room.oracle("MiniGrid-Empty-6x6-v0"), _room.candidate("MiniGrid-Empty-6x6")
probe = pins("minigrid", "xminigrid", "jax")
PAIR = declared(__name__, "minigrid MiniGrid-Empty-6x6-v0", CONTRACT)
