"""Level 1: the value of each address when read, and the effect of writes."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _on(program, lcd):
    return program.code("di") if lcd else program.code("di").write("LCDC", 0x11)


@pytest.mark.parametrize("lcd", [True, False], ids=["lcd-on", "lcd-off"])
def test_every_address_is_read(twinstep_lab, lcd):
    """All 64 KB through [hl+], into a ring in WRAM that is longer than a frame takes."""
    program = _on(Program(), lcd)
    rng = np.random.default_rng(5)
    program.put(0x4000, rng.integers(0, 256, 0x3F00, np.uint8).tobytes())
    # Readable data in VRAM, OAM, FEA0 and HRAM.
    for first in (0x8000, 0x9F00, 0xA000, 0xFE00, 0xFF80):
        count = 0x7F if first == 0xFF80 else 0xFF
        program.code(
            f"ld hl, {first}\nld b, {count}\nfill{first}:\nld a, l\nxor $5B\nld [hl+], a\n"
            f"dec b\njr nz, fill{first}"
        )
    program.code(
        """
        ld hl, 0
        ld sp, $E000
    next:
        ld a, [hl+]
        ld b, a
        ld a, [hl+]
        ld c, a
        push bc
        ld a, l
        or a
        jr nz, next
        ld a, h
        and $1F
        jr nz, next
        ld sp, $E000
        ld a, h
        or a
        jr nz, next
        ld b, $5A
        """
    )
    (frames,) = console.play(twinstep_lab, [program.rest().rom()], steps=30)
    assert frames["state.b"][-1] == 0x5A


@pytest.mark.parametrize("lcd", [True, False], ids=["lcd-on", "lcd-off"])
def test_hardware_registers_read_what_they_keep_of_a_write(twinstep_lab, lcd):
    """FF00 to FF7F with several bytes each, read at once and once more after all of them."""
    rng = np.random.default_rng(6)
    programs = []
    for sweep in range(3):
        program = _on(Program(), lcd).code("ld hl, $C000")
        for low in range(0x80):
            if low == 0x40 and not lcd:
                continue
            for value in (0xFF, 0x00, 0x55, 0xAA, int(rng.integers(256))):
                # The LCD stays on: another test switches it.
                value |= 0x80 if low == 0x40 else 0
                program.write(low, value).read(low)
                if sweep == 1:
                    program.code("nop\nnop\nnop").read(low)
                if sweep == 2:
                    program.code(f"ld c, ${low:02X}\nldh a, [c]\nld [hl+], a")
        for low in range(0x80):
            program.read(low)
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=4):
        assert frames["state.b"][-1] == 0x5A


#: First address and length.
AREAS = {
    "rom": (0x4000, 0x4000),
    "vram": (0x8000, 0x2000),
    "cartridge-ram": (0xA000, 0x2000),
    "wram": (0xC800, 0x1000),
    "echo": (0xE800, 0x1000),
    "echo-end": (0xFD00, 0x100),
    "oam": (0xFE00, 0xA0),
    "fea0": (0xFEA0, 0x60),
    "hram": (0xFF80, 0x7F),
}


@pytest.mark.parametrize("lcd", [True, False], ids=["lcd-on", "lcd-off"])
def test_each_area_keeps_what_is_written(twinstep_lab, lcd):
    """Written by every kind of instruction, at any time of a line, and read by another."""
    rng = np.random.default_rng(8)
    programs = []
    for first, count in AREAS.values():
        program = _on(Program(), lcd).code("ld sp, $C700")
        for number in range(260):
            address = first + int(rng.integers(count - 1))
            value = int(rng.integers(256))
            way = int(rng.integers(9))
            program.emit(0x3E, value)
            if way == 0:
                program.word(0xEA, address)
            elif way == 1:
                program.word(0x01, address).emit(0x02)
            elif way == 2:
                program.word(0x11, address).emit(0x12)
            elif way == 3:
                program.word(0x21, address).emit((0x22, 0x32, 0x77)[number % 3])
            elif way == 4:
                program.word(0x21, address).emit(0x36, value)
            elif way == 5:
                program.word(0x21, address).emit((0x34, 0x35)[number & 1])
            elif way == 6:
                program.word(0x21, address).emit(0xCB, 0xC6 | number << 3 & 0x38)
            elif way == 7:
                program.word(0x08, address)
            else:
                program.word(0x31, address).emit(0xD5).word(0x31, 0xC700)
            if number & 1:
                program.word(0xFA, address)
            else:
                program.word(0x21, address).emit((0x7E, 0x2A, 0x46, 0x86)[number >> 1 & 3])
            program.word(0xEA, 0xC000 + number).wait(4 * int(rng.integers(12)))
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=3):
        assert frames["state.b"][-1] == 0x5A


@pytest.mark.parametrize("area", [0x8000, 0xFE00], ids=["vram", "oam"])
def test_the_lcd_blocks_an_area_at_each_time_of_a_line(twinstep_lab, area):
    """By accesses that the LCD can block, every four cycles of a line; the memory held no FF."""
    programs = []
    for access in (0x7E, 0x1A, 0x12):  # ld a, [hl]; ld a, [de]; ld [de], a
        program = Program().code("di").write("LCDC", 0).word(0x21, area).code("ld b, 160")
        program.code("fill:\nld a, b\nld [hl+], a\ndec b\njr nz, fill").write("LCDC", 0x91)
        program.wait(72000)  # to the second picture
        for number in range(114):
            place = area + number
            program.word(0x21, place).word(0x11, place)
            program.emit(0x3E, 0x77, access).word(0xEA, 0xC000 + number)
            program.wait(456 + 4 - 56)  # the code above takes the 56
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=5):
        assert frames["state.b"][-1] == 0x5A
