"""What chip8py stores and loads at its index, against octax."""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    *("A3nn", "A3nn Fx33", "A3nn Fx55", "A3nn Fx65", "A3nn Fx33 F265"),
)
CONTRACT = contract("octax_memory-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
