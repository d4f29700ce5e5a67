"""A disassembler for reports, over the assembler's own table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .opcodes import Op, decode


class Line(NamedTuple):
    """One line of a disassembly."""

    address: int
    data: bytes
    text: str

    def __str__(self) -> str:
        return f"{self.address:04X}  {self.data.hex(' '):8}  {self.text}"


def disassemble(data: bytes, at: int = 0) -> Iterator[Line]:
    """Return lines that assemble to exactly `data` again; bytes that are no instruction as `db`.

    `at` is the address of the first byte, from which targets of `jr` are computed.
    """
    place = 0
    while place < len(data):
        op = decode(data[place : place + 3])
        address = at + place & 0xFFFF
        raw = data[place : place + (op.length if op else 1)]
        yield Line(address, raw, _text(op, raw, address) if op else f"db ${raw[0]:02X}")
        place += len(raw)


def _text(op: Op, raw: bytes, address: int) -> str:
    kind, rest = op.immediate, raw[len(op.prefix) :]
    value = int.from_bytes(rest, "little")
    signed = value - 256 if value > 127 else value
    spelt = {
        "n8": f"${value:02X}",
        "[n8]": f"[$FF{value:02X}]",
        "n16": f"${value:04X}",
        "[n16]": f"[${value:04X}]",
        "e8": str(signed),
        "sp+e8": f"sp{signed:+d}",
        "r8": f"${address + 2 + signed & 0xFFFF:04X}",
    }
    operands = [spelt[operand] if operand == kind else operand for operand in op.operands]
    return f"{op.mnemonic} {', '.join(operands)}".rstrip()
