"""Random programs: cartridges of valid instructions that exercise the whole machine.

A program is a loop of some hundred short pieces, each drawn from one of the kinds below. Registers,
memory and the hardware's registers may hold anything. Only the flow of control is constrained: no
return address is overwritten, and only bytes written as code are executed, because PyBoy's tick
never returns from the eleven bytes that are no instruction.

Code that writes through a pointer sets the pointer first. The stack and the code in RAM lie out of
reach of such writes. The stack pointer visits other places only while interrupts are off.
"""

from __future__ import annotations

from collections.abc import Callable

STACK = 0xDFF0  # the page below is the stack's
RAM_CODE = (0xDE90, 0xFFF0)  # `ld a, n; ret`, in WRAM and in HRAM
SIZE = 0x8000
_FIRST, _LAST = 0x0200, 0x7F00
_SUBROUTINES, _PIECES = 12, 400
_WORD = 0xFFFF_FFFF_FFFF_FFFF

#: Memory that pieces read and write: first and last address.
_AREAS = (
    (0x0000, 0x7FFF), (0x8000, 0x9FFF), (0xA000, 0xBFFF), (0xC000, 0xDE7F), (0xE000, 0xFDFF),
    (0xFE00, 0xFEFF), (0xFF00, 0xFF7F), (0xFF80, 0xFFEE),
)  # fmt: skip
#: Hardware registers by their low byte; those that matter most come more than once.
_HARDWARE = (
    0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x0F, 0x0F, 0x40, 0x40, 0x41, 0x41, 0x42, 0x43, 0x43,
    0x44, 0x45, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x4A, 0x4B, 0x4B, 0xFF,
)  # fmt: skip
_IE, _IF, _TAC, _LCDC = 0xFF, 0x0F, 0x07, 0x40


