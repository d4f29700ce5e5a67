"""Level 1: the processor's arithmetic, for all operands and flags.

Programs push each result, with the flags, to a stack that wraps around in WRAM. A step is short
enough that every result is visible at the end of one before the next round overwrites it.
"""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

ARITHMETIC = ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp")
END = 0xE000  # the stack's; its round is 8 KB


def _done(frames):
    """Return whether the last frame shows that the program came to its end."""
    return frames["state.b"][-1] == 0x5A


def test_two_operands_give_result_and_flags(twinstep_lab):
    """All 8 operations on all 256 x 256 operands, with and without carry."""
    programs = []
    for half in (0, 4):
        program = Program().code("di\nld d, 2")
        for operation in range(half, half + 4):
            for carry in (0xA7, 0x37):  # `and a` clears it and keeps A, `scf` sets it
                program.emit(0x0E, 0)  # ld c, 0: the left operand
                outer = program.at
                program.word(0x31, END)
                inner = program.at
                # 16 left operands fill the stack's round.
                program.emit(0x79, carry, 0x80 | operation << 3, 0xF5)  # ld a, c; op a, b; push af
                program.emit(0x04, 0x20, inner - program.at - 3)  # inc b; jr nz
                program.emit(0x0C, 0x79, 0xE6, 0x0F, 0x20, inner - program.at - 6)
                program.emit(0x79, 0xA7).word(0xC2, outer)  # until c is 0 again
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=176, skip=2):
        assert _done(frames)


UNARY = {
    0x07: "rlca", 0x0F: "rrca", 0x17: "rla", 0x1F: "rra", 0x27: "daa", 0x2F: "cpl", 0x37: "scf",
    0x3F: "ccf", 0x3C: "inc a", 0x3D: "dec a",
}  # fmt: skip


def test_one_operand_gives_result_and_flags(twinstep_lab):
    """The 10 on A and the 32 prefixed ones, for all 256 values and 16 sets of flags."""
    operations = [(code,) for code in UNARY] + [(0xCB, 7 | code << 3) for code in range(32)]
    program = Program().code("di").word(0x31, END)
    for operation in operations:
        program.word(0x01, 0x0000)  # b: the operand, c: the flags
        again = program.at
        program.emit(0xC5, 0xF1, *operation, 0xF5)  # push bc; pop af; op; push af
        program.emit(0x04, 0x20, again - program.at - 3)  # inc b; jr nz
        program.code("ld a, c\nadd a, 16\nld c, a").emit(0x20, again - program.at - 2)
        program.word(0x31, END)  # 4,096 results are the stack's round
    program.emit(0x06, 0x5A).rest()
    (frames,) = console.play(twinstep_lab, [program.rom()], steps=95, skip=2)
    assert _done(frames)


@pytest.mark.parametrize("opcode", [0xF8, 0xE8], ids=["ld hl, sp+e", "add sp, e"])
def test_a_signed_byte_is_added_to_the_stack_pointer(twinstep_lab, opcode):
    """All 256 bytes to all 256 lower bytes, with different upper ones; the flags too."""
    program = Program().code("di").word(0x11, 0x0000)  # de: the stack pointer
    again = program.at
    # Four upper bytes in a round, so that no result is overwritten within a frame.
    for part in range(4):
        for signed in range(256):
            program.emit(0x62, 0x6B, 0xF9, opcode, signed)  # ld h, d; ld l, e; ld sp, hl; add
            if opcode == 0xE8:
                # The sum is in SP: through memory to L and, irrelevantly, to A.
                program.word(0x08, 0xDF00).word(0xFA, 0xDF01).code("ld hl, $DF00\nld l, [hl]")
            program.word(0x31, 0xC400 + 0x400 * part + 4 * signed)
            program.emit(0xF5, 0xE5)  # push af; push hl
        program.code("ld a, d\nadd a, 37\nld d, a")
    program.emit(0x1C, 0x7B, 0xA7).word(0xC2, again)  # inc e; until it is 0 again
    program.emit(0x06, 0x5A).rest()
    (frames,) = console.play(twinstep_lab, [program.rom()], steps=500 if opcode == 0xE8 else 275)
    assert _done(frames)


EDGES = (
    0x0000, 0x0001, 0x000F, 0x0010, 0x007F, 0x0080, 0x00FF, 0x0100, 0x07FF, 0x0800, 0x0FFF, 0x1000,
    0x1234, 0x7FFF, 0x8000, 0x8FFF, 0xABCD, 0xEFFF, 0xF000, 0xFF00, 0xFFFE, 0xFFFF,
)  # fmt: skip


@pytest.mark.parametrize("pair", ["bc", "de", "hl", "sp"])
def test_words_are_added_counted_up_and_down(twinstep_lab, pair):
    """`add hl`, `inc` and `dec` of a pair, near carries out of each nibble, for all flags."""
    rng = np.random.default_rng(7)
    words = [*EDGES, *map(int, rng.integers(0, 1 << 16, 10))]
    code = ("bc", "de", "hl", "sp").index(pair) << 4
    program = Program().code("di")
    place = END
    for number, left in enumerate(words):
        for right in words if pair != "hl" else [left]:
            flags = (number * 0x50 + right * 0x30) & 0xF0
            program.word(0x31, place - 2).word(0x01, right << 8 & 0xFF00 | flags)
            program.emit(0xC5, 0xF1)  # push bc; pop af: the flags are given
            program.word(0x21, left).word(0x01 | code, right)
            program.emit(0x09 | code)
            if pair == "sp":
                program.emit(0x33 if number & 1 else 0x3B).word(0x08, place - 6)
            else:
                program.emit(0x03 | code, 0x03 | code, 0x0B | code)
            program.word(0x31, place).emit(0xF5, 0xE5)
            if pair in ("bc", "de"):
                program.emit(0xC5 | code)
            place -= 6
    program.emit(0x06, 0x5A).rest()
    (frames,) = console.play(twinstep_lab, [program.rom()], steps=5)
    assert _done(frames)
