"""Level 2: waiting loops whose prediction may be outdated by a change."""

import pytest

from twinstep.contracts.emurust.roms.assembler import assemble
from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: In each vertical blank: counts frames in C, and in every eighth gives B another number.
_HANDLER = """
    push af
    inc c
    ld a, c
    and 7
    jr nz, same
    ld a, b
    xor $C8
    ld b, a
same:
    pop af
    reti
"""
#: Compares with B only where a bit of LY is set; C is set if LY is below B. A pass takes 52 cycles
#: either way.
_LOOP = """
again{number}:
    jr c, out{number}
    ldh a, [$44]
    bit {bit}, a
    jr z, skip{number}
    cp b
skip{number}:
    jr again{number}
out{number}:
"""


def _program(bit, first):
    program = Program().put(0x40, bytes((0xC3, 0x00, 0x7F))).put(0x7F00, _HANDLER)
    program.write("IE", 1).code(f"ld hl, $C000\nld b, {first}\nld c, 0\nei")
    begin = program.at
    program.code("or a").code(_LOOP.format(number=bit, bit=bit))
    for register in ("LY", "DIV", "STAT"):
        program.read(register)
    program.code("ld a, b\nld [hl+], a\nld a, h\nand $CF\nld h, a\nld b, 0")
    return program.jump(begin).rom()


@pytest.mark.parametrize("first", [0, 200])
def test_a_wait_that_uses_a_register_in_some_lines_only_ends_where_it_should(twinstep_lab, first):
    """The register has changed since such lines were last passed."""
    console.play(twinstep_lab, [_program(bit, first) for bit in range(8)], steps=60)


@pytest.mark.parametrize("nops", [0, 1, 3])
@pytest.mark.parametrize("lines", [(0x74, 0x64), (0x99, 0x95), (0x95, 0x99)])
def test_a_wait_that_lies_in_two_banks_is_another_one_where_a_bank_is_switched(
    twinstep_lab, lines, nops
):
    """It begins in bank 0; the line that it waits for is in bank 1 or 2."""
    program = Program(1, 4).code("di\nld sp, $DFF0")
    program.put(0x3FF0, bytes((0xF0, 0x44, *(0,) * nops, 0xC3, 0x00, 0x40)))
    for bank, line in enumerate(lines, 1):
        # cp line; jr nz, $3FF0; ret
        program.data[0x4000 * bank : 0x4000 * bank + 5] = bytes((0xFE, line, 0x20, 0xEC, 0xC9))
    begin = program.at
    program.code("ld a, 1\nld [$2000], a\ncall $3FF0\nld hl, $C000\ninc [hl]").wait(4096)
    program.code("call $3FF0").wait(4096)
    program.code("ld a, 2\nld [$2000], a\ncall $3FF0\nld hl, $C001\ninc [hl]")
    console.play(twinstep_lab, [program.jump(begin).rom()], steps=30)


@pytest.mark.parametrize("wait", range(20, 76, 5))
def test_code_behind_a_wait_that_is_never_reached_reads_nothing(twinstep_lab, wait):
    """Reading MBC1's RAM changes a hidden field; STAT's first read may differ from later ones."""
    programs = []
    loops = ("", "nop\n", "ldh a, [$80]\n")
    for first in loops:
        program = Program(3, 4, 3).code("di\nld sp, $DFF0\nld a, 10\nld [0], a\nld a, 1")
        program.code("ld [$6000], a\nld [$4000], a").code(_at("first", 0x95))
        program.write("LCDC", 0x11).write("LYC", 0xF0).write("LCDC", 0x91).code("ld hl, $FF41")
        program.code(_at("second", 0x10)).code(_at("third", 0x8F)).emit(*(0,) * wait)
        program.code("xor a\ncp 3\nldh [$0F], a\nldh [$0F], a")
        program.code(f"mode:\n{first}ldh a, [$41]\nand 3\ncp 3\njr nz, mode")
        program.code("ld a, [$A000]\nld a, 1\nld [$C000], a").rest()
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=3)


def _at(name, line):
    return f"{name}:\nldh a, [$44]\ncp {line}\njr nz, {name}"


@pytest.mark.parametrize(
    ("bit", "asks", "waits"),
    [(6, "cp b", "nop\nnop"), (0, "add a, b\ncp $DA", "nop\nnop\nnop\nnop")],
    ids=["compares", "adds"],
)
def test_a_wait_by_a_alone_is_not_taken_for_one_by_registers_as_handed_over(
    twinstep_lab, bit, asks, waits
):
    """B is as at the hand-over, then another value; the loop checks it in some lines only.

    A pass takes equally long either way. Neither the line of the interrupt nor a frame's vertical
    blank begins with a checking pass: facts known by A alone would be forgotten there.
    """
    program = _from_the_fifth_frame("ld b, $45")
    program.code(
        f"again:\nldh a, [$44]\nbit {bit}, a\njr z, under\n{asks}\njr z, done\njr again\n"
        f"under:\n{waits}\njr again\ndone:\nld a, 1\nld [$C000], a"
    )
    console.play(twinstep_lab, [program.rest().rom()], steps=12)


