"""Level 2: the picture unit while a program writes to it."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program, copy, off
from twinstep.properties.emurust.scripts import LONG, SHORT, counting_handlers, script
from twinstep.properties.emurust.test_pictures import PAGES, TILES, screens

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

_ON = (0x91, 0x93, 0xB3, 0xF3, 0xA1, 0xD7, 0xFF, 0x80, 0x81)
_PLACES = {
    "SCX": (-1, 0, 3, 7), "SCY": (-1, 0), "WX": (-1, 0, 7, 87, 166, 167), "WY": (0, 50, 100, -1),
}  # fmt: skip
_SHADES = {"BGP": (-1,), "OBP0": (-1,), "OBP1": (-1,)}


def _programs(rng, values, count=3, waits=LONG, reads=("LY", "STAT"), interrupts=0):
    """Return scripts that begin with a full screen of tiles and sprites."""
    for _ in range(count):
        program = counting_handlers(screens(rng)).code("di").write("LCDC", 0)
        copy(program, TILES, 0x8000, 0x2000)
        copy(program, PAGES, 0xC000, 160)
        program.write("BGP", 0xE4).write("DMA", 0xC0).wait(800)
        program.write("LCDC", 0x93)
        yield script(program, rng, values, reads, waits, 0x2C00, interrupts).rom()


@pytest.mark.parametrize("waits", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    "values",
    [_PLACES, _SHADES, {"LCDC": _ON}, _PLACES | _SHADES | {"LCDC": _ON}],
    ids=["scroll-and-window", "palettes", "lcdc", "all"],
)
def test_registers_written_within_pictures(twinstep_lab, values, waits):
    """At any time of a line; the picture shows from which line on."""
    rng = np.random.default_rng(len(values) + len(waits))
    console.play(twinstep_lab, list(_programs(rng, values, waits=waits)), steps=20)


def test_the_lcd_switched_within_pictures(twinstep_lab):
    """Off and on at any time, with the window and palettes: short pictures, and blank ones."""
    rng = np.random.default_rng(41)
    values = {"LCDC": (0x11, 0x31, *_ON), "BGP": (-1,), "WY": (0, 30, 143), "WX": (7, 30)}
    waits = (*LONG, 8000, 40000)
    console.play(twinstep_lab, list(_programs(rng, values, waits=waits)), steps=50)


@pytest.mark.parametrize("skip", [2, 5])
def test_writes_within_pictures_that_are_not_drawn(twinstep_lab, skip):
    rng = np.random.default_rng(42)
    values = _PLACES | _SHADES | {"LCDC": (*_ON, *_ON, 0x11)}
    console.play(twinstep_lab, list(_programs(rng, values, 2)), steps=20, skip=skip)


def test_memory_written_between_and_within_lines(twinstep_lab):
    """Tiles, maps and sprites change at any time of a line, through each way of writing."""
    rng = np.random.default_rng(43)
    programs = []
    for _ in range(4):
        program = screens(rng).code("di").write("LCDC", 0)
        copy(program, TILES, 0x8000, 0x2000)
        program.write("DMA", PAGES >> 8).wait(800).write("BGP", 0xE4).write("OBP0", 0x1B)
        program.write("LCDC", 0x97)
        again = program.at
        while program.at < 0x3E00:
            area, count = ((0x8000, 0x1000), (0x9800, 0x400), (0xFE00, 0xA0))[int(rng.integers(3))]
            address, value = area + int(rng.integers(count - 1)), int(rng.integers(256))
            kind = int(rng.integers(6))
            program.emit(0x3E, value)
            if kind == 0:
                program.word(0xEA, address)
            elif kind == 1:
                program.word(0x11, address).emit(0x12)
            elif kind == 2:
                program.word(0x21, address).emit(0x77)
            elif kind == 3:
                program.word(0x21, address).emit(0x22, 0x22, 0x22)
            elif kind == 4:
                program.word(0x31, address).emit(0xF5).word(0x31, 0xFFFE)
            else:
                program.word(0x21, address).emit(0x36, value, 0xCB, 0xDE)
            program.wait(int(rng.choice((0, 4, 8, 20, 60, 140))))
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=16)


def test_the_stat_interrupt_draws_a_split_screen(twinstep_lab):
    """HALT until a line, then new registers, as in games, with all of STAT's sources."""
    rng = np.random.default_rng(44)
    values = _PLACES | {
        "STAT": (8, 32, 64, 0x48, 0x78), "LYC": tuple(range(0, 154, 7)), "LCDC": (0x91, 0xB3),
    }  # fmt: skip
    programs = _programs(rng, values, 4, SHORT, ("LY", "STAT", "IF"), interrupts=0x03)
    console.play(twinstep_lab, list(programs), steps=25)


def test_sprites_can_be_read_once_the_lcd_is_off_whenever_it_goes_off(twinstep_lab):
    """Also between LY's count and mode 2 of its first picture."""
    programs = []
    for wait in range(400, 500, 4):
        program = off(Program()).code("ld hl, $FE10\nld a, $33\nld [hl], a")
        program.write("LCDC", 0x91).wait(wait).code("xor a\nldh [$40], a\nld a, [hl]")
        program.code("ld [$C000], a\nld de, $FE10\nld a, [de]\nld [$C001], a")
        programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=4)


@pytest.mark.parametrize("stat", [0x00, 0x40, 0x48])
@pytest.mark.parametrize("first", ["ei", "ei\nnop"], ids=["behind-ei", "later"])
def test_the_lcd_switched_on_compares_its_line_when_stat_asks_for_it(twinstep_lab, stat, first):
    """Right after EI, where the write does not end the slice."""
    programs = []
    for line in (0, 1):
        program = off(Program()).put(0x48, "ldh a, [$04]\nld [$C100], a\nreti")
        program.write("LYC", line).write("STAT", stat).write("IF", 0).write("IE", 2)
        program.code(f"xor a\nldh [$04], a\nld a, $91\n{first}\nldh [$40], a\nldh a, [$0F]")
        program.code("ld [$C101], a\nldh a, [$41]\nld [$C102], a").wait(4000)
        programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=4)
