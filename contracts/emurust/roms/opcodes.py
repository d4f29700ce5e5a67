"""The 500 instructions of the SM83, the Game Boy's processor, computed from their encoding.

An opcode byte splits into three fields, xx yyy zzz. x names a quarter of the table; y and z name
registers, pairs, conditions or operations in the orders listed below. The second table, behind
the prefix 0xCB, is regular throughout. 11 bytes are no instruction and 0xCB is only a prefix,
which leaves 244 + 256.

Operands are written as the assembler reads them. Immediates are written as their kind:

    n8   [n8]   one byte; `ldh` adds 0xFF00
    n16  [n16]  two bytes, low byte first
    e8   sp+e8  one signed byte
    r8          one signed byte, counted from the next instruction

Bit numbers and restart addresses are part of the opcode and stand as plain numbers. Cycles are
clock cycles at 4,194,304 Hz, four to a machine cycle. The facts are those of public hardware
documentation (Pan Docs; Game Boy: Complete Technical Reference).
"""

from __future__ import annotations

from typing import NamedTuple

R8 = ("b", "c", "d", "e", "h", "l", "[hl]", "a")
R16 = ("bc", "de", "hl", "sp")
STACKED = ("bc", "de", "hl", "af")
CONDITIONS = ("nz", "z", "nc", "c")
POINTERS = ("[bc]", "[de]", "[hl+]", "[hl-]")
ACCUMULATOR = ("rlca", "rrca", "rla", "rra", "daa", "cpl", "scf", "ccf")
ARITHMETIC = ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp")
SHIFTS = ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl")

#: Bytes that are no instruction. The processor locks up; PyBoy uses 0xDB as its breakpoint.
INVALID = frozenset((0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD))
PREFIX = 0xCB

#: Mnemonics that can change the flow of control, the interrupt switch or the clock.
CONTROL = frozenset(("jp", "jr", "call", "ret", "reti", "rst", "halt", "stop", "di", "ei"))

#: Bytes that an operand adds behind the opcode.
IMMEDIATES = {"n8": 1, "[n8]": 1, "e8": 1, "sp+e8": 1, "r8": 1, "n16": 2, "[n16]": 2}


class Op(NamedTuple):
    """One instruction. `taken` is the count of cycles of a branch that is taken, else `cycles`."""

    code: int  # 0x00-0xFF, or 0xCB00 + the second byte
    mnemonic: str
    operands: tuple[str, ...]
    cycles: int
    taken: int

    @property
    def prefix(self) -> bytes:
        """Return the opcode's own bytes, one or two."""
        return bytes((PREFIX, self.code & 0xFF)) if self.code > 0xFF else bytes((self.code,))

    @property
    def length(self) -> int:
        """Return the length in bytes."""
        return len(self.prefix) + sum(IMMEDIATES.get(operand, 0) for operand in self.operands)

    @property
    def immediate(self) -> str | None:
        """Return the operand held by the bytes after the opcode. No instruction has two."""
        return next((operand for operand in self.operands if operand in IMMEDIATES), None)

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}".rstrip()


def _op(code: int, cycles: int, text: str, taken: int | None = None) -> Op:
    mnemonic, _, rest = text.partition(" ")
    operands = tuple(part.strip() for part in rest.split(",")) if rest else ()
    return Op(code, mnemonic, operands, cycles, cycles if taken is None else taken)


def _first_quarter(code: int, y: int, z: int) -> Op:
    pair, odd = R16[y >> 1], y & 1
    memory = y == 6  # the operand is [hl]
    if z == 0:
        if y < 4:
            plain = ((4, "nop"), (20, "ld [n16], sp"), (4, "stop n8"), (12, "jr r8"))
            return _op(code, *plain[y])
        return _op(code, 8, f"jr {CONDITIONS[y - 4]}, r8", taken=12)
    if z == 1:
        return _op(code, *((8, f"add hl, {pair}") if odd else (12, f"ld {pair}, n16")))
    if z == 2:
        pointer = POINTERS[y >> 1]
        return _op(code, 8, f"ld a, {pointer}" if odd else f"ld {pointer}, a")
    if z == 3:
        return _op(code, 8, f"dec {pair}" if odd else f"inc {pair}")
    if z in (4, 5):
        return _op(code, 12 if memory else 4, f"{'inc' if z == 4 else 'dec'} {R8[y]}")
    if z == 6:
        return _op(code, 12 if memory else 8, f"ld {R8[y]}, n8")
    return _op(code, 4, ACCUMULATOR[y])


