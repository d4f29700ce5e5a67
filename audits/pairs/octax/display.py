"""chip8py's sprites, digits and clearing against octax's.

Sprites that begin beyond the screen are not among the programs, and the two differ there: chip8py,
where it cuts sprites at the edge, does not wrap the place at which one begins.
"""

from audits.pair import declared, pins
from audits.pairs.octax._machine import candidate
from audits.references.chip8 import Chip8, contract, programs

PROGRAMS = programs(
    *("6x0n 6y0n A3nn Dxyn", "6x2n 6y1n A3nn Dxyn Dxyn", "6x3n 6y1n A3nn Dxyn", "A3nn 00E0"),
    *("6x1n 6y1n A3nn Dxyn", "6x0n 6y1n Fx29 Dyy5 A300"),
    each=24,
)
CONTRACT = contract("octax_display-v0", PROGRAMS)


class Oracle(Chip8):
    """The machine with these programs."""

    played = PROGRAMS


Candidate = candidate(PROGRAMS)
probe = pins("chip8-py", "octax", "jax")
PAIR = declared(__name__, "chip8py", CONTRACT, slow_to_compile=True)
