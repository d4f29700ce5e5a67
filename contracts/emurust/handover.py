"""The start of every episode of emurust: a DMG's boot ROM hands over to the cartridge. Data only.

PyBoy's own boot ROM is not played: it is switched off before the first cycle, these bytes are
written, and these registers set (Pan Docs, "Power-Up Sequence"). All RAM is 0, the cartridge's too.
The write to FF40 switches the LCD on at clock 0. So the first frame ends after a few cycles, like
every frame of PyBoy in which the LCD is switched on.
"""

from __future__ import annotations

#: Address, value; in this order.
WRITES = ((0xFF40, 0x91), (0xFF47, 0xFC))
REGISTERS = (
    ("A", 0x01), ("F", 0xB0), ("B", 0x00), ("C", 0x13), ("D", 0x00), ("E", 0xD8),
    ("HL", 0x014D), ("SP", 0xFFFE), ("PC", 0x0100),
)  # fmt: skip
#: A set of held buttons is a number with these bits, from bit 0 on. Within a frame, releases and
#: presses come in this order.
BUTTONS = ("a", "b", "select", "start", "right", "left", "up", "down")