def test_a_wait_that_writes_another_register_in_some_lines_has_it_written(twinstep_lab):
    """BC is set by the loop for four frames, then to another value, and recorded lines later."""
    first = "ldh a, [$44]\ncp $4F\njr z, later\nld b, $35\nld a, $4F\nldh [$45], a\njr on"
    program = _from_the_fifth_frame(
        f"push af\n{first}\nlater:\nld a, b\nld [$C000], a\non:\npop af"
    )
    program.code(
        "again:\nldh a, [$44]\nbit 4, a\njr z, under\nld bc, $1234\njr again\n"
        "under:\nnop\nnop\njr again"
    )
    console.play(twinstep_lab, [program.rom()], steps=12)


def test_a_wait_that_doubles_hl_in_some_lines_has_it_doubled(twinstep_lab):
    """HL is 0 for four frames, then 1, and recorded two lines on. A pass takes equally long."""
    programs = []
    for nops in range(13):  # a leap ends where a line begins soon after a pass
        first = "ld a, $42\nldh [$45], a\nld hl, $0001\n" + nops * "nop\n"
        program = _from_the_fifth_frame(
            f"push af\nldh a, [$44]\ncp $42\njr z, later\n{first}jr on\n"
            "later:\nld a, h\nor l\nld [$C000], a\non:\npop af"
        )
        program.code(
            "ld hl, 0\nagain:\nldh a, [$44]\nbit 6, a\njr nz, over\nnop\nnop\nnop\njr again\n"
            "over:\nadd hl, hl\njr again"
        )
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=12)


def test_a_wait_that_begins_with_the_program_stays_in_step(twinstep_lab):
    """The cycle counter is still small. Without a picture the timer's first turns end slices."""
    programs = []
    for nops in range(6):
        program = Program()
        program.data[0x101:0x104] = bytes((0xC3, 0x00, 0x03))
        program.at = 0x300
        program.code("xor a\nldh [$40], a").write("TAC", 5).write("TIMA", 0xFC)
        again = program.emit(*(0,) * nops).at - nops
        program.code("ldh a, [$80]\nor a")
        program.emit(0x28, again - program.at - 2)
        programs.append(program.rom())
    console.play(twinstep_lab, programs, steps=2)


@pytest.mark.parametrize("place", [0x8000, 0x9F00])
def test_a_wait_in_ram_sees_what_its_code_is_then(twinstep_lab, place):
    """Code in VRAM cannot be read while the picture unit reads it."""
    programs = []
    for wait in ("ldh a, [$44]\ncp $8F", "ldh a, [$44]\ncp $62", "ldh a, [$41]\nand 3\ncp 1"):
        code = assemble(f"wait:\n{wait}\njr nz, wait\nret", at=place, constants={}).data
        program = (
            Program(3, 2, 2)
            .put(0x38, f"inc b\npop de\njp ${place:X}")
            .code("di\nld sp, $DFF0\nld b, 0")
        )
        program.code("ld a, $0A\nld [0], a")
        program.code("off:\nldh a, [$44]\ncp $90\njr nz, off\nxor a\nldh [$40], a")
        for offset, byte in enumerate(code):
            program.code(f"ld a, {byte}\nld [{place + offset}], a")
        program.code("ld hl, $7000\npush hl").write("LCDC", 0x91).word(0xC3, place)
        program.at = 0x7000
        programs.append(program.read("LY").read("DIV").code("ld a, b\nld [$C000], a").rest().rom())
    console.play(twinstep_lab, programs, steps=6)


def test_a_wait_that_a_dispatch_begins_ends_when_what_it_pushed_says(twinstep_lab):
    """PC's bytes become TMA and TIMA. The handler is a loop, close to the one before it."""
    programs = []
    for nops in range(8):
        program = Program().write("IE", 0x10).write("TAC", 5).word(0x21, 0xC000)
        program.put(0x60, "wait:\nldh a, [$0F]\nand 4\njr z, wait\njp $7F00")
        late = nops * "nop\n" + "xor a\nldh [$05], a\nld a, $10\nldh [$0F], a"
        program.put(0x69, f"line:\nldh a, [$44]\ncp 20\njr nz, line\n{late}")
        begin = program.at
        program.word(0x31, 0xFF07).code("ei").jump(0x69)
        program.at = 0x7F00
        program.read("DIV").read("LY").read("TIMA").word(0x31, 0xDFF0)
        programs.append(program.jump(begin).rom())
    console.play(twinstep_lab, programs, steps=4)


def _from_the_fifth_frame(does):
    """Return a program whose line 22h interrupts from its fifth frame on; it continues at 150h.

    Only register A is touched before.
    """
    program = Program().put(0x40, bytes((0xC3, 0x00, 0x7E))).put(0x48, bytes((0xC3, 0x00, 0x7D)))
    program.put(0x7D00, f"{does}\nreti")
    program.put(
        0x7E00,
        "push af\nldh a, [$80]\ninc a\nldh [$80], a\ncp 5\njr nz, out\nld a, $22\n"
        "ldh [$45], a\nld a, $40\nldh [$41], a\nld a, 3\nldh [$FF], a\nout:\npop af\nreti",
    )
    program.data[0x100:0x104] = bytes((0x00, 0xC3, 0x00, 0x03))
    program.put(0x300, "ld a, 1\nldh [$FF], a\nei\njp $150")
    program.at = 0x150
    return program
