"""Level 1: instructions that sleep, stop, and let interrupts in, in any order."""

import itertools

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import counting_handlers

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

RING = "ld a, h\nand $CF\nld h, a"


def _result(program):
    return program.code("push af").read("DIV").read("IF").code(f"pop af\nld [hl+], a\n{RING}")


def test_halt_with_and_without_interrupts(twinstep_lab):
    """HALT after each of some prologues, with each interrupt pending or to come, and A counted."""
    programs = []
    for first in ("di", "ei", "ei\nnop", "ei\ndi", "di\nei\nei", "nop"):
        program = counting_handlers(Program()).write("TAC", 5).code("ld hl, $C000")
        again = program.at
        for enabled in (0x04, 0x05, 0x1F):
            for pending in (0x00, 0x04, 0x10, 0x1C, 0xE0):
                program.code("di").write("TIMA", 0xE0).write("IE", enabled).write("IF", pending)
                # `inc a` twice: if the byte after HALT ran twice, A would show it.
                program.code(f"xor a\n{first}\nhalt\ninc a\ninc a")
                _result(program)
        programs.append(program.code("di").jump(again).rom())
    console.play(twinstep_lab, programs, steps=8)


def test_stop_goes_on(twinstep_lab):
    """STOP, with either joypad line selected, buttons held, an interrupt pending or none."""
    programs = []
    for selected in (0x10, 0x20, 0x30):
        program = counting_handlers(Program()).write("TAC", 5).code("ld hl, $C000")
        again = program.at
        for pending in (0x00, 0x04, 0x10):
            for operand in (0x00, 0x3C, 0x76):
                for first in ("di", "ei"):
                    program.write("P1", selected).write("IE", 0x14).write("IF", pending)
                    program.code(f"xor a\n{first}").emit(0x10, operand).code("inc a\ninc a")
                    _result(program)
        programs.append(program.wait(2000).jump(again).rom())
    rng = np.random.default_rng(25)
    console.play(twinstep_lab, programs, steps=[int(a) for a in rng.integers(9, size=20)])


TOKENS = (
    "ei", "ei", "di", "nop", "halt", "stop", "inc a", "call sub", "call subi", "IF", "IF", "IE",
    "TIMA", "push", "ldh",
)  # fmt: skip


def _sequence(program, rng, length):
    for _ in range(length):
        token = str(rng.choice(TOKENS))
        if token == "IF":
            program.write("IF", int(rng.integers(32)) & int(rng.integers(32)))
        elif token == "IE":
            program.write("IE", int(rng.integers(32)) | 5)
        elif token == "TIMA":
            program.write("TIMA", 0xFF - int(rng.integers(8)))
        elif token == "push":
            program.code("push af\npop bc")
        elif token == "ldh":
            program.read("TIMA")
        elif token == "call sub":
            program.emit(0xCD, 0x00, 0x7D)
        elif token == "call subi":
            program.emit(0xCD, 0x10, 0x7D)
        else:
            program.code(token)


def test_interrupts_and_sleep_in_any_order(twinstep_lab):
    """EI, DI, HALT, STOP, RET, RETI, writes to IE and IF: the timer ends every sleep."""
    rng = np.random.default_rng(26)
    programs = []
    for tac in (5, 5, 5, 6):
        program = counting_handlers(Program())
        program.put(0x7D00, "inc a\nret").put(0x7D10, "inc a\nreti")
        program.write("TAC", tac).write("IE", 0x05).code("ld hl, $C000")
        again = program.at
        while program.at < 0x6000:
            _sequence(program, rng, 12)
            _result(program)
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=30)


def test_the_sound_unit_switched_on_behind_an_edge_of_div_is_not_to_be_noticed(twinstep_lab):
    """PyBoy counts such edges even without sound; nothing ever reads the count."""
    programs = []
    for early, late in itertools.product((0x0F00, 0x1100), (0x0F00, 0x1100)):
        program = Program().code("ld hl, $C000\nxor a\nldh [DIV], a").wait(early)
        program.code("ldh [DIV], a").wait(late).code("ld a, $80\nldh [$26], a")
        for register in range(0x10, 0x40):
            program.code(f"ldh a, [${register:X}]\nld [hl+], a")
        _result(program)
        programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=3)
