"""A Game Boy's whole state as one packed record: the same bytes in Python and in Rust.

SHOWN comes first, then HIDDEN, in the order below, little-endian and without gaps. SHOWN can be
read cheaply from PyBoy between any two frames. HIDDEN needs a saved state, which takes a hundred
times as long. Continuing needs both. A record's length depends only on the cartridge's RAM. "As
read" means the value that PyBoy's `memory` gives. Reading FF41 that way has a side effect; it is 0
in `io`, and HIDDEN has it as `stat`.

Every field holds for a frame boundary, where the clocks of the LCD, timer, serial port and sound
all stand at `cycles`. They are one field for that reason.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .cartridge import Cartridge


class Item(NamedTuple):
    """One field. `shape` is None for the cartridge's RAM, whose size is in its header."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    doc: str


def _bytes(name: str, count: int, doc: str) -> Item:
    return Item(name, "u1", (count,), doc)


def _byte(name: str, doc: str) -> Item:
    return Item(name, "u1", (), doc)


def _flag(name: str, doc: str) -> Item:
    return Item(name, "u1", (), f"0 or 1: {doc}")


SHOWN: tuple[Item, ...] = (
    _byte("a", "accumulator"),
    _byte("f", "flags: zero 0x80, subtract 0x40, half carry 0x20, carry 0x10; low nibble 0"),
    _byte("b", ""),
    _byte("c", ""),
    _byte("d", ""),
    _byte("e", ""),
    Item("hl", "<u2", (), ""),
    Item("sp", "<u2", (), "stack pointer"),
    Item("pc", "<u2", (), "program counter; points at the HALT while halted"),
    Item("cycles", "<u8", (), "clock cycles since the hand-over, 4 of them to a machine cycle"),
    _byte("ie", "FFFF, interrupts enabled, all 8 bits"),
    _bytes("io", 128, "FF00-FF7F as read; [0x41] is 0"),
    _bytes("hram", 127, "FF80-FFFE"),
    _bytes("oam", 160, "FE00-FE9F as read: all FF while OAM DMA runs, see `oam_beneath`"),
    _bytes("fea0", 96, "FEA0-FEFF"),
    _bytes("vram", 8192, "8000-9FFF"),
    _bytes("wram", 8192, "C000-DFFF"),
    Item("screen", "u1", (144, 160), "the frame drawn last: shades 0 (white) to 3 (black)"),
    Item("cart_ram", "u1", None, "all banks of the cartridge, whether enabled or not"),
)

HIDDEN: tuple[Item, ...] = (
    # Processor.
    _flag("ime", "interrupt master enable"),
    _flag("ime_delay", "EI ran and its delay is not over"),
    _flag("halted", ""),
    _flag(
        "halted_after_ei", "halted by a HALT in EI's delay: a wake comes back to the HALT itself"
    ),
    _flag("stopped", ""),
    _flag("interrupt_queued", "an interrupt's dispatch ran and ends the HALT"),
    _byte("interrupt_flags", "FF0F as written, all 8 bits; reads have the upper 3 set"),
    # OAM DMA: a byte every 4 cycles from `dma_start` on. Reads of OAM are FF from then to the end.
    _bytes("oam_beneath", 160, "FE00-FE9F themselves, whether DMA runs or not"),
    _flag("dma_active", "from the write to FF46 on"),
    _flag("dma_reading", "1 only inside a transfer: 0 at a boundary"),
    _byte("dma_source", "upper byte of the address"),
    _byte("dma_index", "bytes copied, 0 to 160"),
    Item("dma_start", "<u8", (), "clock of the first byte"),
    # Picture unit.
    _byte("stat", "FF41 itself, mode and coincidence in bits 0 to 2"),
    _flag("lcd_frame_done", ""),
    _flag("lcd_first_frame", "the frame in which the LCD was switched on, which stays blank"),
    _flag("lcd_reset", "switched off, and the screen is to be cleared"),
    Item("lcd_clock", "<u8", (), "cycles since the LCD's frame began"),
    Item("lcd_target", "<u8", (), "lcd_clock at which the mode changes next"),
    _byte("lcd_next_mode", "the mode that comes then"),
    _byte("lcd_transition", "1 in mode 0 of the picture, 2 from LY's count to mode 2, else 0"),
    _flag("window_reached", "LY was equal to WY in this frame"),
    Item("window_line", "<i2", (), "the window's line drawn last, up to 254; -1: none yet"),
    _flag("lyc_written_while_off", "FF45 was written since the LCD is off"),
    _flag(
        "stat_shows_mode_0", "the next read of FF41 does; set as the LCD goes on after such a write"
    ),
    # Timer. TMA and TAC are in `io`.
    _byte("timer_div", "FF04 itself"),
    _byte("timer_tima", "FF05 itself; while `timer_reload` is not 0, reads may give another"),
    Item("timer_div_counter", "<u2", (), "the 16 bits that count all cycles and choose TIMA's"),
    Item("timer_tima_counter", "<u2", (), "cycles left of the reload, 0 to 4"),
    _byte("timer_reload", "TIMA's overflow: 0 none, else the step of the reload"),
    Item("timer_event", "<u8", (), "cycles to the next interrupt as of the last look; huge: none"),
    # Joypad: 0 is pressed. Right, left, up, down and A, B, select, start from bit 0 on.
    _byte("joypad_directions", "low nibble"),
    _byte("joypad_buttons", "low nibble"),
    # Serial port.
    _byte("serial_data", "FF01 itself"),
    _byte("serial_control", "FF02 itself"),
    _byte("serial_active", "128 while a transfer is under way, else 0"),
    _flag("serial_internal", "with this side's clock"),
    Item("serial_event", "<u8", (), "clock at which the transfer ends; huge: none"),
    # Cartridge. Fields that a mapper lacks are 0.
    _byte("rom_bank", "bank at 4000, cut to the ROM's size; up to 255"),
    _byte("ram_bank", "bank at A000; MBC1's as of the last access to the RAM"),
    _flag("ram_enabled", ""),
    _flag("banking_mode", "MBC1's register at 6000"),
    _byte("bank_low", "MBC1's register at 2000, 5 bits"),
    _byte("bank_high", "MBC1's register at 4000, 2 bits"),
    _byte("motor", "MBC5 with rumble: bit 3 of the register at 4000"),
    # Bytes behind FF00-FF4B that writes reach. Only [0] is ever read back.
    _bytes("io_written", 76, "FF00, FF03, FF08-FF0E; elsewhere 0"),
)


def record_dtype(cartridge: Cartridge) -> np.dtype:
    """Return the dtype of a whole record, SHOWN then HIDDEN, packed."""
    return np.dtype([(item.name, item.dtype, shape_of(item, cartridge)) for item in SHOWN + HIDDEN])


def shape_of(item: Item, cartridge: Cartridge) -> tuple[int, ...]:
    """Return a field's shape with this cartridge in the slot."""
    return (cartridge.ram_size,) if item.shape is None else item.shape
