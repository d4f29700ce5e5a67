"""Level 2: OAM DMA as games do it, and together with the picture unit."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program, copy
from twinstep.properties.emurust.scripts import LONG, counting_handlers, script
from twinstep.properties.emurust.test_pictures import PAGES, TILES, screens

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _shown(rng):
    program = counting_handlers(screens(rng)).code("di").write("LCDC", 0)
    copy(program, TILES, 0x8000, 0x2000)
    for page in range(3):
        copy(program, PAGES + 0x100 * page, 0xD000 + 0x100 * page, 0x100)
    return program.write("BGP", 0xE4).write("OBP0", 0x1B).write("OBP1", 0x2D)


#: In HRAM: starts a transfer from the page in A and waits for its end, or for a shorter time.
ROUTINE = "ldh [$FF46], a\nld a, b\nwaiting:\ndec a\njr nz, waiting\nret"


@pytest.mark.parametrize("rounds", [40, 38, 20, 1])
def test_a_transfer_from_a_loop_in_hram(twinstep_lab, rounds):
    """In each part of the picture, with a long enough wait, and with a shorter one."""
    rng = np.random.default_rng(52)
    programs = []
    for number in range(3):
        program = _shown(rng).put(0x3F00, ROUTINE)
        copy(program, 0x3F00, 0xFF80, 10)
        program.write("LCDC", 0x97 if rounds & 1 else 0x93).code("ld hl, $C000")
        if number:  # an interrupt in each line: its return address is left below the stack
            program.write("STAT", (0x08, 0x20)[number - 1]).write("IE", 2).code("ei")
        again = program.at
        for _ in range(60):
            line = int(rng.integers(154))
            program.code(f"line:\nldh a, [LY]\ncp {line}\njr nz, line")
            program.wait(4 * int(rng.integers(110)))
            source = int(rng.choice((0xD0, 0xD1, 0xD2, 0x80, 0x98)))  # the LCD blocks the last two
            program.emit(0x3E, source, 0x06, rounds).code("call $FF80")
            program.read("STAT").code("ld a, [$FE00]\nld [hl+], a\nld a, h\nand $C7\nld h, a")
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=14)


def test_a_transfer_at_any_time_of_a_picture(twinstep_lab):
    """Started in any mode and from memory that the LCD blocks; the processor goes on meanwhile."""
    rng = np.random.default_rng(53)
    values = {
        "DMA": (0xD0, 0xD1, 0xD2, 0x80, 0x98, 0x60, 0xFE, 0xA0), "LCDC": (0x93, 0x97, 0xB3),
        "OBP0": (-1,), "SCX": (-1,),
    }  # fmt: skip
    reads = ("STAT", "LY", "DMA", "IF")
    programs = [
        script(_shown(rng).write("LCDC", 0x93), rng, values, reads, (*LONG, 700, 4000), 0x2000)
        for _ in range(4)
    ]
    console.play(twinstep_lab, [program.rom() for program in programs], steps=25)


def test_a_transfer_while_the_processor_sleeps(twinstep_lab):
    """HALT within a transfer, the interrupts, the LCD off and on."""
    rng = np.random.default_rng(54)
    values = {
        "DMA": (0xD0, 0xD1), "LCDC": (0x93, 0x93, 0x97, 0x13), "TAC": (5, 6, 7),
        "STAT": (8, 32, 64, 0), "IF": (0,), "TMA": (-1,),
    }  # fmt: skip
    programs = []
    for _ in range(3):
        program = _shown(rng).write("TAC", 5).write("LCDC", 0x93)
        script(program, rng, values, ("STAT", "LY"), (0, 8, 300, 640, 700), 0x2000, 0x07)
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=30)


def test_a_halt_behind_a_transfer_is_drawn_line_by_line(twinstep_lab):
    """Only lines lie ahead of it: their sprites change, and the window begins."""
    rng = np.random.default_rng(57)
    programs = []
    for _ in range(3):
        program = _shown(rng).write("IE", 2).write("STAT", 0x40).write("WX", 80)
        program.write("LCDC", 0xF3)
        again = program.at
        for _ in range(60):
            line = int(rng.integers(100))
            program.write("WY", line + int(rng.choice((0, 1, 1, 2, 3, 20))))
            program.write("LYC", line + int(rng.integers(5, 40)))
            program.code(f"line:\nldh a, [LY]\ncp {line}\njr nz, line")
            program.wait(4 * int(rng.integers(110)))
            if rng.integers(3):
                program.write("DMA", 0xD0 + int(rng.integers(3)))
            program.write("IF", 0).code("halt\nnop")
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=40)


@pytest.mark.parametrize("ahead", ["ei", "di", "ei\nei"], ids=["ei", "di", "ei-ei"])
def test_ei_with_an_interrupt_waiting_lets_no_byte_be_copied_sooner(twinstep_lab, ahead):
    """The instruction after EI overwrites the byte that falls due meanwhile."""
    programs = []
    for byte in range(24):
        for wait in (20, 24):
            program = Program().code("di").put(0x50, "reti").write("IE", 4).write("IF", 4)
            program.word(0x21, 0xC000 + byte).write("DMA", 0xC0).wait(wait)
            program.code(f"ld a, $77\n{ahead}\nld [hl], a\nnop\nnop").wait(1000)
            programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=1)


@pytest.mark.parametrize("above", [0, 1, 2])
def test_pop_reads_sprites_at_the_end_of_a_transfer(twinstep_lab, above):
    """The byte at HL decides what is copied by then; POP HL moves HL between its two reads."""
    programs = []
    # $41 read first makes HL the address of the second.
    for name, first in (("hl", 0xA5), ("hl", 0x41), ("bc", 0xA5), ("de", 0x41)):
        for wait in range(620, 680, 4):
            program = Program().code("di\nld a, $5A\nld [$C041], a")
            program.code(f"ld a, {first}\nld [$C040], a")
            program.word(0x21, 0xFE40 + above).word(0x31, 0xFE40).write("DMA", 0xC0).wait(wait)
            program.code(f"pop {name}\nld sp, $D100\npush {name}")
            programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=1)


@pytest.mark.parametrize("low", [0x40, 0x41, 0x80])
@pytest.mark.parametrize("before", [0xFE40, 0xFE41, 0xD041])
def test_pop_hl_as_a_transfer_begins_copies_its_first_byte_by_where_hl_is_meanwhile(
    twinstep_lab, before, low
):
    """The first byte is written after POP: copied ahead, it is the old one."""
    programs = []
    for nops in range(6):
        program = Program().code(f"di\nld a, {low}\nld [$C040], a").write("DMA", 0xC0).wait(800)
        program.word(0x21, before).word(0x31, 0xFE40).word(0x01, 0xC000).write("DMA", 0xC0)
        program.code("nop\n" * nops + "pop hl\nld [bc], a\nld sp, $D100\npush hl").wait(1000)
        programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=1)


def test_the_byte_behind_stop_is_read_as_an_operand(twinstep_lab):
    """STOP as HRAM's last byte: IE is behind it. The bytes due of a transfer are copied then."""
    programs = []
    for byte in range(24):
        for wait in (20, 24):
            program = Program().code("di").write(0xFE, 0x10).put(0, "ld [hl], a\non:\njr on")
            program.word(0x21, 0xC000 + byte).write("DMA", 0xC0).wait(wait)
            programs.append(program.code("ld a, $77").jump(0xFFFE).rom())
    console.play(twinstep_lab, programs, steps=1)
