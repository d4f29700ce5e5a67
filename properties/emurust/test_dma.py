"""Level 1: OAM DMA, from all sources, restarted at each of its bytes."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import script

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _memory(program):
    """Fill VRAM, WRAM's end and HRAM with bytes that identify their place."""
    for first, pages in ((0x8000, 2), (0x9F00, 1), (0xD000, 3), (0xDF00, 1)):
        for page in range(pages):
            program.code(
                f"ld hl, {first + 0x100 * page}\nmore{first}_{page}:\nld a, l\n"
                f"xor {31 * page + 7}\nld [hl+], a\nld a, l\nor a\njr nz, more{first}_{page}"
            )
    return program


@pytest.mark.parametrize("lcd", [True, False], ids=["lcd-on", "lcd-off"])
def test_all_sources(twinstep_lab, lcd):
    """Each upper byte, E0 and above too; OAM is copied to WRAM between."""
    program = _memory(Program().code("di"))
    if not lcd:
        program.write("LCDC", 0x11)
    rng = np.random.default_rng(16)
    program.put(0x4000, rng.integers(0, 256, 0x3000, np.uint8).tobytes())
    program.code(
        """
        ld b, 0
        ld hl, $C000
    next:
        ld a, b
        ldh [$FF46], a
        ld c, 60
    busy:
        dec c
        jr nz, busy
        ld a, [$FE00]
        ld [hl+], a
        ld a, [$FE05]
        ld [hl+], a
        ld a, [$FE9F]
        ld [hl+], a
        ldh a, [$FF46]
        ld [hl+], a
        inc b
        jr nz, next
        ld b, $5A
        """
    )
    (frames,) = console.play(twinstep_lab, [program.rest().rom()], steps=8)
    assert frames["state.b"][-1] == 0x5A


def test_begun_anew_at_every_byte(twinstep_lab):
    """The second transfer begins 0 to 800 cycles after the first; OAM is read at some times."""
    rng = np.random.default_rng(17)
    programs = []
    for part in range(2):
        program = _memory(Program().code("di").write("LCDC", 0x11)).code("ld hl, $C000")
        for wait in range(4 * part, 720, 8):
            program.write(0x46, 0xD0).wait(wait).write(0x46, 0xD1)
            program.wait(4 * int(rng.integers(180)))
            for address in (0xFE00, 0xFE9F, 0xFE40):
                program.word(0xFA, address).emit(0x22)
            # Read again, most often when all is done.
            program.wait(4 * int(rng.integers(100, 260)))
            for address in (0xFE00, 0xFE9F, 0xFE40, 0xFE00 + int(rng.integers(160))):
                program.word(0xFA, address).emit(0x22)
            program.code("ld a, h\nand $C7\nld h, a")
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=13):
        assert frames["state.b"][-1] == 0x5A


