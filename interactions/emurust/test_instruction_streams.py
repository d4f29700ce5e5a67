"""Level 2: streams of instructions that Hypothesis thinks up, and shrinks to the shortest."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twinstep.contracts.roms.opcodes import OPS
from twinstep.properties.emurust import console
from twinstep.properties.emurust.program import Program
from twinstep.properties.emurust.scripts import counting_handlers

pytestmark = [pytest.mark.level2, pytest.mark.environment("emurust"), pytest.mark.one_variant]

#: A jump to drawn places would leave the program, and so would a return behind a moved stack.
LEAVING = ("jp", "call", "ret", "reti", "stop")
STEADY = [op for op in OPS if op.mnemonic not in LEAVING and op.operands[:1] != ("sp",)]
#: VRAM, OAM, hardware registers and HRAM are small beside the rest; they are drawn as often.
ADDRESSES = st.one_of(
    *(st.integers(first, last) for first, last in (
        (0xC000, 0xDFFF), (0x8000, 0x9FFF), (0xFE00, 0xFEFF), (0xFF00, 0xFFFF), (0x0000, 0xFFFF),
    ))
)  # fmt: skip
BYTES = st.integers(0, 255)


@st.composite
def _instructions(draw):
    """Return the bytes of one instruction."""
    op = draw(st.sampled_from(STEADY))
    if op.immediate in ("n16", "[n16]"):
        return op.prefix + draw(ADDRESSES).to_bytes(2, "little")
    if op.immediate == "r8":
        return op.prefix + b"\0"
    return op.prefix + bytes([draw(BYTES)] if op.immediate else [])


@settings(
    max_examples=max(10, settings.default.max_examples // 2),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    stream=st.lists(_instructions(), max_size=60),
    pointer=ADDRESSES,
    enabled=st.integers(0, 31),
    timer=st.integers(0, 7),
    status=BYTES,
)
def test_streams_that_hypothesis_finds_agree(lab, stream, pointer, enabled, timer, status):
    """Three frames of the stream, begun again at its end, with interrupts between."""
    program = counting_handlers(Program())
    program.write("TAC", timer).write("STAT", status).write("IE", enabled).code("ei")
    again = program.at
    program.word(0x31, 0xD800).word(0x21, pointer)
    for instruction in stream:
        program.emit(*instruction)
    console.play(lab, [program.jump(again).rom()], steps=[0, 5, 0])
