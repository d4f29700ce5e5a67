"""Level 1: whole pictures from random tiles, maps, sprites, palettes and positions.

Everything is written in the vertical blank; level 2 covers changes within a picture.
"""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program, copy

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

TILES, PAGES = 0x4000, 0x6000  # in the ROM: 6 KB of tiles and 2 KB of maps, 16 tables of sprites


def sprite_table(rng, kind):
    """Return OAM: at random, crowded on some lines, with equal places, or at the edges."""
    table = rng.integers(0, 256, (40, 4), np.uint8)
    if kind == 1:
        table[:, 0] = rng.choice((40, 44, 48, 60, 100), 40)
        table[:, 1] = rng.integers(0, 176, 40)
    elif kind == 2:
        table[:, 0] = rng.integers(50, 70, 40)
        table[:, 1] = rng.choice((20, 24, 27, 28, 100), 40)
    elif kind == 3:
        table[:, 0] = rng.choice((0, 1, 8, 9, 15, 16, 17, 143, 144, 152, 159, 160, 161), 40)
        table[:, 1] = rng.choice((0, 1, 7, 8, 9, 100, 159, 160, 161, 166, 167, 168, 169, 255), 40)
    return table.tobytes()


def screens(rng):
    """Return a program's data: tiles and maps as they lie in VRAM, and the tables of sprites."""
    program = Program()
    tiles = rng.integers(0, 256, 0x1800, np.uint8) & rng.integers(0, 256, 0x1800, np.uint8)
    tiles[: 0x1800 // 4] |= rng.integers(0, 256, 0x600, np.uint8)
    maps = rng.integers(0, 256, 0x800, np.uint8)
    program.put(TILES, np.concatenate([tiles, maps]).tobytes())
    for page in range(16):
        program.put(PAGES + 0x100 * page, sprite_table(rng, page % 4))
    return program


def _scene(program, rng):
    """Write one picture's registers, in the vertical blank before it."""
    lcdc = 0x80 | int(rng.integers(128))
    for register, value in (
        ("LCDC", lcdc | (0x03 if rng.integers(3) else 0)),
        ("SCX", int(rng.integers(256))), ("SCY", int(rng.integers(256))),
        ("WX", int(rng.choice((0, 1, 6, 7, 8, 15, 159, 165, 166, 167, 255, rng.integers(170))))),
        ("WY", int(rng.choice((0, 1, 50, 142, 143, 144, 255, rng.integers(150))))),
        ("BGP", int(rng.integers(256))), ("OBP0", int(rng.integers(256))),
        ("OBP1", int(rng.integers(256))), ("DMA", PAGES + 0x100 * int(rng.integers(16)) >> 8),
    ):  # fmt: skip
        program.write(register, value)
    # Some bytes of tiles and maps change too, sometimes within the picture's own.
    program.word(0x21, 0x8000 + int(rng.integers(0x2000 - 8)))
    for _ in range(int(rng.integers(5))):
        program.emit(0x3E, int(rng.integers(256)), 0x22)
    program.word(0x01, 600).code("rest:\ndec bc\nld a, b\nor c\njr nz, rest")


def test_pictures_at_random(twinstep_lab):
    rng = np.random.default_rng(22)
    programs = []
    for _ in range(4):
        program = screens(rng).code("di").write("LCDC", 0)
        copy(program, TILES, 0x8000, 0x2000)
        # Sprites may be read in mode 2 when the LCD is switched on: the first picture is blank.
        program.write("LCDC", 0x91)
        again = program.at
        while program.at < 0x3C00:
            program.code("blank:\nldh a, [LY]\ncp 144\njr nz, blank")
            _scene(program, rng)
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=70)


@pytest.mark.parametrize("skip", [2, 3])
def test_only_the_last_frame_of_a_step_is_drawn(twinstep_lab, skip):
    """The window's line is counted in drawn pictures alone, and drawing changes nothing else."""
    rng = np.random.default_rng(23)
    program = screens(rng).code("di").write("LCDC", 0)
    copy(program, TILES, 0x8000, 0x2000)
    program.write("LCDC", 0xF1)
    again = program.at
    while program.at < 0x3000:
        program.code("blank:\nldh a, [LY]\ncp 144\njr nz, blank")
        _scene(program, rng)
    console.play(twinstep_lab, [program.jump(again).rom()], steps=30, skip=skip)


def test_the_window_from_the_first_picture_on(twinstep_lab):
    """For each place of the window, the first pictures after the LCD was switched on."""
    programs = []
    rng = np.random.default_rng(24)
    for wx, wy in ((7, 0), (0, 0), (3, 10), (87, 60), (166, 3), (7, 143), (167, 0)):
        program = screens(rng).code("di").write("LCDC", 0)
        copy(program, TILES, 0x8000, 0x2000)
        program.write("WX", wx).write("WY", wy).write("BGP", 0xE4).write("LCDC", 0xF1)
        program.wait(4000).wait(4000)
        # And again after a picture that was cut short.
        for _ in range(40):
            program.wait(4000)
        program.write("LCDC", 0).wait(2000).write("LCDC", 0xF1).rest()
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=14)
