"""MiniGrid's MiniGrid-DoorKey-6x6-v0 against XLand-MiniGrid's."""

from audits.pair import declared, pins
from audits.pairs.xminigrid import _room

CONTRACT = _room.contract("door_key_6x6", "MiniGrid-DoorKey-6x6-v0", 6, 360)
Oracle, Candidate = _room.oracle("MiniGrid-DoorKey-6x6-v0"), _room.candidate("MiniGrid-DoorKey-6x6")
probe = pins("minigrid", "xminigrid", "jax")
PAIR = declared(__name__, "minigrid MiniGrid-DoorKey-6x6-v0", CONTRACT)
