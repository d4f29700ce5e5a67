"""Level 2: streams of instructions that Hypothesis generates, and shrinks to the shortest."""

from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinstep.contracts.emurust.roms.opcodes import OPS, Op
from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import counting_handlers

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: A jump to drawn places would leave the program, and so would a return after the stack has moved.
LEAVING = ("jp", "call", "ret", "reti", "stop")
STEADY: dict[str, list[Op]] = {}
for _op in OPS:
    if _op.mnemonic not in LEAVING and _op.operands[:1] != ("sp",):
        STEADY.setdefault(_op.mnemonic, []).append(_op)
#: Played in one example. Hypothesis draws short lists by default; instructions that a failure does
#: not need become `nop`.
PROGRAMS, SHORTEST, LONGEST = 8, 24, 60
#: VRAM, OAM, hardware registers and HRAM are small compared with the rest; they are drawn as often.
ADDRESSES = st.one_of(
    *(st.integers(first, last) for first, last in (
        (0xC000, 0xDFFF), (0x8000, 0x9FFF), (0xFE00, 0xFEFF), (0xFF00, 0xFFFF), (0x0000, 0xFFFF),
    ))
)  # fmt: skip
BYTES = st.integers(0, 255)


@st.composite
def _instructions(draw):
    """Return the bytes of one instruction."""
    op = draw(st.sampled_from(STEADY[draw(st.sampled_from(list(STEADY)))]))
    if op.immediate in ("n16", "[n16]"):
        return op.prefix + draw(ADDRESSES).to_bytes(2, "little")
    if op.immediate == "r8":
        return op.prefix + b"\0"
    return op.prefix + bytes([draw(BYTES)] if op.immediate else [])


class Stream(NamedTuple):
    """Instructions that are started again at their end, with interrupts between."""

    tac: int
    stat: int
    ie: int
    hl: int
    code: bytes

    def rom(self) -> bytes:
        """Return the cartridge."""
        program = counting_handlers(Program())
        program.write("TAC", self.tac).write("STAT", self.stat).write("IE", self.ie).code("ei")
        again = program.at
        program.word(0x31, 0xD800).word(0x21, self.hl).emit(*self.code)
        return program.jump(again).rom()


_CODE = st.lists(_instructions(), min_size=SHORTEST, max_size=LONGEST).map(b"".join)
STREAMS = st.builds(
    Stream, tac=st.integers(0, 7), stat=BYTES, ie=st.integers(0, 31), hl=ADDRESSES, code=_CODE
)


@settings(
    max_examples=max(10, settings.default.max_examples // 2),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(streams=st.lists(STREAMS, min_size=1, max_size=PROGRAMS))
def test_streams_that_hypothesis_finds_agree(twinstep_lab, streams):
    """Three frames of each; the report has the simplest that differs."""
    console.play(twinstep_lab, [stream.rom() for stream in streams], steps=[0, 5, 0])
