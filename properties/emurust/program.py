"""Writer for the cartridges of these tests: programs of some lines, or of thousands by a loop."""

from __future__ import annotations

import functools

from twinstep.contracts.emurust.roms.assembler import assemble
from twinstep.contracts.emurust.roms.library import HARDWARE

START = 0x150
#: Length of the code written by `copy`.
COPY = 17
BANK = 0x4000
#: Hardware registers by name, and addresses for programs' data.
CONSTANTS = HARDWARE | {"SB": 0xFF01, "SC": 0xFF02, "WRAM": 0xC000, "HRAM": 0xFF80, "OAM": 0xFE00}
VBLANK, STAT, TIMER, SERIAL, JOYPAD = (1 << bit for bit in range(5))


@functools.lru_cache(65536)
def _assembled(text: str, at: int) -> bytes:
    return assemble(text, at=at, constants=CONSTANTS).data


class Program:
    """A cartridge being written: code continues at `at`.

    The restarts hold `ret`, the interrupts' vectors `reti`, until other code is put there.
    """

    def __init__(self, kind: int = 0, banks: int = 2, ram: int = 0) -> None:
        self.data = bytearray(banks * BANK)
        self.data[0x100:0x104] = (0x00, 0xC3, START & 0xFF, START >> 8)
        for vector in range(0, 0x40, 8):
            self.data[vector] = 0xC9
        for vector in range(0x40, 0x68, 8):
            self.data[vector] = 0xD9
        self.data[0x147:0x14A] = (kind, banks.bit_length() - 2, ram)
        self.at = START

    def emit(self, *data: int) -> Program:
        """Write bytes."""
        self.data[self.at : self.at + len(data)] = bytes(byte & 0xFF for byte in data)
        self.at += len(data)
        assert self.at <= 2 * BANK, "the program is too long"
        return self

    def word(self, opcode: int, value: int) -> Program:
        """Write an opcode and two bytes, the lower one first."""
        return self.emit(opcode, value, value >> 8)

    def code(self, text: str) -> Program:
        """Write assembled lines; `;` separates nothing, lines do."""
        # If no address of this place is used, one assembly serves everywhere.
        local = ":" in text or "here" in text
        return self.emit(*_assembled(text, self.at if local else 0))

    def put(self, address: int, data: bytes | bytearray | str) -> Program:
        """Write bytes, or assembled lines, at an address of bank 0 or 1."""
        if isinstance(data, str):
            data = _assembled(data, address)
        self.data[address : address + len(data)] = data
        return self

    def wait(self, cycles: int) -> Program:
        """Write a delay of so many cycles (a multiple of 4) that changes register B and flags.

        Below 48 cycles nothing is changed.
        """
        assert cycles >= 0
        assert cycles % 4 == 0
        if cycles >= 48:
            # ld b, n: 8; dec b, jr nz: 16 a round, but 12 in the last.
            rounds = min((cycles - 4) // 16, 256)
            self.emit(0x06, rounds, 0x05, 0x20, 0xFD)
            return self.wait(cycles - 4 - 16 * rounds)
        return self.emit(*(0x00,) * (cycles // 4))

    def write(self, register: str | int, value: int) -> Program:
        """Write `ld a, value` and `ldh [register], a`: 20 cycles."""
        low = CONSTANTS[register] if isinstance(register, str) else register
        return self.emit(0x3E, value, 0xE0, low & 0xFF)

    def read(self, register: str | int) -> Program:
        """Write `ldh a, [register]` and `ld [hl+], a`: 20 cycles."""
        low = CONSTANTS[register] if isinstance(register, str) else register
        return self.emit(0xF0, low & 0xFF, 0x22)

    def jump(self, address: int) -> Program:
        """Write `jp address`."""
        return self.word(0xC3, address)

    def rest(self) -> Program:
        """Write an endless loop."""
        return self.emit(0x18, 0xFE)

    def mark(self, address: int = 0xDFFF, value: int = 0x5A) -> Program:
        """Write code that stores a byte to show that the program came this far."""
        return self.emit(0x3E, value).word(0xEA, address)

    def rom(self) -> bytes:
        """Return the cartridge with its header's checksum."""
        made = bytearray(self.data)
        made[0x14D] = -sum(byte + 1 for byte in made[0x134:0x14D]) & 0xFF
        return bytes(made)


def off(program: Program) -> Program:
    """Write code that switches the LCD off as games do, in the vertical blank."""
    return program.code("lcd_off:\nldh a, [LY]\ncp 145\njr c, lcd_off\nxor a\nldh [LCDC], a")


def copy(program: Program, source: int, target: int, count: int) -> Program:
    """Write a loop that copies `count` bytes; all registers are used."""
    assert count
    program.word(0x21, source).word(0x11, target).word(0x01, count)
    return program.code(
        "copying:\nld a, [hl+]\nld [de], a\ninc de\ndec bc\nld a, b\nor c\njr nz, copying"
    )
