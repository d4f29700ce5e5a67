"""The contents of a cartridge's header, and the supported cartridges. Data only.

Facts about PyBoy 2.8.1, measured:
* Every cartridge has RAM: a code of 0, 1 or 2 at $149 still gives one bank of 8 KB.
* A saved state keeps 8 bits of the ROM bank: of an MBC5 with more than 256 banks it loses the 9th.
  Such cartridges are refused. So are those with a clock, which runs by wall time.
"""

from __future__ import annotations

from dataclasses import dataclass

from twinstep.errors import UserError

BANK = 0x4000
RAM_BANK = 0x2000
#: Largest ROM, see above.
MOST_BANKS = 256

#: Cartridge type at $147 -> the mapper's name.
MAPPERS = {
    0x00: "none", 0x08: "none", 0x09: "none",
    0x01: "mbc1", 0x02: "mbc1", 0x03: "mbc1",
    0x05: "mbc2", 0x06: "mbc2",
    0x11: "mbc3", 0x12: "mbc3", 0x13: "mbc3",
    0x19: "mbc5", 0x1A: "mbc5", 0x1B: "mbc5",
    0x1C: "mbc5", 0x1D: "mbc5", 0x1E: "mbc5",
}  # fmt: skip
#: Types of MAPPERS with a motor.
RUMBLE = (0x1C, 0x1D, 0x1E)
#: Code at $149 -> banks of RAM that PyBoy gives.
RAM_BANKS = {0: 1, 1: 1, 2: 1, 3: 4, 4: 16, 5: 8}


@dataclass(frozen=True)
class Cartridge:
    """A header. kind: the byte at $147. ram_size: bytes in all banks."""

    kind: int
    rom_banks: int
    ram_size: int

    @property
    def mapper(self) -> str:
        """One of none, mbc1, mbc2, mbc3, mbc5."""
        return MAPPERS[self.kind]

    @property
    def rumble(self) -> bool:
        """Whether there is a motor."""
        return self.kind in RUMBLE


def read_header(rom: bytes, name: str = "the ROM") -> Cartridge:
    """Return what a ROM's header says; UserError in one line if it cannot be played here."""
    if len(rom) < 2 * BANK or len(rom) % BANK:
        raise UserError(
            f"{name}: {len(rom)} bytes; a Game Boy ROM is 32 KB, or more in steps of 16 KB"
        )
    if -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF != rom[0x14D]:
        raise UserError(f"{name}: the header's checksum at $14D is wrong")
    kind, ram_code = rom[0x147], rom[0x149]
    if kind in (0x0F, 0x10):
        raise UserError(f"{name}: cartridge type ${kind:02X} has a clock, which runs by wall time")
    if kind not in MAPPERS:
        raise UserError(f"{name}: cartridge type ${kind:02X} is not supported")
    if ram_code not in RAM_BANKS:
        raise UserError(f"{name}: RAM size ${ram_code:02X} is not known")
    banks = len(rom) // BANK
    if banks > MOST_BANKS:
        raise UserError(f"{name}: {banks} banks of 16 KB; at most {MOST_BANKS} are supported")
    return Cartridge(kind, banks, RAM_BANKS[ram_code] * RAM_BANK)
