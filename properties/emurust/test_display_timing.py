"""Level 1: the picture unit's modes, lines and interrupts, by the clock."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import LONG, SHORT, script

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _sprites(program, rng, count, tall):
    """Write `count` sprites' OAM, many of them on the same lines."""
    program.code("ld hl, $FE00")
    for _ in range(count):
        y = int(rng.choice((16, 20, 60, 150, 159, int(rng.integers(256)))))
        x = int(rng.choice((0, 1, 7, 8, 160, 166, 167, 168, int(rng.integers(256)))))
        program.code(f"ld a, {y}\nld [hl+], a\nld a, {x}\nld [hl+], a\ninc hl\ninc hl")
    return program.write("LCDC", 0x87 if tall else 0x83)


def _poll(program, register, rounds, pad):
    """Read a register forever: unrolled, every 20 cycles, and `pad` more once a round."""
    program.code("ld hl, $C000")
    again = program.at
    for _ in range(rounds):
        program.read(register)
    return program.code("ld a, h\nand $DF\nld h, a").wait(pad).jump(again)


@pytest.mark.parametrize("register", ["LY", "STAT", "IF"])
def test_lines_and_modes_by_polling(twinstep_lab, register):
    """Every 20 cycles, at other places of the line in each frame."""
    programs = []
    for pad in (0, 4, 8):
        program = Program().code("di").write("LYC", 0x40).write("STAT", 0x00)
        programs.append(_poll(program, register, 64, pad).rom())
    console.play(twinstep_lab, programs, steps=8)


def test_mode_3_is_longer_by_sprites_and_scrolling(twinstep_lab):
    """OAM at random, all SCX, tall sprites, the window: read in STAT, and by its interrupt."""
    rng = np.random.default_rng(11)
    programs = []
    for number in range(10):
        program = Program().code("di").write("LCDC", 0)
        program.write("SCX", int(rng.integers(256))).write("WX", int(rng.integers(170)))
        _sprites(program, rng, (0, 1, 3, 10, 20, 40)[number % 6], bool(number & 1))
        if number % 4 == 3:
            program.write("LCDC", 0xB3)
        programs.append(_poll(program, "STAT", 60, 4 * number).rom())
    console.play(twinstep_lab, programs, steps=5)


def test_the_length_of_mode_3_shifts_a_halted_processor(twinstep_lab):
    """HALT until mode 0, line after line: cycles that no instruction could count."""
    rng = np.random.default_rng(12)
    programs = []
    for number in range(10):
        program = Program().code("di").write("LCDC", 0).write("SCX", number)
        _sprites(program, rng, 4 * number, bool(number & 1))
        program.write("IE", 2).write("STAT", (0x08, 0x28, 0x48)[number % 3]).code("ld hl, $C000")
        again = program.at
        for _ in range(40):
            program.code("halt").read("STAT").read("DIV").read("LY").write("IF", 0)
        programs.append(program.code("ld a, h\nand $CF\nld h, a").jump(again).rom())
    console.play(twinstep_lab, programs, steps=6)


STAT_VALUES = (0, 8, 16, 32, 64, 0x48, 0x30, 0x28, 0x78, 0xFF, -1)


@pytest.mark.parametrize("waits", [SHORT, LONG], ids=["short", "long"])
def test_stat_and_its_interrupt_at_random(twinstep_lab, waits):
    """STAT and LYC written at any time: modes, coincidence, and one interrupt for all sources."""
    rng = np.random.default_rng(13)
    lines = (0, 1, 2, 66, 143, 144, 153, 154, *range(0, 154, 9))
    values = {"STAT": STAT_VALUES, "LYC": lines, "IF": (0, 0, -1), "LY": (0, -1)}
    programs = [
        script(Program().code("di"), rng, values, ("STAT", "IF", "LY", "LYC"), waits).rom()
        for _ in range(4)
    ]
    console.play(twinstep_lab, programs, steps=20)


def test_registers_written_where_de_points(twinstep_lab):
    """`ld [de], a` writes to VRAM 4 cycles later than to the LCD's registers."""
    rng = np.random.default_rng(19)
    values = {0x40: (0x11, 0x91, 0x91), 0x45: range(154), 0x41: (0, 0x40, 0x28), 0x47: range(256)}
    programs = []
    for registers in ((0x40, 0x45), (0x41, 0x45, 0x47)):
        program = Program().code("di").write("STAT", 0x40).code("ld hl, $C000")
        again = program.at
        for _ in range(300):
            register = int(rng.choice(registers))
            program.word(0x11, 0xFF00 | register)
            program.emit(0x3E, int(rng.choice(values[register])), 0x12)
            program.wait(4 * int(rng.integers(200))).read("IF").write("IF", 0)
            program.code("ld a, h\nand $CF\nld h, a")
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=30)


def test_lyc_follows_the_line(twinstep_lab):
    """LYC is set to the line, the next or the previous one, exactly where the line changes."""
    rng = np.random.default_rng(14)
    programs = []
    for source in (0x40, 0x00, 0x44, 0x60):
        program = Program().code("di").write("STAT", source).code("ld hl, $C000")
        again = program.at
        for _ in range(250):
            add = int(rng.choice((0, 0, 1, 1, 2, 255)))
            program.code(f"ldh a, [LY]\nadd a, {add}\nldh [LYC], a")
            program.wait(4 * int(rng.integers(10))).read("STAT").read("IF").write("IF", 0)
            program.wait(4 * int(rng.integers(60))).read("STAT").read("IF")
            program.code("ld a, h\nand $CF\nld h, a")
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=12)


def test_the_lcd_switched_at_random(twinstep_lab):
    """Off and on at any time; STAT, LY and the interrupt in the first frame and after."""
    rng = np.random.default_rng(15)
    values = {
        "LCDC": (0x11, 0x91, 0x91, 0x91), "STAT": STAT_VALUES, "LYC": (0, 1, 2, 60, 144),
        "IF": (0,),
    }  # fmt: skip
    waits = (*LONG, 5000, 20000)
    programs = [
        script(Program().code("di"), rng, values, ("STAT", "IF", "LY"), waits, 0x2000).rom()
        for _ in range(4)
    ]
    console.play(twinstep_lab, programs, steps=60)
