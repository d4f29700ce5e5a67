"""Level 1: the buttons, as shown by the joypad's register and its interrupt flag."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import script

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

_SELECTED = (0x00, 0x10, 0x20, 0x30, 0xFF, 0xCF, 0x0F)


def _held(rng, steps):
    """Return actions: some buttons for some frames each, presses and releases in between."""
    held = []
    while len(held) < steps:
        held += [int(rng.integers(len(console.ACTIONS)))] * int(rng.choice((1, 1, 2, 3)))
    return held[:steps]


def test_the_register_shows_the_selected_buttons(twinstep_lab):
    """Each selection is written and read, read again later, and one is left for frames."""
    rng = np.random.default_rng(19)
    programs = []
    for last in (0x00, 0x10, 0x20, 0x30):
        program = Program().code("di\nld hl, $C000")
        again = program.at
        for selected in (*_SELECTED, last):
            program.write("P1", selected).read("P1").read("P1").read("IF").write("IF", 0)
        program.wait(40000).read("P1").read("IF").wait(40000).read("P1")
        programs.append(program.code("ld a, h\nand $CF\nld h, a").jump(again).rom())
    console.play(twinstep_lab, programs, steps=_held(rng, 80))


def test_edges_raise_the_interrupt(twinstep_lab):
    """A line falls by a press or by a selection; with the selection as it was left."""
    rng = np.random.default_rng(20)
    programs = []
    for _ in range(3):
        values = {"P1": _SELECTED, "IF": (0, 0x10, -1)}
        waits = (0, 8, 100, 5000, 30000)
        programs.append(
            script(Program().code("di"), rng, values, ("P1", "IF"), waits, 0x1800).rom()
        )
    console.play(twinstep_lab, programs, steps=_held(rng, 100))


@pytest.mark.parametrize("skip", [2, 24])
def test_buttons_are_held_for_a_whole_step(twinstep_lab, skip):
    rng = np.random.default_rng(21)
    program = Program().code("di\nld hl, $C000")
    again = program.at
    program.write("P1", 0x10).read("P1").write("P1", 0x20).read("P1").read("IF").write("IF", 0)
    program.code("ld a, h\nand $CF\nld h, a").wait(16000).jump(again)
    console.play(twinstep_lab, [program.rom()], steps=_held(rng, 30), skip=skip)
