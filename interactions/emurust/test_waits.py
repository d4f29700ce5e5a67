"""Level 2: loops that wait for a line by a register that changes, in some lines only."""

import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: In each vertical blank: counts frames in C, and in every eighth gives B another number.
_HANDLER = """
    push af
    inc c
    ld a, c
    and 7
    jr nz, same
    ld a, b
    xor $C8
    ld b, a
same:
    pop af
    reti
"""
#: Compares with B only where a bit of LY is set; C is set if LY is below B. A pass takes 52 cycles
#: either way.
_LOOP = """
again{number}:
    jr c, out{number}
    ldh a, [$44]
    bit {bit}, a
    jr z, skip{number}
    cp b
skip{number}:
    jr again{number}
out{number}:
"""


def _program(bit, first):
    program = Program().put(0x40, bytes((0xC3, 0x00, 0x7F))).put(0x7F00, _HANDLER)
    program.write("IE", 1).code(f"ld hl, $C000\nld b, {first}\nld c, 0\nei")
    begin = program.at
    program.code("or a").code(_LOOP.format(number=bit, bit=bit))
    for register in ("LY", "DIV", "STAT"):
        program.read(register)
    program.code("ld a, b\nld [hl+], a\nld a, h\nand $CF\nld h, a\nld b, 0")
    return program.jump(begin).rom()


@pytest.mark.parametrize("first", [0, 200])
def test_a_wait_that_uses_a_register_in_some_lines_only_ends_where_it_should(lab, first):
    """The register is another one than when such lines were passed last."""
    console.play(lab, [_program(bit, first) for bit in range(8)], steps=60)
