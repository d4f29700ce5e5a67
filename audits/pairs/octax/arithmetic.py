"""chip8py's registers, and what skips by them, against octax's."""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    *("6xnn", "7xnn", "3xnn", "4xnn", "5xy0", "9xy0"),
    *("8xy0", "8xy1", "8xy2", "8xy3", "8xy4", "8xy5", "8xy6", "8xy7", "8xyE"),
)
CONTRACT = contract("octax_arithmetic-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
