"""MiniGrid's DistShift1, a room with lava, against EnvPool's."""

from audits.pair import declared, pins
from audits.pairs.envpool._room import room

CONTRACT, Oracle, Candidate = room("envpool_minigrid_dist_shift1-v0", "MiniGrid-DistShift1-v0", 252)
probe = pins("minigrid", "envpool")
PAIR = declared(__name__, "minigrid MiniGrid-DistShift1-v0", CONTRACT)
