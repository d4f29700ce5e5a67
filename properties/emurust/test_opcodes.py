"""Level 1: every instruction, from random registers, with what it writes and how long it takes."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.instructions import CASES, Writer
from twinstep.properties.emurust.program import COPY, START, Program, copy

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: Random registers for each instruction.
TRIES = 12


def _fill(writer, ops, size):
    """Write cases until `size` bytes are full; return the instructions that are left."""
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


def test_every_instruction_in_rom(lab):
    rng = np.random.default_rng(1)
    ops = [CASES[i] for i in rng.permutation(np.repeat(np.arange(len(CASES)), TRIES))]
    programs = []
    while ops:
        program = _begin(Program())
        writer = Writer(program.at, rng)
        ops = _fill(writer, ops, 0x7F00 - START)
        programs.append(program.emit(*writer.data).emit(0x06, 0x5A).rest().rom())
    for frames in console.play(lab, programs, steps=5):
        assert frames["state.b"][-1] == 0x5A


#: Where the code lies, its bytes at most, and the area that pointers keep away from.
PLACES = {
    "cartridge-ram": (0xA000, 0x1F80, "rom"),
    "vram": (0x8000, 0x1F80, "vram"),
    "wram": (0xDF00, 0xD0, ""),
    "hram": (0xFF80, 0x70, "hram"),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_instruction_elsewhere(lab, place):
    """Instructions that are fetched from RAM have other times for what they read and write."""
    base, size, away = PLACES[place]
    rng = np.random.default_rng(base)
    ops = [CASES[i] for i in rng.permutation(len(CASES))]
    programs = []
    while ops:
        program = _begin(Program(kind=3, ram=2)).code("ld a, 10\nld [0], a")
        if place == "vram":
            program.write("LCDC", 0)
        source = 0x1000
        # The next block is copied as soon as one is through.
        while ops and source + size < 0x8000:
            writer = Writer(base, rng, ("rom", away))
            ops = _fill(writer, ops, size - 0x40)
            writer.word(0xC3, program.at + COPY + 3)
            program.put(source, writer.data)
            copy(program, source, base, len(writer.data)).jump(base)
            source += len(writer.data)
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(lab, programs, steps=30):
        assert frames["state.b"][-1] == 0x5A


def test_instructions_in_vram_while_the_lcd_reads_it(lab):
    """Operands read FF in mode 3, opcodes do not: so an instruction does not do what it says."""
    rng = np.random.default_rng(3)
    steady = [op for op in CASES if op.mnemonic not in ("jr", "jp", "call", "ret", "reti", "rst")]
    ops = [steady[i] for i in rng.permutation(len(steady))]
    programs = []
    while ops:
        program = _begin(Program())
        writer = Writer(0x8000, rng, ("rom", "vram", "oam"))
        ops = _fill(writer, ops, 0x1F00)
        writer.emit(0x18, 0xFE)
        program.put(0x4000, writer.data).write("LCDC", 0)
        copy(program, 0x4000, 0x8000, len(writer.data))
        programs.append(program.write("LCDC", 0x91).jump(0x8000).rom())
    console.play(lab, programs, steps=12)
