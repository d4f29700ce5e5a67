"""Level 1: the timer, at each cycle near an overflow, and the effect of writes then.

A probe resets DIV, which sets the phase, sets the timer near its overflow, waits, acts,
and reads. Waits cover all four-cycle steps of the rates that are that short.
"""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level1, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: TAC -> cycles of a count.
PERIODS = {4: 1024, 5: 16, 6: 64, 7: 256}
RING = "ld a, h\nand $C7\nld h, a"  # 2 KB of results from C000 on


def _waits(tac, rng):
    """Return waits in cycles: all near two overflows, or some of many."""
    last = 2 * PERIODS.get(tac, 16) + 40
    if last <= 180:
        return list(range(0, last, 4))
    near = [w for w in range(0, last, 4) if (w + 40) % PERIODS[tac] < 72]
    return sorted({*near[::2], *(4 * int(w) for w in rng.integers(last // 4, size=12))})


def _probe(program, tac, before, wait, what, late=12):
    """Write a probe. what: registers and bytes written after the wait, or None for a read."""
    program.write("TAC", 0).write("TMA", 0xA0 | tac).write("IF", 0)
    program.write("TIMA", 0xFF if before & 1 else 0xFE)
    program.code("xor a\nldh [DIV], a").write("TAC", tac)
    if before & 2:  # the phase of DIV is not 0 when TIMA is near its overflow
        program.wait(8 * before).write("TIMA", 0xFF)
    program.wait(wait)
    for register, value in what:
        if value is None:
            program.read(register)
        else:
            program.write(register, value)
    program.read("TIMA").read("IF").wait(late).read("TIMA").read("IF").read("DIV").code(RING)


ACTS = {
    "read": [()],
    "write-tima": [(("TIMA", 0x12),), (("TIMA", 0xFF),)],
    "write-tma": [(("TMA", 0x34),), (("TMA", 0xFF),)],
    "write-div": [(("DIV", 0),), (("DIV", 0), ("DIV", 0))],
    "write-tac": [(("TAC", tac),) for tac in (0, 1, 2, 4, 5, 6, 7)],
    "write-if": [(("IF", 0),), (("IF", 4),)],
    "two-writes": [(("TIMA", 0xFF), ("TMA", 0xFE)), (("TIMA", None), ("DIV", 0)),
                   (("TMA", 0xFF), ("TIMA", 0x80))],
}  # fmt: skip


@pytest.mark.parametrize("act", ACTS)
def test_what_is_done_about_an_overflow(twinstep_lab, act):
    rng = np.random.default_rng(9)
    programs = [Program().code("di\nld hl, $C000")]
    for tac in (4, 5, 6, 7, 0, 1):
        for what in ACTS[act]:
            waits = _waits(tac, rng)
            if len(ACTS[act]) > 3:
                waits = waits[:: 2 if tac == 5 else 5]
            for wait in waits:
                for before in (0, 1, 2, 7):
                    if programs[-1].at > 0x7E00:
                        programs.append(Program().code("di\nld hl, $C000"))
                    _probe(programs[-1], tac, before, wait, what, 4 * int(rng.integers(8)))
    roms = [program.emit(0x06, 0x5A).rest().rom() for program in programs]
    for frames in console.play(twinstep_lab, roms, steps=13):
        assert frames["state.b"][-1] == 0x5A


def test_the_timer_written_at_any_time(twinstep_lab):
    """Random writes to its four registers and reads of them, for many frames."""
    rng = np.random.default_rng(10)
    programs = []
    for _ in range(3):
        program = Program().code("di\nld hl, $C000")
        again = program.at
        while program.at < 0x7E00:
            register = str(rng.choice(("DIV", "TIMA", "TMA", "TAC", "TAC", "IF")))
            value = int(rng.choice((0x00, 0xFF, 0xFE, int(rng.integers(256)))))
            if register == "TAC":
                value = int(rng.choice((4, 5, 5, 5, 6, 7, 0, int(rng.integers(256)))))
            program.write(register, value).wait(4 * int(rng.choice((0, 1, 2, 3, 5, 8, 30))))
            for name in ("TIMA", "IF", "DIV")[: int(rng.integers(4))]:
                program.read(name)
            program.code(RING)
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=20)


def _overflows(program, wait):
    """TIMA overflows `wait` cycles later or sooner."""
    program.code("xor a\nldh [$0F], a\nldh [$04], a").write("TIMA", 0xF0).write("TAC", 5)
    return program.wait(wait)


@pytest.mark.parametrize("target", [0xFF04, 0xFF05, 0xFF06])
def test_two_timer_registers_written_by_one_instruction_about_an_overflow(twinstep_lab, target):
    """TIMA and TMA within the first cycles of a reload, by `ld [nn], sp` and by PUSH."""
    programs = []
    for wait in range(180, 300, 4):
        program = Program().code("di\nld hl, $C000").write("TMA", 0x20).code("ld sp, $8142")
        _overflows(program, wait).word(0x08, target).read("TIMA").read("TMA").read("IF")
        programs.append(program.rest().rom())
        program = Program().code("di\nld hl, $FF05\nld bc, $3344").write("TMA", 0x20)
        _overflows(program.word(0x31, target + 1), wait).code("push bc\nld [hl], a\nld hl, $C000")
        programs.append(program.read("TIMA").read("TMA").read("IF").rest().rom())
    console.play(twinstep_lab, programs, steps=1)


def test_a_dispatch_that_pushes_into_the_timer_about_an_overflow(twinstep_lab):
    """It chooses between its two writes: the timer's interrupt is raised by then, or later."""
    programs = []
    for wait in range(100, 300, 4):
        program = Program().code("di\nld hl, $C000").write("TMA", 0x20).write("IE", 0x14)
        for vector in (0x50, 0x60):
            program.put(vector, f"ld a, {vector}\nld [hl+], a\nld sp, $D000\nreti")
        for vector in (0x00, 0x08):
            program.put(vector, b"\x18\xfe")
        program.code("xor a\nldh [$0F], a\nldh [$04], a").write("TIMA", 0xF0).write("TAC", 5)
        program.code("ei").wait(wait).word(0x31, 0xFF06).write("IF", 0x10).code("nop\nnop\nnop")
        programs.append(program.rest().rom())
    console.play(twinstep_lab, programs, steps=1)
