"""Level 1: the serial port with nothing plugged in, also during a transfer."""

import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: Values written to SC: the two outer bits start a transfer; the others must not.
CONTROLS = (0x81, 0x80, 0x01, 0x00, 0xFF, 0x83, 0x7F)


def _sending(control, wait):
    """Start a transfer again and again, before the last one ends if `wait` is small."""
    program = Program().code("di").write("IF", 0)
    again = program.at
    program.code(f"ld a, {control}\nldh [$02], a\nldh a, [$02]\nld [$C000], a\nldh a, [$01]")
    program.code("ld [$C001], a").wait(wait).code("ldh a, [$0F]\nld [$C002], a")
    return program.code("ldh a, [$02]\nld [$C003], a").write("IF", 0).jump(again).rom()


@pytest.mark.parametrize("wait", [0, 400, 1000, 1016, 1020, 1024, 1040, 3000])
def test_a_transfer_is_the_same_at_a_frames_end_and_when_it_ends(twinstep_lab, wait):
    """Hidden fields are compared after the last step: the pending transfer, and its end."""
    programs = [_sending(control, wait) for control in CONTROLS]
    for steps in (1, 2, 5):
        console.play(twinstep_lab, programs, steps=steps)


def test_a_poll_sees_a_transfer_end_within_the_slice_that_it_ends_in(twinstep_lab):
    """Reads and writes of the port bring it up to date first."""
    programs = []
    for wait in range(0, 36, 4):
        program = Program().code("di\nld hl, $C000").write("TAC", 0)
        again = program.at
        program.code("xor a\nldh [$0F], a\nldh [$04], a").write("SC", 0x81).wait(wait)
        program.code("poll:\nldh a, [$02]\nand $80\njr nz, poll").read("DIV").read("IF")
        programs.append(program.code("ld a, h\nand $CF\nld h, a").jump(again).rom())
    console.play(twinstep_lab, programs, steps=6)


@pytest.mark.parametrize("register", ["SB", "SC"])
def test_a_transfer_that_is_due_ends_where_another_begins(twinstep_lab, register):
    programs = []
    for wait in range(960, 1060, 4):
        program = Program().code("di\nld hl, $C000\nxor a\nldh [$0F], a").write("SC", 0x81)
        program.wait(wait).write(register, 0x81).wait(60).read("IF").read("SC")
        programs.append(program.rest().rom())
    # Right after EI, where no slice ends for long.
    program = Program().code("di\nld hl, $C000\nxor a\nldh [$0F], a\nldh [$40], a\nld a, $81\nei")
    program.code("ldh [$02], a\ndi").wait(2000).read(register).read("IF")
    console.play(twinstep_lab, [*programs, program.rest().rom()], steps=2)