def test_begun_anew_before_its_first_byte(twinstep_lab):
    """Twice within 8 to 28 cycles: the times from which and until which OAM is hidden."""
    program = _memory(Program().code("di").write("LCDC", 0x11)).code("ld hl, $C000\nld c, $46")
    for between in ("", "nop", "nop\nnop", "nop\nnop\nnop", "inc [hl]", "inc [hl]\nnop\nnop"):
        for wait in (*range(0, 28, 4), *range(600, 700, 4)):
            program.code(f"ld b, $D1\nld a, $D0\nldh [c], a\nld a, b\n{between}\nldh [c], a")
            program.code(f"ld d, {wait // 16 + 1}\nwaiting:\ndec d\njr nz, waiting")
            program.emit(*(0x00,) * (wait % 16 // 4)).word(0xFA, 0xFE00).emit(0x22)
            program.word(0xFA, 0xFE9F).emit(0x22).wait(900)
    program.emit(0x06, 0x5A).rest()
    (frames,) = console.play(twinstep_lab, [program.rom()], steps=8)
    assert frames["state.b"][-1] == 0x5A


_ADDRESSES = (0xC100, 0xFE42, 0xFEA0, 0xFF05, 0xFF44, 0xFF80, 0xFFFF)


@pytest.mark.parametrize(
    ("before", "accesses"),
    [((), (0x2A, 0x7E, 0x34, 0x0A, 0x1A, 0x12, 0x22)), ((0xFB,), (0x2A, 0x0A, 0x22))],
    ids=["plain", "behind-ei"],
)
def test_what_brings_a_transfer_up_to_date(twinstep_lab, before, accesses):
    """Its ninth byte changes in the source right after an access: had it been copied by then?

    After an EI the write to FF46 ends no slice; the write to IF does.
    """
    program = Program().code("di").write("LCDC", 0x11).write("IE", 0)
    result = 0xC000
    for address in _ADDRESSES:
        for hl in (address, 0xFE41):
            for access in accesses:
                for nops in (6, 7, 8, 9, 10):
                    program.write("IF", 0).code("ld a, $55\nld [$D208], a")
                    program.word(0x21, hl).word(0x01, address).word(0x11, address)
                    program.emit(0x3E, 0xD2, *before, 0xE0, 0x46, *(0x00,) * nops, access)
                    program.code("ld a, $77\nld [$D208], a\ndi").wait(720)
                    program.word(0xFA, 0xFE08).word(0xEA, result)
                    result += 1
    (frames,) = console.play(twinstep_lab, [program.emit(0x06, 0x5A).rest().rom()], steps=12)
    assert frames["state.b"][-1] == 0x5A


def test_frames_that_end_within_a_transfer(twinstep_lab):
    """A transfer is started again and again, from a source that is being written."""
    rng = np.random.default_rng(18)
    programs = []
    for lcd in (0x91, 0x93, 0x11):
        program = _memory(Program().code("di").write("LCDC", lcd))
        values = {"DMA": (0xC0, 0xC0, 0xC7, 0xD0, 0x80, 0x9F, 0xE0, 0xFE, 0x20), "SCX": (-1,)}
        waits = (0, 12, 100, 400, 640, 652, 700, 900)
        programs.append(script(program, rng, values, ("DMA", "STAT"), waits, 0x1000).rom())
    console.play(twinstep_lab, programs, steps=25)


@pytest.mark.parametrize("way", ["ea", "hl", "de", "push"])
def test_oam_written_within_a_transfer(twinstep_lab, way):
    """Writes to OAM while it is filled, and reads, at each of some times."""
    programs = []
    for lcd in (0x11, 0x91):
        program = _memory(Program().code("di").write("LCDC", lcd)).code("ld hl, $C000")
        for wait in range(0, 720, 12):
            place = 0xFE00 + wait * 2 % 160
            program.write(0x46, 0xD2).wait(wait)
            program.code("ld a, $77")
            if way == "ea":
                program.word(0xEA, place)
            elif way == "de":
                program.word(0x11, place).emit(0x12, 0x1A)
            elif way == "hl":
                program.code("push hl").word(0x21, place).emit(0x77, 0x34, 0x7E).code("pop hl")
            else:
                program.word(0x31, place + 1).code("push af").word(0x31, 0xFFFE)
            program.code("ld [hl+], a").word(0xFA, place).code("ld [hl+], a").wait(800 - wait)
            program.word(0xFA, place).code("ld [hl+], a\nld a, h\nand $C7\nld h, a")
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    console.play(twinstep_lab, programs, steps=4)


def test_oam_written_before_a_transfers_first_byte(twinstep_lab):
    """The write is already lost: the last sprite is drawn unchanged until its bytes come."""
    programs = []
    for access in (0x77, 0x70, 0x36):  # ld [hl], a; ld [hl], b; ld [hl], n
        program = _memory(Program().code("di").write("LCDC", 0)).write("OBP0", 0x1B)
        program.write("LCDC", 0x93)
        for line in range(44, 51):
            program.code("ld hl, $FE00\nfill:\nld [hl], 0\ninc l\nld a, l\ncp $98\njr nz, fill")
            for byte in (60, 60, 1, 0, 60, 90, 1, 0):
                program.emit(0x36, byte, 0x23)
            program.word(0x21, 0xFE98).emit(0x06, 90)
            program.code(f"line:\nldh a, [LY]\ncp {line}\njr nz, line").wait(252)
            program.write("DMA", 0xD0).emit(access).emit(*(90,) * (access == 0x36)).wait(900)
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    console.play(twinstep_lab, programs, steps=12)
