"""The SM83's instructions for tests, computed from their names alone and not from their opcodes.

From public hardware documentation, without control flow and timing.
"""

from __future__ import annotations

from typing import NamedTuple

from twinstep.contracts.emurust.roms.opcodes import Op


class Machine(NamedTuple):
    """Registers, and the relevant bytes of memory."""

    registers: dict[str, int]  # a f b c d e h l sp
    memory: dict[int, int]

    def word(self, pair: str) -> int:
        high, low = pair
        return self.registers[high] << 8 | self.registers[low]

    def set_word(self, pair: str, value: int) -> None:
        high, low = pair
        self.registers[high], self.registers[low] = value >> 8 & 0xFF, value & 0xFF

    def flags(self, z: bool, n: bool, h: bool, c: bool) -> None:
        self.registers["f"] = z << 7 | n << 6 | h << 5 | c << 4


def compute(op: Op, machine: Machine, value: int) -> None:
    """Execute an instruction by its name, except control flow."""
    r = machine.registers
    carry, half, negative, zero = (r["f"] >> bit & 1 for bit in (4, 5, 6, 7))
    words = {"bc", "de", "hl", "af", "sp"}

    def address(operand: str) -> int:
        if operand == "[n8]":
            return 0xFF00 + value % 256
        if operand == "[n16]":
            return value % 65536
        if operand == "[c]":
            return 0xFF00 + r["c"]
        pair = operand[1:3]
        at = machine.word(pair)
        machine.set_word(pair, at + {"+": 1, "-": -1}.get(operand[3], 0))
        return at

    def read(operand: str) -> int:
        if operand in words:
            return r["sp"] if operand == "sp" else machine.word(operand)
        if operand.startswith("["):
            return machine.memory[address(operand)]
        return r[operand] if operand in r else value % (256 if operand == "n8" else 65536)

    def write(operand: str, result: int) -> None:
        if operand == "sp":
            r["sp"] = result & 0xFFFF
        elif operand in words:
            machine.set_word(operand, result)
        elif operand.startswith("["):
            machine.memory[address(operand)] = result & 0xFF
        else:
            r[operand] = result & 0xFF

    name, last = op.mnemonic, op.operands[-1] if op.operands else ""
    first = op.operands[0] if op.operands else ""
    signed = value % 256 - 128

    if name in ("ld", "ldh"):
        if last == "sp+e8" or first == "sp" and last == "e8":
            low = signed & 0xFF
            machine.flags(
                False, False, (r["sp"] & 15) + (low & 15) > 15, (r["sp"] & 255) + low > 255
            )
            write(first, r["sp"] + signed)
        elif last == "sp" and first == "[n16]":
            at = value % 65536
            machine.memory[at], machine.memory[at + 1] = r["sp"] & 0xFF, r["sp"] >> 8
        else:
            write(first, read(last))
    elif name == "add" and first == "sp":
        compute(op._replace(mnemonic="ld"), machine, value)
    elif name == "add" and first == "hl":
        a, b = read("hl"), read(last)
        machine.flags(zero, False, (a & 0xFFF) + (b & 0xFFF) > 0xFFF, a + b > 0xFFFF)
        write("hl", a + b)
    elif name in ("add", "adc"):
        a, b, extra = r["a"], read(last), carry if name == "adc" else 0
        r["a"] = a + b + extra & 0xFF
        machine.flags(not r["a"], False, (a & 15) + (b & 15) + extra > 15, a + b + extra > 255)
    elif name in ("sub", "sbc", "cp"):
        a, b, extra = r["a"], read(last), carry if name == "sbc" else 0
        result = a - b - extra
        machine.flags(not result & 0xFF, True, (a & 15) - (b & 15) - extra < 0, result < 0)
        if name != "cp":
            r["a"] = result & 0xFF
    elif name in ("and", "or", "xor"):
        a, b = r["a"], read(last)
        r["a"] = {"and": a & b, "or": a | b, "xor": a ^ b}[name]
        machine.flags(not r["a"], False, name == "and", False)
    elif name in ("inc", "dec"):
        step = 1 if name == "inc" else -1
        result = read(first) + step
        if first not in words:
            nibble = 0 if name == "inc" else 15
            machine.flags(not result & 0xFF, name == "dec", result & 15 == nibble, bool(carry))
        write(first, result)
    elif name in ("rlca", "rrca", "rla", "rra"):
        compute(op._replace(mnemonic=name[:-1], operands=("a",)), machine, value)
        r["f"] &= 0x7F
    elif name in ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl"):
        a = read(first)
        left = name in ("rlc", "rl", "sla")
        out = a >> 7 if left else a & 1
        into = {"rlc": out, "rrc": out, "rl": carry, "rr": carry, "sra": a >> 7}.get(name, 0)
        result = (a << 1 | into) & 0xFF if left else a >> 1 | into << 7
        if name == "swap":
            result, out = (a << 4 | a >> 4) & 0xFF, 0
        write(first, result)
        machine.flags(not result, False, False, bool(out))
    elif name == "bit":
        machine.flags(not read(last) >> int(first) & 1, False, True, bool(carry))
    elif name in ("res", "set"):
        a, mask = read(last), 1 << int(first)
        write(last, a & ~mask if name == "res" else a | mask)
    elif name == "cpl":
        r["a"] ^= 0xFF
        machine.flags(zero, True, True, carry)
    elif name in ("scf", "ccf"):
        machine.flags(zero, False, False, not carry if name == "ccf" else True)
    elif name == "daa":
        fix = 6 if half or not negative and r["a"] & 15 > 9 else 0
        over = carry or not negative and r["a"] > 0x99
        fix += 0x60 if over else 0
        r["a"] = r["a"] + (-fix if negative else fix) & 0xFF
        machine.flags(not r["a"], negative, False, over)
    elif name == "push":
        pushed = read(first)
        r["sp"] -= 2
        machine.memory[r["sp"]], machine.memory[r["sp"] + 1] = pushed & 0xFF, pushed >> 8
    elif name == "pop":
        popped = machine.memory[r["sp"]] | machine.memory[r["sp"] + 1] << 8
        write(first, popped & 0xFFF0 if first == "af" else popped)
        r["sp"] += 2
    else:
        assert name == "nop", name
