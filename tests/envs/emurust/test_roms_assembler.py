"""The Game Boy assembler: its source text, its bytes, and their effect in PyBoy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinstep.contracts.emurust.roms.assembler import (
    MBC1,
    AssemblyError,
    Source,
    assemble,
    cartridge,
    disassemble,
)
from twinstep.contracts.emurust.roms.opcodes import CONDITIONS, CONTROL, INVALID, OPS, PREFIX, Op
from twinstep.tests.support.pyboys import switch_on
from twinstep.tests.support.sm83 import Machine, compute

# The table and the text


def spelt(op: Op, value: int, at: int = 0) -> str:
    """A source line of an instruction with this immediate."""
    signed = value % 256 - 128
    numbers = {
        "n8": f"${value % 256:X}",
        "[n8]": f"[{value % 256} + $FF00]",
        "n16": f"{value % 65536}",
        "[n16]": f"[${value % 65536:04x}]",
        "e8": f"{signed}",
        "sp+e8": f"sp {'-' if signed < 0 else '+'} {abs(signed)}",
        "r8": f"here + 2 + {signed}",
    }
    return f"{op.mnemonic} " + ", ".join(numbers.get(operand, operand) for operand in op.operands)


def test_the_table_holds_every_opcode_once_under_its_own_name():
    codes = [op.code for op in OPS]
    assert len(OPS) == len(set(codes)) == len({str(op) for op in OPS}) == 500
    assert {code for code in codes if code < 256} == set(range(256)) - INVALID - {PREFIX}
    assert {code & 0xFF for code in codes if code >> 8 == PREFIX} == set(range(256))


@pytest.mark.parametrize("value", [0, 1, 0x7F, 0x80, 0xFF, 0x1234, 0xFFFE])
def test_every_opcode_survives_assembling_and_disassembling(value):
    for op in OPS:
        data = assemble(spelt(op, value), at=0xC000).data
        assert data.startswith(op.prefix), op
        assert len(data) == op.length, op
        (line,) = disassemble(data, 0xC000)
        assert assemble(line.text, at=0xC000).data == data, line
        assert line.text.split()[0] == op.mnemonic


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Lines of random valid instructions, some with labels, with jumps among them."""
    lines = draw(
        st.lists(st.tuples(st.sampled_from(OPS), st.integers(0, 0xFFFF)), min_size=1, max_size=40)
    )
    return "\n".join(f"at{i}: {spelt(op, value)}" for i, (op, value) in enumerate(lines))


@given(programs(), st.integers(0, 0xF000))
def test_random_programs_survive_assembling_and_disassembling(program, at):
    block = assemble(program, at=at)
    lines = list(disassemble(block.data, at))
    assert [line.address for line in lines] == [place.address for place in block.listing]
    assert [line.address for line in lines] == [address for _, address in block.labels.values()]
    assert assemble("\n".join(line.text for line in lines), at=at).data == block.data


@given(st.binary(max_size=64), st.integers(0, 0xFFC0))
def test_whatever_bytes_are_disassembled_assemble_to_themselves(data, at):
    lines = list(disassemble(data, at))
    assert b"".join(line.data for line in lines) == data
    assert assemble("\n".join(line.text for line in lines), at=at).data == data


