"""Level 2: interrupts with the timer, sleep, the buttons and the stack."""

import numpy as np
import pytest

from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import counting_handlers, script

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

RING = "ld a, h\nand $CF\nld h, a"
#: A handler that records the pushed address and the time.
NOTES = """
    push af
    push hl
    ld hl, sp+4
    ld a, [hl+]
    ld [$DB00], a
    ld a, [hl]
    ld [$DB01], a
    ldh a, [$FF04]
    ld [$DB02], a
    ldh a, [$FF05]
    ld [$DB03], a
    pop hl
    pop af
    reti
"""


def _noting(program, vectors=(0x40, 0x48, 0x50, 0x58, 0x60)):
    for vector in vectors:
        program.put(vector, bytes((0xC3, 0x00, 0x7F)))
    return program.put(0x7F00, NOTES)


def _noted(program):
    for address in range(0xDB00, 0xDB04):
        program.word(0xFA, address).code("ld [hl+], a")
    return program.read("TIMA").read("DIV").read("IF").code(RING)


@pytest.mark.parametrize("sleep", ["halt", "nop\nnop\nhalt", "nop\nnop\nnop", "inc [hl]\nhalt"])
def test_the_timer_wakes_a_halt_about_the_delay_of_ei(twinstep_lab, sleep):
    """TIMA overflows from before EI to after HALT: the PC that is pushed, and the clock then."""
    programs = []
    for tac, steps in ((5, 24), (6, 12)):
        program = _noting(Program()).write("IE", 4).write("TMA", 0xF0).code("ld hl, $C000")
        again = program.at
        for wait in range(0, 4 * steps, 4):
            for first in ("ei", "ei\nei", "di\nei", "di"):
                program.code("di").write("IF", 0).write("TIMA", 0xFD)
                program.code("xor a\nldh [DIV], a").write("TAC", tac).wait(wait)
                program.code(f"{first}\n{sleep}\nnop\ninc a\nnop\ndi")
                _noted(program)
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=8)


@pytest.mark.parametrize("first", ["ei", "ei\nnop"], ids=["behind-ei", "later"])
@pytest.mark.parametrize("register", ["DIV", "TIMA", "TMA", "TAC"])
def test_a_write_to_the_timer_right_behind_ei_moves_its_interrupt(twinstep_lab, register, first):
    """Otherwise such a write ends the slice; there it does not. Many lines follow."""
    programs = []
    for value in (5, 6, 0xF0):
        for tac in (0, 4, 5):
            for count in (3, 250):
                program = _noting(Program(), (0x50,)).write("IE", 4).write("TIMA", 0xF0)
                program.write("TAC", tac).code("ld hl, $C000")
                again = program.at
                program.code(f"di\nld a, {value}\n{first}\nldh [{register}], a\nld b, {count}")
                program.code("on:\ninc c\nadd a, c\nld d, a\ndec b\njr nz, on")
                programs.append(_noted(program).jump(again).rom())
    console.play(twinstep_lab, programs, steps=6)


#: Writes right after EI that move a near event, or start another.
_MOVES = {
    "lcd-off": ("xor a", "LCDC"),
    "tima": ("ld a, $FD", "TIMA"),
    "tac": ("ld a, 5", "TAC"),
    "serial": ("ld a, $81", "SC"),
    "lyc": ("ld a, $96", "LYC"),
}


@pytest.mark.parametrize("moved", _MOVES)
def test_what_moved_behind_ei_comes_where_the_next_write_ends_what_runs(twinstep_lab, moved):
    """Such a write ends the slice, but not right after EI; the next write, to FF00, does."""
    value, register = _MOVES[moved]
    programs = []
    for second in ("ldh [$00], a", "ld [de], a", "ld [hl], 0", "ldh [$01], a", "nop"):
        for wait in (0, 40, 200):
            program = _noting(Program()).write("IE", 0x0F).write("TAC", 5).write("TMA", 0)
            program.write("STAT", 0x40)
            begin = program.at
            program.code("di\nline:\nldh a, [$44]\ncp $95\njr nz, line\nld bc, 0\nld de, $FF00")
            program.write("IF", 0).code(f"ld hl, $FF00\n{value}\nei\nldh [{register}], a")
            program.wait(wait).code(f"{second}\nld hl, $C000")
            program.code("on:\ninc bc\nld a, b\ncp 20\njr nz, on")
            _noted(program).write("LCDC", 0x91)
            programs.append(program.jump(begin).rom())
    console.play(twinstep_lab, programs, steps=8)


