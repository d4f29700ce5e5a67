"""Level 2: OAM DMA as games do it, and beside the picture unit."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import copy
from twinstep.properties.emurust.scripts import counting_handlers, script
from twinstep.properties.emurust.test_pictures import PAGES, TILES, screens

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]


def _shown(rng):
    program = counting_handlers(screens(rng)).code("di").write("LCDC", 0)
    copy(program, TILES, 0x8000, 0x2000)
    for page in range(3):
        copy(program, PAGES + 0x100 * page, 0xD000 + 0x100 * page, 0x100)
    return program.write("BGP", 0xE4).write("OBP0", 0x1B).write("OBP1", 0x2D)


#: In HRAM: begins a transfer from the page in A and waits for its end, or for less.
ROUTINE = "ldh [$FF46], a\nld a, b\nwaiting:\ndec a\njr nz, waiting\nret"


def test_a_transfer_while_the_processor_sleeps(lab):
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
    console.play(lab, programs, steps=30)
