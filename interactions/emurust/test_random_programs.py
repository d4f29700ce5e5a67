"""Level 2: random programs of valid instructions, in ROM and in WRAM, with interrupts enabled."""

import numpy as np
import pytest

from twinstep.contracts.emurust.roms.random_programs import random_program
from twinstep.properties.emurust import console
from twinstep.properties.emurust.instructions import CASES, Writer
from twinstep.properties.emurust.program import Program, copy
from twinstep.properties.emurust.scripts import counting_handlers

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _some_programs(first, count):
    return [random_program(seed) for seed in range(first, first + count)]


def test_programs_that_use_the_whole_machine(twinstep_lab):
    """The contract's random programs, frame by frame, with buttons."""
    rng = np.random.default_rng(55)
    held = [int(a) for a in rng.integers(len(console.ACTIONS), size=40)]
    console.play(twinstep_lab, _some_programs(1000, 8), steps=held)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2000, 2800, 40))
def test_many_programs_that_use_the_whole_machine(twinstep_lab, first):
    rng = np.random.default_rng(first)
    held = [int(a) for a in rng.integers(len(console.ACTIONS), size=100)]
    console.play(twinstep_lab, _some_programs(first, 40), steps=held, skip=2)


@pytest.mark.parametrize("place", ["rom", "wram"])
def test_single_instructions_with_interrupts_between_them(twinstep_lab, place):
    """The timer's, the LCD's and the buttons' interrupts come at any instruction."""
    rng = np.random.default_rng(56)
    programs = []
    # Code that moves the stack would let an interrupt write there; another test covers that.
    calm = [op for op in CASES if op.mnemonic not in ("di", "reti") and "sp" not in op.operands]
    for tac in (5, 5, 6):
        program = counting_handlers(Program()).write("TAC", tac).write("IE", 0x17)
        program.write("TMA", int(rng.integers(256)))
        program.write("STAT", 0x48).write("LYC", int(rng.integers(144)))
        base = program.at + 40 if place == "rom" else 0xC800
        writer = Writer(base, rng, ("hram", "oam", "rom"))
        writer.emit(0xFB)
        order = rng.permutation(len(calm))[: 400 if place == "rom" else 0x600 // 50]
        for index in order:
            writer.case(calm[index])
        writer.word(0xC3, base)
        if place == "wram":
            program.put(0x4000, writer.data)
            copy(program, 0x4000, base, len(writer.data))
        else:
            program.put(base, writer.data)
        programs.append(program.jump(base).rom())
    held = [int(a) for a in rng.integers(len(console.ACTIONS), size=30)]
    console.play(twinstep_lab, programs, steps=held)
