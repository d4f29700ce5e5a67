"""chip8py's jumps, calls, keys and timers against octax's."""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    *("12nn", "22E0", "22E4", "6x0n Ex9E", "6x0n ExA1", "Fx07", "Fx15", "Fx18"),
    "6xnn Fx15 Fy07",
)
CONTRACT = contract("octax_flow-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
