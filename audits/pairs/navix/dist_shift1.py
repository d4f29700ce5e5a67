"""MiniGrid's DistShift1, a room with lava, against navix's."""

from audits.pair import declared, pins
from audits.pairs.navix._dist_shift import room

CONTRACT, Oracle, Candidate = room(1)
probe = pins("minigrid", "navix", "jax")
PAIR = declared(__name__, "minigrid MiniGrid-DistShift1-v0", CONTRACT)
