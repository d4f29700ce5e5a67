"""Level 1: mappers, by sequences of writes to their registers."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program, copy

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: Cartridge type, banks of ROM, code of the RAM's size.
CARTRIDGES = {
    "rom": (0x00, 2, 0),
    "rom-ram": (0x09, 2, 2),
    "mbc1-64k": (0x01, 4, 0),
    "mbc1-ram": (0x03, 32, 3),
    "mbc1-1m": (0x03, 64, 3),
    "mbc1-multicart": (0x03, 64, 3),
    "mbc1-2m": (0x02, 128, 2),
    "mbc2": (0x06, 16, 0),
    "mbc3": (0x13, 128, 3),
    "mbc3-small": (0x11, 8, 0),
    "mbc30": (0x13, 256, 5),
    "mbc5": (0x1B, 256, 4),
    "mbc5-rumble": (0x1D, 64, 3),
    "mbc5-48k": (0x19, 3, 0),
    "mbc5-96k": (0x1A, 6, 2),
}
TABLE, ENTRIES = 0x2000, 1200
#: Runs in WRAM: bank 0 is not always there. de: the table, hl: the ring of results.
LOOP = """
    ld de, $D000
    ld hl, $C400
next:
    ld a, [de]
    inc de
    ld c, a
    ld a, [de]
    inc de
    ld b, a
    ld a, [de]
    inc de
    ld [bc], a
    ld a, [$3F00]
    ld [hl+], a
    ld a, [$7F00]
    ld [hl+], a
    ld a, [$A000]
    ld [hl+], a
    ld a, [$A345]
    ld [hl+], a
    ld a, [$BFFF]
    ld [hl+], a
    ld a, e
    ld [$A000], a
    ld a, d
    ld [$A345], a
    ld [$BFFE], a
    ld a, h
    and $0F
    or $C4
    ld h, a
    ld a, d
    cp $DE
    jr nz, next
    ld b, $5A
done:
    jr done
"""


def _writes(rng):
    """Return random writes: registers in turn, often with significant values."""
    for _ in range(ENTRIES):
        place = int(rng.choice((0x0000, 0x2000, 0x2000, 0x3000, 0x4000, 0x4000, 0x6000)))
        value = int(rng.integers(256))
        if place == 0 and rng.integers(4):
            value = value & 0xF0 | 0x0A
        elif rng.integers(2):
            value &= int(rng.choice((0x01, 0x03, 0x0F, 0x1F, 0x7F)))
        address = place + int(rng.choice((0, 0, 0xFFF, int(rng.integers(0x1000)))))
        yield address & 0x7FFF, value


@pytest.mark.parametrize("name", CARTRIDGES)
def test_banks_follow_the_registers(twinstep_lab, name):
    kind, banks, ram = CARTRIDGES[name]
    program = Program(kind, banks, ram).code("di")
    for bank in range(banks):
        start = bank * 0x4000
        program.data[start + 0x3F00] = bank
        # Banks that all begin with the same logo are several games in one cartridge.
        program.data[start + 0x104] = bank if name == "mbc1-1m" else 0
    table = b"".join(bytes((a & 0xFF, a >> 8, v)) for a, v in _writes(np.random.default_rng(kind)))
    program.put(TABLE, table)
    copy(program, TABLE, 0xD000, len(table))
    loop = Program()
    loop.at = 0x150
    # Written in ROM, run in WRAM: the code does not depend on its place.
    loop.code(LOOP)
    program.put(0x1000, loop.data[0x150 : loop.at])
    copy(program, 0x1000, 0xC000, loop.at - 0x150)
    program.jump(0xC000)
    (frames,) = console.play(twinstep_lab, [program.rom()], steps=12, skip=1)
    assert frames["state.b"][-1] == 0x5A


def test_a_cartridge_without_a_mapper_switches_bank_0_in(twinstep_lab):
    """PyBoy accepts writes to 2000-3FFF all the same; every value."""
    programs = []
    for address in (0x0000, 0x1FFF, 0x2000, 0x3FFF, 0x4000, 0x7FFF):
        program = Program().code("di").put(0x4000, b"\x77").put(0x0000, b"\x33")
        program.code(
            f"ld hl, $C100\nld b, 0\nagain:\nld a, b\nld [{address}], a\nld a, [$4000]\n"
            "ld [hl+], a\ninc b\njr nz, again"
        )
        programs.append(program.rest().rom())
    seen = console.play(twinstep_lab, programs, steps=2)
    banks = [set(frames["state.wram"][-1, 0x100:0x200].tolist()) for frames in seen]
    assert banks == [{0x77}, {0x77}, {0x33, 0x77}, {0x33, 0x77}, {0x77}, {0x77}]


@pytest.mark.parametrize(
    "after", ["", "ld a, [$A000]", "ld [$A000], a"], ids=["-", "read", "write"]
)
def test_a_read_alone_cuts_the_bank_of_mbc1s_ram(twinstep_lab, after):
    """Its register may name a missing bank; a hidden field shows its value."""
    program = Program(3, 4, 2).code("di\nld a, $0A\nld [0], a\nld a, 1\nld [$6000], a")
    program.code(f"ld a, 3\nld [$4000], a\n{after}")
    console.play(twinstep_lab, [program.rest().rom()], steps=2)
