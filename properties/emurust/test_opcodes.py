"""Level 1: every instruction, from random registers, with its writes and its duration."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.instructions import CASES, Writer
from twinstep.properties.emurust.program import COPY, START, Program, copy

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: Random registers for each instruction, in ROM and in each other place.
TRIES, ELSEWHERE = 12, 6


def _fill(writer, ops, size):
    """Write cases until `size` bytes are full; return the remaining instructions."""
    ops = list(ops)
    while ops and len(writer.data) < size:
        op = ops.pop()
        if op.mnemonic == "jr" and len(ops) & 1:
            writer.back(op)
        else:
            writer.case(op)
    return ops


def _begin(program):
    return program.code("di").write("TAC", 5)


def test_every_instruction_in_rom(twinstep_lab):
    rng = np.random.default_rng(1)
    ops = [CASES[i] for i in rng.permutation(np.repeat(np.arange(len(CASES)), TRIES))]
    programs = []
    while ops:
        program = _begin(Program())
        writer = Writer(program.at, rng)
        ops = _fill(writer, ops, 0x7F00 - START)
        programs.append(program.emit(*writer.data).emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=5):
        assert frames["state.b"][-1] == 0x5A


#: The code's place, its most bytes, and the area that pointers avoid.
PLACES = {
    "cartridge-ram": (0xA000, 0x1F80, "rom"),
    "vram": (0x8000, 0x1F80, "vram"),
    "wram": (0xDF00, 0xD0, ""),
    "hram": (0xFF80, 0x70, "hram"),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_instruction_elsewhere(twinstep_lab, place):
    """Instructions that are fetched from RAM have other times for their reads and writes."""
    base, size, away = PLACES[place]
    rng = np.random.default_rng(base)
    ops = [CASES[i] for i in rng.permutation(np.repeat(np.arange(len(CASES)), ELSEWHERE))]
    programs = []
    while ops:
        program = _begin(Program(kind=3, ram=2)).code("ld a, 10\nld [0], a")
        if place == "vram":
            program.write("LCDC", 0)
        source = 0x2000
        # The next block is copied as soon as one is finished.
        while ops and source + size < 0x8000:
            writer = Writer(base, rng, ("rom", away))
            ops = _fill(writer, ops, size - 0x40)
            writer.word(0xC3, program.at + COPY + 3)
            program.put(source, writer.data)
            copy(program, source, base, len(writer.data)).jump(base)
            source += len(writer.data)
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=30):
        assert frames["state.b"][-1] == 0x5A


#: Instructions that read or write TIMA, with HL, BC or DE at it, or SP at it or at a neighbour.
_BY_POINTER = (
    *((code,) for code in (*range(0x46, 0x76, 8), 0x7E, *range(0x70, 0x76), 0x77)),
    *((code,) for code in range(0x86, 0xC0, 8)), *((0xCB, code) for code in range(6, 0x100, 8)),
    *((code,) for code in (0x34, 0x35, 0x02, 0x12, 0x0A, 0x1A, 0x22, 0x32, 0x2A, 0x3A)),
    (0x36, 0x7B), (0xE0, 5), (0xF0, 5), (0xEA, 5, 0xFF), (0xFA, 5, 0xFF), (0x08, 5, 0xFF),
    (0x08, 4, 0xFF),
)  # fmt: skip
_BY_STACK = ((0xC1,), (0xD1,), (0xE1,), (0xF1,), (0xC5,), (0xD5,), (0xE5,), (0xF5,))


def test_memory_is_accessed_at_the_time_within_an_instruction(twinstep_lab):
    """TIMA counts every 16 cycles: each instruction at it, started at each of 4 places between."""
    cases = [(op, 0xDD00) for op in _BY_POINTER]
    cases += [(op, stack) for op in _BY_STACK for stack in (0xFF04, 0xFF05, 0xFF06, 0xFF07)]
    programs = []
    for part in range(2):
        program, place = Program().code("di").write("TAC", 5).write("TMA", 0x40), 0xDC00
        for op, stack in cases[part::2]:
            for phase in range(4):
                program.word(0x01, 0xFF05).word(0x11, 0xFF05).word(0x31, stack)
                program.word(0x21, 0xFF05).write("TIMA", 0x30).code("xor a\nldh [DIV], a")
                program.wait(4 * phase).emit(*op).word(0x31, place)
                program.code("push af\npush bc\npush de\npush hl\nldh a, [TIMA]\npush af")
                place -= 10
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=4):
        assert frames["state.b"][-1] == 0x5A


def _operands_in_vram(rng):
    """Call each instruction with operands in VRAM in turn, at changing times of a line."""
    prefixed = (0xCB37, 0xCB7C, 0xCB86, 0xCBC6)
    moves_stack = (0x31, 0xE8)
    ops = [op for op in CASES if op.immediate or op.code in prefixed]
    ops = [op for op in ops if op.code not in moves_stack]
    program = Program().code("di").write("LCDC", 0)
    program.code("ld hl, $8000\nvram:\nld a, $C9\nld [hl+], a\nld a, h\ncp $A0\njr nz, vram")
    program.code("ld hl, $FF80\nhram:\nld a, $C9\nld [hl+], a\nld a, l\nor a\njr nz, hram")
    slots = [0x8080 + 0x40 * (number & 1) + 0x100 * (number >> 1) for number in range(len(ops))]
    for op, slot in zip(ops, slots, strict=True):
        operand = {
            "n16": slot + 6, "[n16]": 0xC8F0, "[n8]": 0xF4, "r8": 1, "n8": 0x1E, "e8": 0x21,
            "sp+e8": 0x21,
        }.get(op.immediate or "", 0)  # fmt: skip
        code = [*op.prefix, operand & 0xFF, operand >> 8][: op.length]
        for place, byte in enumerate(code, slot):
            program.code(f"ld a, {byte}\nld [{place}], a")
    program.write("LCDC", 0x91).write("TAC", 5).code("ld hl, $C000")
    again = program.at
    for slot in slots:
        program.code("ld [$DF00], sp\nld sp, $DE00")
        program.word(0x01, 0xC900 | int(rng.integers(16)) << 4)
        program.code("push bc\npop af\nld bc, $1234\nld de, $5678\nld hl, $C888")
        program.wait(4 * int(rng.integers(12))).word(0xCD, slot)
        # A ring of 2 KB of results, 14 bytes each, by a stack pointer that wraps around.
        program.code("ld [$DF02], sp\nld sp, $DF80\npush hl\npush de\npush bc\npush af")
        program.code("ld sp, $DF00\npop hl\nld sp, $DF78")
        for _ in range(4):
            program.code("pop bc\nld a, c\nld [hl+], a\nld a, b\nld [hl+], a")
        program.code("ld a, [$DF02]\nld [hl+], a\nldh a, [TIMA]\nld [hl+], a")
        # The places it may have written, and the restored old values.
        for place in (0xC8F0, 0xC8FF, 0xFFF0, 0xFFF4):
            program.code(f"ld a, [{place}]\nld [hl+], a\nld a, $C9\nld [{place}], a")
        program.code("ld a, h\nand $C7\nld h, a\nld sp, hl")
    program.jump(again)
    return program.rom()


def test_operands_in_vram_while_the_lcd_reads_it(twinstep_lab):
    """In VRAM's code the LCD blocks operands in mode 3, not opcodes; at each place of a line.

    Blocked bytes read FF. A jump to FFxx meets a `ret`: all VRAM, HRAM and IE hold one.
    """
    programs = [_operands_in_vram(np.random.default_rng(seed)) for seed in range(4)]
    console.play(twinstep_lab, programs, steps=90)