class _Draw:
    """Pseudo-random numbers of a seed, the same on every machine (splitmix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def below(self, count: int) -> int:
        self._state = self._state + 0x9E3779B97F4A7C15 & _WORD
        x = self._state
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
        return ((x ^ x >> 31) >> 11) % count

    def one(self, *values: int) -> int:
        return values[self.below(len(values))]


class _Program:
    """A cartridge being written, byte after byte."""

    def __init__(self, seed: int) -> None:
        self.rom = bytearray(SIZE)
        self.draw = _Draw(seed)
        self.at = _FIRST
        self.subroutines: list[int] = []

    def emit(self, *data: int) -> None:
        """Write bytes."""
        self.rom[self.at : self.at + len(data)] = bytes(byte & 0xFF for byte in data)
        self.at += len(data)

    def word(self, opcode: int, value: int) -> None:
        """Write an opcode with two bytes behind it."""
        self.emit(opcode, value, value >> 8)

    def address(self) -> int:
        """Return an address that may be written to."""
        draw = self.draw
        first, last = _AREAS[draw.below(len(_AREAS))]
        if first == 0xFF00:
            return 0xFF00 | draw.one(*_HARDWARE)
        return first + draw.below(last - first + 1)

    def calculate(self, count: int, keep: int = -1) -> None:
        """Write instructions that use registers only. keep: a register that none of them changes.

        Registers are numbered as in opcodes: b c d e h l [hl] a.
        """
        draw = self.draw
        for _ in range(count):
            target = draw.one(*(r for r in (0, 1, 2, 3, 4, 5, 7) if r != keep))
            source = draw.one(0, 1, 2, 3, 4, 5, 7)
            kind = draw.below(8)
            if kind == 0:
                self.emit(0x40 | target << 3 | source)  # ld r, r
            elif kind == 1:
                self.emit(0x06 | target << 3, draw.below(256))  # ld r, n
            elif kind == 2:
                self.emit(0x04 | target << 3 | draw.below(2))  # inc, dec
            elif kind == 3:
                self.emit(0x80 | draw.below(64) & 0x38 | source)  # add .. cp a, r
            elif kind == 4:
                self.emit(0xC6 | draw.below(64) & 0x38, draw.below(256))  # add .. cp a, n
            elif kind == 5:
                self.emit(0xCB, draw.below(256) & 0xF8 | target)  # shifts and bits
            elif kind == 6:
                self.emit(draw.one(0x07, 0x0F, 0x17, 0x1F, 0x27, 0x2F, 0x37, 0x3F))
            elif keep < 0:  # add hl, rr; inc, dec rr
                self.emit(draw.one(0x09, 0x19, 0x29, 0x39, 0x03, 0x13, 0x23, 0x0B, 0x1B, 0x2B))


def _registers(p: _Program) -> None:
    p.calculate(1 + p.draw.below(6))


def _through_hl(p: _Program) -> None:
    p.word(0x21, p.address())
    for _ in range(1 + p.draw.below(3)):
        kind, register = p.draw.below(7), p.draw.one(0, 1, 2, 3, 7)
        if kind == 0:
            p.emit(0x70 | register)  # ld [hl], r
        elif kind == 1:
            p.emit(0x46 | register << 3)  # ld r, [hl]
        elif kind == 2:
            p.emit(0x34 | p.draw.below(2))  # inc, dec [hl]
        elif kind == 3:
            p.emit(0x36, p.draw.below(256))  # ld [hl], n
        elif kind == 4:
            p.emit(0x86 | p.draw.below(64) & 0x38)  # add .. cp a, [hl]
        elif kind == 5:
            p.emit(0xCB, p.draw.below(256) & 0xF8 | 6)
        else:
            p.emit(p.draw.one(0x22, 0x2A, 0x32, 0x3A))  # ld with hl+, hl-
            p.word(0x21, p.address())


def _through_others(p: _Program) -> None:
    kind = p.draw.below(5)
    if kind < 2:
        p.word((0x01, 0x11)[kind], p.address())  # ld bc, de
        p.emit((0x02, 0x12)[kind] | p.draw.one(0x00, 0x08))  # ld [rr], a; ld a, [rr]
    elif kind == 2:
        p.word(p.draw.one(0xEA, 0xFA), p.address())  # ld [nn], a; ld a, [nn]
    elif kind == 3:
        p.word(0x08, p.address())  # ld [nn], sp
    else:
        p.emit(0x0E, p.draw.one(*_HARDWARE), p.draw.one(0xE2, 0xF2))  # ld c, n; ldh with [c]


def _hardware(p: _Program) -> None:
    for _ in range(1 + p.draw.below(3)):
        register = p.draw.one(*_HARDWARE)
        if p.draw.below(3) == 0:
            p.emit(0xF0, register)
        else:
            value = p.draw.below(256)
            if register == _LCDC and p.draw.below(8):
                value |= 0x80  # the LCD is mostly on
            p.emit(0x3E, value, 0xE0, register)


def _sprites(p: _Program) -> None:
    """Write a row of sprites and tile data, so that there is something to see."""
    p.word(0x21, p.draw.one(0xFE00, 0x8000, 0x8800, 0x9800, 0x9C00) + 4 * p.draw.below(40))
    p.emit(0x06, 4 + p.draw.below(60))  # ld b, count
    p.emit(0x3E, p.draw.below(256))
    p.emit(0x22, 0xC6, p.draw.below(256), 0x05, 0x20, 0xFA)  # ld [hl+], a; add n; dec b; jr nz


def _forward(p: _Program) -> None:
    """Write a jump over instructions, taken or not."""
    opcode = p.draw.one(0x18, 0x20, 0x28, 0x30, 0x38)
    p.emit(opcode, 0)
    start = p.at
    p.calculate(p.draw.below(5))
    p.rom[start - 1] = p.at - start
    p.word(p.draw.one(0xC2, 0xC3, 0xCA, 0xD2, 0xDA), p.at + 4)  # jp to behind the next
    p.emit(0x00)
    p.word(0x21, p.at + 4)
    p.emit(0xE9)  # jp hl, to behind it


def _loop(p: _Program) -> None:
    p.emit(0x06, 1 + p.draw.one(p.draw.below(8), p.draw.below(200)))
    start = p.at
    p.calculate(1 + p.draw.below(5), keep=0)
    p.emit(0x05, 0x20, start - p.at - 3)


def _call(p: _Program) -> None:
    kind = p.draw.below(8)
    if kind == 0:
        p.emit(0xC7 | p.draw.below(8) << 3)  # rst
    elif kind == 1:
        where = p.draw.one(*RAM_CODE)
        p.word(0xEA, where + 1)  # changes the code's operand
        p.word(0xCD, where)
    else:
        p.word(p.draw.one(0xCD, 0xC4, 0xCC, 0xD4, 0xDC), p.draw.one(*p.subroutines))


def _pushed(p: _Program) -> None:
    p.emit(0xC5 | p.draw.below(4) << 4)
    p.calculate(p.draw.below(3))
    p.emit(0xC1 | p.draw.below(4) << 4)


def _stack_elsewhere(p: _Program) -> None:
    """Move the stack pointer anywhere, hardware registers included; interrupts are off."""
    p.emit(0xF3)
    p.word(0x31, p.address())
    for _ in range(1 + p.draw.below(3)):
        kind = p.draw.below(4)
        if kind < 2:
            p.emit((0xC5, 0xC1)[kind] | p.draw.below(4) << 4)
        elif kind == 2:
            p.emit(p.draw.one(0xE8, 0xF8), p.draw.below(256))  # add sp, e; ld hl, sp+e
            p.word(0x31, p.address())
        else:
            p.word(0x21, p.address())
            p.emit(0xF9, p.draw.one(0x33, 0x3B))  # ld sp, hl; inc, dec sp
            p.word(0x31, p.address())
    p.word(0x31, STACK)


def _interrupts(p: _Program) -> None:
    kind = p.draw.below(4)
    if kind == 0:
        p.emit(p.draw.one(0xF3, 0xFB))
    elif kind == 1:
        p.emit(0x3E, p.draw.below(32), 0xE0, _IE, 0xFB)
    elif kind == 2:
        p.emit(0x3E, p.draw.below(32), 0xE0, _IF)
    else:
        p.emit(0x10, 0x00)  # stop


def _halt(p: _Program) -> None:
    """Write a HALT; the timer wakes it, whatever else may."""
    p.emit(p.draw.one(0xF3, 0xFB, 0x00))
    p.emit(0x3E, 4 + p.draw.below(4), 0xE0, _TAC)
    p.emit(0x3E, 4 | p.draw.below(32), 0xE0, _IE)
    p.emit(*(0xFB,) * p.draw.below(2), 0x76)


_KINDS: tuple[Callable[[_Program], None], ...] = (
    _registers, _registers, _through_hl, _through_hl, _through_others, _hardware, _hardware,
    _sprites, _forward, _loop, _call, _pushed, _stack_elsewhere, _interrupts, _halt,
)  # fmt: skip
#: The body of an interrupt's routine: nothing that may keep the timer from waking a HALT.
_CALM = (_registers, _pushed, _forward)


def random_program(seed: int) -> bytes:
    """Return a cartridge of 32 KB without a mapper; the same for the same seed."""
    p = _Program(seed)
    for vector in range(0, 0x40, 8):
        p.rom[vector] = 0xC9
    for vector in range(0x40, 0x68, 8):
        p.rom[vector : vector + 3] = (0xC3, p.at & 0xFF, p.at >> 8)
        p.emit(0xF5, 0xC5, 0xD5, 0xE5)
        _some(p, _CALM, 3)
        p.emit(0xE1, 0xD1, 0xC1, 0xF1, 0xD9)
    for _ in range(_SUBROUTINES):
        start = p.at
        _some(p, (*_CALM, _through_hl, _through_others, _hardware), 4)
        p.emit(p.draw.one(0xC0, 0xC8, 0xD0, 0xD8), 0xC9)
        p.subroutines.append(start)
    p.rom[0x100:0x104] = (0x00, 0xC3, p.at & 0xFF, p.at >> 8)
    p.word(0x31, STACK)
    for place in RAM_CODE:
        p.word(0x21, place)
        for byte in (0x3E, p.draw.below(256), 0xC9):
            p.emit(0x36, byte, 0x23)
    again = p.at
    for _ in range(_PIECES):
        if p.at < _LAST:
            _KINDS[p.draw.below(len(_KINDS))](p)
    p.word(0xC3, again)
    for place in range(p.at, SIZE):
        p.rom[place] = p.draw.below(256)  # tiles to copy
    p.rom[0x147:0x14D] = bytes(6)
    p.rom[0x14D] = -sum(byte + 1 for byte in p.rom[0x134:0x14D]) & 0xFF
    return bytes(p.rom)


def _some(p: _Program, kinds: tuple[Callable[[_Program], None], ...], most: int) -> None:
    for _ in range(1 + p.draw.below(most)):
        kinds[p.draw.below(len(kinds))](p)