def _arithmetic(y: int, operand: str) -> str:
    # `add a, b` but `sub b`: add, adc and sbc also come, or came, with other first operands.
    first = "a, " if y in (0, 1, 3) else ""
    return f"{ARITHMETIC[y]} {first}{operand}"


def _last_quarter(code: int, y: int, z: int) -> Op:
    pair, odd = STACKED[y >> 1], y & 1
    if z == 0:
        if y < 4:
            return _op(code, 8, f"ret {CONDITIONS[y]}", taken=20)
        high = ((12, "ldh [n8], a"), (16, "add sp, e8"), (12, "ldh a, [n8]"), (12, "ld hl, sp+e8"))
        return _op(code, *high[y - 4])
    if z == 1:
        plain = ((16, "ret"), (16, "reti"), (4, "jp hl"), (8, "ld sp, hl"))
        return _op(code, *(plain[y >> 1] if odd else (12, f"pop {pair}")))
    if z == 2:
        if y < 4:
            return _op(code, 12, f"jp {CONDITIONS[y]}, n16", taken=16)
        far = ((8, "ldh [c], a"), (16, "ld [n16], a"), (8, "ldh a, [c]"), (16, "ld a, [n16]"))
        return _op(code, *far[y - 4])
    if z == 3:
        return _op(code, *{0: (16, "jp n16"), 6: (4, "di"), 7: (4, "ei")}[y])
    if z == 4:
        return _op(code, 12, f"call {CONDITIONS[y]}, n16", taken=24)
    if z == 5:
        return _op(code, *((24, "call n16") if odd else (16, f"push {pair}")))
    if z == 6:
        return _op(code, 8, _arithmetic(y, "n8"))
    return _op(code, 16, f"rst {8 * y}")


def _plain(code: int) -> Op:
    x, y, z = code >> 6, code >> 3 & 7, code & 7
    memory = 6 in (y, z)
    if x == 0:
        return _first_quarter(code, y, z)
    if x == 1:
        if code == 0x76:  # where `ld [hl], [hl]` would be
            return _op(code, 4, "halt")
        return _op(code, 8 if memory else 4, f"ld {R8[y]}, {R8[z]}")
    if x == 2:
        return _op(code, 8 if z == 6 else 4, _arithmetic(y, R8[z]))
    return _last_quarter(code, y, z)


def _prefixed(second: int) -> Op:
    x, y, z = second >> 6, second >> 3 & 7, second & 7
    text = f"{SHIFTS[y]} {R8[z]}" if x == 0 else f"{('bit', 'res', 'set')[x - 1]} {y}, {R8[z]}"
    # [hl] is read and written back; `bit` only reads it.
    return _op(PREFIX << 8 | second, 8 if z != 6 else 12 if x == 1 else 16, text)


PLAIN = {code: _plain(code) for code in range(256) if code not in INVALID and code != PREFIX}
PREFIXED = {code: _prefixed(code) for code in range(256)}

#: All 500, the plain ones first.
OPS = (*PLAIN.values(), *PREFIXED.values())


def decode(data: bytes) -> Op | None:
    """Return the instruction at the start of `data`; None for an invalid byte or too few bytes."""
    op = PLAIN.get(data[0]) if data else None
    if data[:1] == bytes((PREFIX,)) and len(data) > 1:
        op = PREFIXED[data[1]]
    return op if op is not None and op.length <= len(data) else None