def test_statements():
    block = assemble(
        """
        two = 1 + 1 ; a constant
        start: LD A, two
        .loop: jr .loop
        other:
        .loop: jr start.loop ; the other one
               JP   NZ , other
        data:  db 1, -1, 'x', ';', ",;'", high(start), low(data)
               dw data, -2
               ds two, $EE
               ds 1
        """,
        at=0xC000,
    )
    assert block.data.hex(" ") == (
        "3e 02 18 fe 18 fc c2 04 c0 01 ff 78 3b 2c 3b 27 c0 09 09 c0 fe ff ee ee 00"
    )
    assert block.address("other.loop") == 0xC004


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$10 + 0b11 * 2", 22),
        ("-1 & $FF", 255),
        ("(1 << 4 | 3) ^ 1", 18),
        ("7 / 2 % 2", 1),
        ("~0 + 'A'", 64),
        ("low($1234) + high($1234)", 0x46),
    ],
)
def test_expressions(text, value):
    assert assemble(f"dw {text}").data == value.to_bytes(2, "little")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("ld a, 256", "256, outside -128 to 255"),
        ("x = 300\nadd sp, x", "x is 300, outside -128 to 127"),
        ("ld [hl], [hl]", "no such form of ld. There are: ld [hl], n8; ld [hl], b"),
        ("mov a, b", "'mov' is neither an instruction"),
        ("bit 8, a", "bit cannot have 8"),
        ("rst 9", "rst cannot have 9"),
        ("ldh a, [$C000]", "ldh reaches $FF00 to $FFFF, not $C000"),
        ("jr $100", "the target is 253 bytes away"),
        ("jp there", "'there' is not defined"),
        ("ds there\nthere:", "'there' is not defined before this line"),
        ("x:\nx:", "'x' is defined twice"),
        ("x = 1\nx: nop", "'x' is defined twice"),
        ("hl: nop", "'hl' is reserved"),
        (".x: nop", "'.x' has no label before it"),
        ("ld a,, b", "an operand is missing"),
        ('db "abc', "a quote is not closed"),
        ("db 1 +", "cannot read the expression '1 +'"),
        ("db 1 / 0", "division"),
        ("ds -1", "-1 bytes cannot be reserved"),
        ("bank 1", "only a cartridge has them"),
        ("nop\norg 0\nnop", "$0000 of bank 0 is filled already"),
        ("org $FFFF\njp 0", "outside memory"),
    ],
)
def test_mistakes_name_the_line(source, message):
    with pytest.raises(AssemblyError, match=re.escape(message)) as raised:
        assemble([Source("good", "nop"), Source("game.asm", "\n" + source)], at=0)
    line = source.splitlines()[int(re.match(r"game.asm:(\d+)", str(raised.value))[1]) - 2]
    assert str(raised.value).endswith(f"\n    {line}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("org $104\nnop", "$0104 belongs to the header"),
        ("org $4000\nnop", "outside bank 0, $0000 to $3FFF"),
        ("bank 2\norg $100\nnop", "outside bank 2, $4000 to $7FFF"),
        ("bank 128", "banks are 0 to 127"),
        ("org $3FFE\nnop", "an opcode at $3FFE or $3FFF"),
        ("org $3FFF\nld a, 1", "outside bank 0"),
    ],
)
def test_mistakes_of_a_cartridge(source, message):
    with pytest.raises(AssemblyError, match=re.escape(message)):
        cartridge(source)


def test_a_cartridge_has_a_header_and_no_logo():
    rom = cartridge("org $3FFF\ndb 7\nbank 5\nx: db bank(x), 2", title="TITLE").data
    assert len(rom) == 8 * 0x4000
    assert rom[0x3FFF] == 7
    assert rom[5 * 0x4000 : 5 * 0x4000 + 2] == b"\5\2"
    assert rom[0x104:0x134] == bytes(0x30)
    assert rom[0x134:0x13B] == b"TITLE\0\0"
    assert tuple(rom[0x147:0x14A]) == (MBC1, 2, 0)
    header = 0
    for byte in rom[0x134:0x14D]:
        header = header - byte - 1 & 0xFF
    assert rom[0x14D] == header
    assert int.from_bytes(rom[0x14E:0x150], "big") == sum(rom) - rom[0x14E] - rom[0x14F] & 0xFFFF


# The effect in PyBoy

SLOT, BACK, DATA, STACK = 0xC000, 0xC080, 0xC100, 0xD000


class Case(NamedTuple):
    """One instruction to run, and the machine before and after it."""

    op: Op
    code: bytes
    before: Machine
    value: int


class Outcome(NamedTuple):
    """The machine after PyBoy ran it."""

    registers: dict[str, int]
    memory: dict[int, int]
    cycles: int


