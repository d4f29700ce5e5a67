"""chip8py's jump to an address plus a register against octax's."""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    "620n B24n",
    "621n B28n",
)
CONTRACT = contract("octax_offset_jump-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
