"""Random scripts: writes to hardware registers at random times, with reads between them.

A script is straight code that restarts at its end, so frames and lines meet it at other places
each time. It writes the values it reads to a ring in WRAM; a frame fills less than a round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from twinstep.properties.emurust.program import Program

#: 4 KB of results at C000.
RING = "ld a, h\nand $CF\nld h, a"
#: Waits in cycles: short ones to meet each place of a line, long ones for other lines.
SHORT = (0, 0, 4, 8, 12, 20, 40, 60)
LONG = (*SHORT, 100, 200, 456, 912, 2000)


def script(
    program: Program,
    rng: np.random.Generator,
    values: Mapping[str, Sequence[int]],
    reads: Sequence[str],
    waits: Sequence[int] = LONG,
    size: int = 0x3000,
    interrupts: int = 0,
) -> Program:
    """Write a script of about `size` bytes, repeated forever.

    values: register -> bytes to write, -1 for any. interrupts: possible values of IE; with them the
    script also sleeps, enables and disables interrupts, and handlers count in WRAM.
    """
    names = list(values)
    program.code("ld hl, $C000")
    again = program.at
    end = min(program.at + size, 0x7F00)
    while program.at < end:
        name = names[int(rng.integers(len(names)))]
        value = int(rng.choice(values[name]))
        program.write(name, int(rng.integers(256)) if value < 0 else value)
        program.wait(int(rng.choice(waits)))
        for number in range(int(rng.integers(4)) if reads else 0):
            program.read(reads[int(rng.integers(len(reads)))])
            program.wait((0, 4, 8)[number % 3])
        if interrupts:
            _sleep_or_not(program, rng, interrupts)
        program.code(RING)
    return program.jump(again)


def _sleep_or_not(program: Program, rng: np.random.Generator, interrupts: int) -> None:
    kind = int(rng.integers(8))
    if kind == 0:
        program.code("di")
    elif kind == 1:
        program.code("ei")
    elif kind == 2:
        program.write("IE", int(rng.integers(32)) & interrupts)
    elif kind in (3, 4):
        # The vertical blank is certain to come while the LCD is on, and the timer otherwise.
        program.write("IE", interrupts | 1).code(("di", "ei", "nop")[int(rng.integers(3))])
        program.code("halt")
    program.read("IF").read("DIV")


def counting_handlers(program: Program) -> Program:
    """Put handlers at the interrupts' vectors that record LY, DIV and their number of calls."""
    for number, vector in enumerate(range(0x40, 0x68, 8)):
        at = 0x7F00 + 0x20 * number
        program.put(vector, bytes((0xC3, at & 0xFF, at >> 8)))
        program.put(
            at,
            f"push af\nldh a, [$FF44]\nld [{0xDF40 + 4 * number}], a\nldh a, [$FF04]\n"
            f"ld [{0xDF41 + 4 * number}], a\nld a, [{0xDF42 + 4 * number}]\ninc a\n"
            f"ld [{0xDF42 + 4 * number}], a\npop af\nreti",
        )
    return program