class Slot:
    """PyBoy running one instruction after another in a slot of its memory, inside one `tick`.

    The slot ends with a jump to BACK, where a hook reads the outcome and writes the next case.
    """

    def __init__(self) -> None:
        rom = cartridge("org $100\njp start\norg $150\nstart: di\nxor a\nldh [$FF], a\njr here")
        self.boy = switch_on(rom.data)
        self.boy.tick(66, False, False)
        self.boy.memory[BACK : BACK + 3] = list(assemble(f"jp {SLOT}").data)
        self.cases: Iterator[Case] = iter(())
        self.case: Case | None = None
        self.outcomes: list[Outcome] = []
        self.began = 0
        self.boy.hook_register(0, BACK, self._hook, None)
        self.boy.register_file.PC = BACK
        nop = next(op for op in OPS if op.mnemonic == "nop")
        idle = Case(nop, b"\0", Machine(dict.fromkeys("afbcdehl", 0) | {"sp": STACK}, {}), 0)
        self.overhead = 0
        self.overhead = self.run([idle])[0].cycles - nop.cycles

    def run(self, cases: list[Case]) -> list[Outcome]:
        self.cases, self.case, self.outcomes = iter(cases), None, []
        for _ in range(1000):
            self.boy.tick(1, False, False)
            if len(self.outcomes) == len(cases):
                return self.outcomes
        ran = len(self.outcomes)
        raise AssertionError(f"after {ran} cases: {cases[ran]} did not come back")

    def _hook(self, _: None) -> None:
        file, memory = self.boy.register_file, self.boy.memory
        if self.case:
            pairs = {"h": file.HL >> 8, "l": file.HL & 0xFF, "sp": file.SP}
            singles = {name.lower(): getattr(file, name) for name in "AFBCDE"}
            after = {place: memory[place] for place in self.case.before.memory}
            spent = self.boy._cycles() - self.began - self.overhead
            self.outcomes.append(Outcome(singles | pairs, after, spent))
        self.case = next(self.cases, None)
        # After the last, the slot is empty: the rest of the frame must not run it again.
        code = (self.case.code if self.case else b"") + assemble(f"jp {BACK}").data
        memory[SLOT : SLOT + len(code)] = list(code)
        if self.case:
            before = self.case.before
            for place, byte in before.memory.items():
                memory[place] = byte
            for name in "AFBCDE":
                setattr(file, name, before.registers[name.lower()])
            file.HL, file.SP = before.word("hl"), before.registers["sp"]
            self.began = self.boy._cycles()


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    slot = Slot()
    yield slot
    slot.boy.stop(save=False)


def case(op: Op, rng: np.random.Generator) -> Case:
    """Random registers; addresses are kept to WRAM and high RAM."""
    r = {name: int(rng.integers(256)) for name in "abcdehl"}
    r |= {"f": int(rng.integers(16)) << 4, "sp": STACK + int(rng.integers(0, 256, dtype=int))}
    value = int(rng.integers(0x10000))
    if op.immediate == "[n16]":
        value = DATA + value % 254
    if op.immediate == "[n8]":
        value = 0x80 + value % 0x7F
    for operand in op.operands:
        if operand.startswith("[") and operand[1:3] in ("bc", "de", "hl"):
            high, low = operand[1:3]
            r[high], r[low] = DATA >> 8, r[low] % 255
        if operand == "[c]":
            r["c"] = 0x80 + r["c"] % 0x7F
    machine = Machine(r, {})
    places = {r["sp"] + offset for offset in (-2, -1, 0, 1)}
    places |= {machine.word(pair) for pair in ("bc", "de", "hl") if machine.word(pair) >> 8 == 0xC1}
    places |= {value, value + 1} if op.immediate == "[n16]" else set()
    places |= {0xFF00 + value} if op.immediate == "[n8]" else set()
    places |= {0xFF00 + r["c"]} if "[c]" in op.operands else set()
    machine.memory.update({place: int(rng.integers(256)) for place in places})
    return Case(op, assemble(spelt(op, value), at=SLOT).data, machine, value)


