"""Single instructions from random registers, one after the other, and their effects.

A case loads the registers, runs one instruction, and stores the registers, the stack pointer and
the timer's count, which shows the total time of all cases so far.
"""

from __future__ import annotations

import numpy as np

from twinstep.contracts.emurust.roms.opcodes import OPS, Op

#: Instructions that sleep, HALT and STOP, are tested elsewhere.
CASES = [op for op in OPS if op.code not in (0x76, 0x10)]
#: A ring of results, 12 bytes each; instructions write to other places.
RESULTS, ROUND, RESULT = 0xC000, 330, 12
_LOW_BYTES = (0x05, 0x06, 0x42, 0x43, 0x47, 0x48, 0x49, 0x4A, 0x4B)


#: Areas for pointers, by the name that `Writer` takes: first address, length.
_AREAS = {
    "rom": (0x4000, 0x4000), "vram": (0x8000, 0x1FFE), "oam": (0xFE00, 0xFE),
    "hram": (0xFF80, 0x7E), "echo": (0xF000, 0x800),
}  # fmt: skip
_WRAM = (0xD000, 0x800)


class Writer:
    """Write cases one after the other to run at `base`. away: an area without pointers."""

    def __init__(self, base: int, rng: np.random.Generator, away: tuple[str, ...] = ()) -> None:
        self.base, self.rng, self.away = base, rng, away
        self.data = bytearray()
        self._count = 0

    @property
    def here(self) -> int:
        """Return the place of the next byte."""
        return self.base + len(self.data)

    def emit(self, *data: int) -> None:
        """Write bytes."""
        self.data += bytes(byte & 0xFF for byte in data)

    def word(self, opcode: int, value: int) -> None:
        """Write an opcode and two bytes, the lower one first."""
        self.emit(opcode, value, value >> 8)

    def below(self, end: int) -> int:
        """Return a random number."""
        return int(self.rng.integers(end))

    def pointer(self) -> int:
        """Return an address that may be written to; the LCD may block it."""
        area = str(self.rng.choice((*_AREAS, "vram", *("wram",) * 9)))
        first, count = _WRAM if area in self.away else _AREAS.get(area, _WRAM)
        return first + self.below(count)

    def case(self, op: Op) -> None:
        """Write one case."""
        af, bc, de, hl = (self.below(1 << 16) for _ in range(4))
        stack = 0xD802 + self.below(0x600)
        text = " ".join(op.operands)
        if "[bc]" in text:
            bc = self.pointer()
        if "[de]" in text:
            de = self.pointer()
        if "[hl" in text:
            hl = self.pointer()
        if "[c]" in text:
            bc = bc & 0xFF00 | self._low()
        operand = self._operand(op)
        start = self.here
        self.word(0x31, stack + 2)
        behind = start + 24 + op.length
        # On the stack: a return address, or anything.
        returns = op.mnemonic in ("ret", "reti")
        self.word(0x21, behind + 1 if returns else self.below(1 << 16))
        self.emit(0xE5)
        self.word(0x01, af & 0xFFF0)
        self.emit(0xC5, 0xF1)
        self.word(0x31, stack)
        self.word(0x01, bc)
        self.word(0x11, de)
        if op.mnemonic == "jp" and op.operands == ("hl",):
            hl = behind + 1
        self.word(0x21, hl)
        if op.mnemonic in ("jp", "call") and op.operands != ("hl",):
            operand = (behind + 1).to_bytes(2, "little")
        self.emit(*op.prefix, *operand)
        assert self.here == behind
        self.emit(0x0C)  # inc c: jumped over, or not
        self._store()

    def back(self, op: Op) -> None:
        """Write a relative jump backwards."""
        self.word(0x01, self.below(1 << 16) & 0xFFF0)
        self.emit(0xC5, 0xF1, 0x18, 0x03)  # push bc; pop af; jr to the jump
        self.emit(0x0C, 0x18, 0x03)  # the target
        self.emit(*op.prefix, 0xFB, 0x04)
        self._store()

    def _low(self) -> int:
        hram = () if "hram" in self.away else (0x80 + self.below(0x7F),) * 6
        return int(self.rng.choice((*_LOW_BYTES, *hram)))

    def _operand(self, op: Op) -> bytes:
        kind = op.immediate
        if kind is None:
            return b""
        if kind == "[n8]":
            return bytes((self._low(),))
        if kind in ("n16", "[n16]"):
            value = self.pointer() if kind == "[n16]" else self.below(1 << 16)
            return value.to_bytes(2, "little")
        return bytes((1 if kind == "r8" else self.below(256),))

    def _store(self) -> None:
        place = RESULTS + RESULT * (self._count % ROUND)
        self._count += 1
        self.word(0x08, place)  # ld [place], sp
        self.word(0x31, place + 10)
        self.emit(0xF5, 0xC5, 0xD5, 0xE5)
        self.emit(0xF0, 0x05)  # ldh a, [TIMA]
        self.word(0xEA, place + 10)
