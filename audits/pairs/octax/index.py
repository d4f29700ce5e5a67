"""What chip8py adds to its index, and the flag of that, against octax."""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    *("A3nn Fx1E", "AFnn Fx1E", "A3nn Fx1E Fy55", "A3nn Fx1E Fy65"),
)
CONTRACT = contract("octax_index-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