def test_what_every_instruction_does_is_what_its_name_says(slot):
    rng = np.random.default_rng(5)
    ops = [op for op in OPS if op.mnemonic not in CONTROL]
    cases = [case(op, rng) for op in ops for _ in range(20)]
    wrong = {}
    for each, got in zip(cases, slot.run(cases), strict=True):
        before = Machine(dict(each.before.registers), dict(each.before.memory))
        want = Machine(dict(before.registers), dict(before.memory))
        compute(each.op, want, each.value)
        expected = Outcome(want.registers, want.memory, each.op.cycles)
        if got != expected:
            wrong[str(each.op)] = (before, expected, got)
    assert not wrong
    assert len(ops) == 500 - 34


BRANCHES = [op for op in OPS if op.mnemonic in ("jp", "jr", "call", "ret", "reti")]


@pytest.mark.parametrize("op", BRANCHES, ids=str)
def test_branches_take_the_cycles_of_the_table(slot, op):
    rng = np.random.default_rng(6)
    condition = op.operands[0] if op.operands and op.operands[0] in CONDITIONS else ""
    text = f"{op.mnemonic} {', '.join(op.operands)}".replace("r8", "n16").replace("n16", str(BACK))
    back = list(BACK.to_bytes(2, "little"))
    cases, taken = [], []
    for flags in range(16):
        machine = case(op, rng).before
        machine.registers["f"] = flags << 4
        stack = machine.registers["sp"]
        machine.memory.update({stack: back[0], stack + 1: back[1]})
        if op.operands == ("hl",):
            machine.set_word("hl", BACK)
        cases.append(Case(op, assemble(text, at=SLOT).data, machine, 0))
        zero, carry = flags >> 3 & 1, flags & 1
        taken.append({"": 1, "nz": not zero, "z": zero, "nc": not carry, "c": carry}[condition])
    moved = {"call": -2, "ret": 2, "reti": 2}.get(op.mnemonic, 0)
    for each, jumps, got in zip(cases, taken, slot.run(cases), strict=True):
        # A branch that is taken goes straight BACK, without the slot's own jump of 16 cycles.
        assert got.cycles == (op.taken - 16 if jumps else op.cycles)
        stack = each.before.registers["sp"] + (moved if jumps else 0)
        assert got.registers == each.before.registers | {"sp": stack}
        if jumps and op.mnemonic == "call":
            assert got.memory[stack] | got.memory[stack + 1] << 8 == SLOT + 3


@pytest.mark.parametrize("op", [op for op in OPS if op.mnemonic in ("di", "ei", "stop")], ids=str)
def test_the_switches_take_the_cycles_of_the_table(slot, op):
    each = case(op, np.random.default_rng(7))
    (got,) = slot.run([each])
    assert (got.registers, got.cycles) == (each.before.registers, op.cycles)


def test_restarts_go_where_they_say():
    """Each restart address adds its own bit to d, and the stack shows that all returned."""
    rsts = [op for op in OPS if op.mnemonic == "rst"]
    vectors = "\n".join(f"org {op.operands[0]}\nset {i}, d\nret" for i, op in enumerate(rsts))
    for missing in range(8):
        calls = "\n".join(str(op) for i, op in enumerate(rsts) if i != missing)
        rom = cartridge(
            f"{vectors}\norg $100\njp start\norg $150\n"
            f"start: di\nld sp, {STACK}\nld d, 0\n{calls}\nld a, d\nld [{DATA}], a\njr here"
        )
        boy = switch_on(rom.data)
        boy.memory[0xFF50] = 1
        boy.register_file.PC = 0x100
        boy.tick(1, False, False)
        assert (boy.memory[DATA], boy.register_file.SP) == (0xFF ^ 1 << missing, STACK)
        boy.stop(save=False)