@pytest.mark.parametrize("register", ["TAC", "TIMA"])
def test_a_halt_behind_ei_where_the_timer_was_due_before_it_was_written(twinstep_lab, register):
    """The write after EI leaves the slice's end, FF00's ends it; the next slice ends elsewhere."""
    programs = []
    for wait in range(0, 160, 4):
        program = _noting(Program()).write("IE", 1).write("TAC", 5).code("ld hl, $C000")
        begin = program.at
        program.code("di\nline:\nldh a, [$44]\ncp 20\njr nz, line").write("IF", 0)
        program.write("TAC", 5).write("TIMA", 0xF8)
        program.code(f"xor a\nei\nldh [{register}], a\nldh [$00], a")
        program.emit(*(0x00,) * (wait // 4)).code("ei\nhalt\nnop\ninc a")
        programs.append(_noted(program).jump(begin).rom())
    for steps in (1, 4):
        console.play(twinstep_lab, programs, steps=steps)


def test_a_dispatch_that_pushes_into_the_timer_moves_its_interrupt(twinstep_lab):
    """PC's bytes become TMA and TIMA. The handler writes FF00 at once, and then only counts."""
    programs = []
    for tac in (0, 4, 5):
        for counted in (0x00, 0xC0, 0xE0, 0xF0, 0xFA):
            program = Program().write("IE", 5).write("TAC", tac).write("TMA", 0xF0)
            # The timer's interrupt handler: records the count.
            program.put(0x50, bytes((0xC3, 0x00, 0x7E)))
            program.put(0x7E00, "ld a, c\nld [hl+], a\nld a, b\nld [hl+], a\nldh a, [$04]\n"
                                "ld [hl+], a\nld a, h\nand $CF\nld h, a\nreti")  # fmt: skip
            program.put(0x40, bytes((0xC3, 0x00, 0x7F)))
            program.put(0x7F00, "ldh [$00], a\nld sp, $DFF0\nei\nnop\non:\ninc bc\njr on")
            program.code("ld hl, $C000\nld bc, 0\nxor a").write("TIMA", counted)
            program.write("IF", 0).word(0x31, 0xFF07)
            program.jump(0x0535)
            program.put(0x0535, "ei\nspin:\njr spin")
            programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=6)


def test_a_halt_wakes_at_the_cycle_that_mode_3_leaves(twinstep_lab):
    """Sprites make lines off the processor's grid: HALT for STAT's and the timer's interrupts."""
    rng = np.random.default_rng(31)
    programs = []
    for number in range(6):
        program = _noting(Program()).write("LCDC", 0).write("SCX", number)
        program.code("ld hl, $FE00")
        for _ in range(40):
            program.emit(0x3E, int(rng.integers(60, 90)), 0x22, 0x3E, int(rng.integers(170)), 0x22)
            program.code("inc hl\ninc hl")
        program.write("LCDC", 0x83 | 4 * (number & 1)).write("STAT", 0x08).write(
            "TAC", 5 + number % 3
        )
        program.write("TMA", int(rng.integers(256))).code("ld hl, $C000")
        again = program.at
        for _ in range(30):
            program.write("IE", int(rng.choice((2, 4, 6, 7))))
            program.code(str(rng.choice(("ei", "di", "nop")))).code("halt\nnop")
            _noted(program).read("STAT").read("LY").write("IF", 0).code(RING)
        programs.append(program.jump(again).rom())
    console.play(twinstep_lab, programs, steps=12)


@pytest.mark.parametrize(
    "stack", [0x0000, 0x0001, 0xFFFF, 0xFF11, 0xFF10, 0x8000, 0x8002, 0xA000, 0xFEA2]
)
def test_a_dispatch_that_pushes_into_hardware(twinstep_lab, stack):
    """SP=0: the upper byte of PC becomes IE before the interrupt is chosen, the lower is FFFE's.

    With SP=FF10 it becomes IF. Code lies where the upper byte leaves none, some or all interrupts
    pending.
    """
    cases = [(p, e) for p in (0x01, 0x04, 0x10, 0x1F, 0x14) for e in (0x1F, 0x14)]
    programs = []
    for turn in range(3):
        program = Program().code("di")
        for number, vector in enumerate((0x00, 0x40, 0x48, 0x50, 0x58, 0x60)):
            at = 0x7000 + 0x40 * number
            program.put(vector, bytes((0xC3, at & 0xFF, at >> 8)))
            # Record which handler ran, SP, IE, IF, TIMA and FFFE, and continue at the next place.
            program.put(
                at,
                f"di\nld [$DC00], sp\nld sp, $DC80\npush af\nldh a, [$FFFF]\nld [hl+], a\n"
                f"ldh a, [$FF0F]\nld [hl+], a\nld a, {number}\nld [hl+], a\nld a, [$DC00]\n"
                "ld [hl+], a\nld a, [$DC01]\nld [hl+], a\nldh a, [$FF05]\nld [hl+], a\n"
                "ldh a, [$FFFE]\nld [hl+], a\npop af\nld d, b\nld e, c\npush de\nret",
            )
        program.write("TAC", 5).code("ld hl, $C000").jump(0x0200)
        # bc: where to continue. The pages' numbers are pushed first.
        places = [0x0200, *(0x100 * page + 0x20 * (page % 7) for page in range(3, 0x40, 2))]
        for number, (place, following) in enumerate(
            zip(places, [*places[1:], 0x6F00], strict=True)
        ):
            pending, enabled = cases[(number + 3 * turn) % len(cases)]
            program.at = place
            program.word(0x01, following).write("IE", enabled).write("IF", pending)
            program.word(0x31, stack).code("ei\nnop\nnop\nnop\nnop\ndi").code("ld sp, $DC80")
            # No interrupt came, as expected.
            program.code("ldh a, [$FFFF]\nld [hl+], a\nldh a, [$FF05]\nld [hl+], a")
            program.jump(following)
        program.at = 0x6F00
        programs.append(program.emit(0x06, 0x5A).rest().rom())
    for frames in console.play(twinstep_lab, programs, steps=2):
        assert frames["state.b"][-1] == 0x5A


def test_buttons_wake_a_halt(twinstep_lab):
    """A press between frames: the flag, the wake, with and without the interrupt."""
    rng = np.random.default_rng(32)
    programs = []
    for selected, first in ((0x10, "ei"), (0x20, "ei"), (0x00, "di"), (0x30, "ei"), (0x10, "di")):
        program = _noting(Program()).write("IE", 0x11).code("ld hl, $C000")
        again = program.at
        program.write("P1", selected).code(f"{first}\nhalt\nnop")
        _noted(program).read("P1").read("LY").write("IF", 0).code(RING)
        program.write("IE", 0x10).code(first).code("halt\nnop")
        _noted(program).write("P1", 0x30).read("IF").write("IE", 0x11).code(RING)
        programs.append(program.jump(again).rom())
    held = [int(a) for a in rng.integers(len(console.ACTIONS), size=60)]
    console.play(twinstep_lab, programs, steps=held)


@pytest.mark.parametrize("seed", [33, 34])
def test_all_interrupts_at_once(twinstep_lab, seed):
    """Timer, STAT, vertical blank, serial port and buttons, with sleep between, at random."""
    rng = np.random.default_rng(seed)
    values = {
        "TAC": (4, 5, 6, 7, 5, 0), "TMA": (-1, 0xFF, 0xF0), "TIMA": (-1, 0xFF), "DIV": (0,),
        "STAT": (0, 8, 16, 32, 64, 0x78), "LYC": tuple(range(0, 154, 11)), "IF": (0, -1),
        "IE": (0x1F, 4, 6, 1, 0x1D), "P1": (0x10, 0x20, 0x30), "SC": (0x81, 0x80, 0x01),
        "SCX": (-1,),
    }  # fmt: skip
    reads = ("TIMA", "DIV", "STAT", "LY", "IF", "P1", "SC", "SB")
    programs = [
        script(counting_handlers(Program()), rng, values, reads, size=0x6000, interrupts=0x1F).rom()
        for _ in range(3)
    ]
    held = [int(a) for a in rng.integers(len(console.ACTIONS), size=40)]
    console.play(twinstep_lab, programs, steps=held)
