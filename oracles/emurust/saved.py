"""PyBoy's saved state, version 29, as the fields of contracts/emurust/state.py and back.

A saved state is one packed record. Its layout was found by experiment: one thing was changed and
two saved states compared. It is declared here as a NumPy dtype. Parts called `fixed` never change
while a Game Boy without sound and colour plays. They come from a state saved before the first
frame, and `fields_of` raises if they ever differ, which would mean unknown state.
Three things in a saved state are written before they are read, and are not kept: the scroll
registers of the lines drawn (720 bytes), one byte next to each pixel, and clocks that all stand at
`cycles` at a frame's end. Also not kept is the sound unit's trace of a write to DIV and then one to
FF26: without sound nothing reads it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contracts.emurust.cartridge import Cartridge
from twinstep.contracts.emurust.state import HIDDEN, SHOWN

VERSION = 29
#: PyBoy's value for "no event is pending".
NEVER = 1 << 31
#: Red, green and blue of the four shades, as PyBoy draws them by default.
SHADES = (0xFF, 0x99, 0x55, 0x00)
_WHITE_FIRST = np.array([value << 16 | value << 8 | value | 0xFF << 24 for value in SHADES], "<u4")
_SHADE_OF = np.full(256, 255, np.uint8)
_SHADE_OF[list(SHADES)] = range(4)

#: Bytes of io that the LCD keeps, in its order.
_LCD = (
    ("lcdc", 0x40), ("bgp", 0x47), ("obp0", 0x48), ("obp1", 0x49), ("stat", 0x41), ("ly", 0x44),
    ("lyc", 0x45), ("scy", 0x42), ("scx", 0x43), ("wy", 0x4A), ("wx", 0x4B),
)  # fmt: skip
#: Clocks that stand at `cycles` whenever a frame has ended.
_CLOCKS = ("lcd_last", "sound_clock", "timer_last", "serial_last", "serial_clock")
#: Fields that some mappers lack.
_MAPPERS = ("bank_low", "bank_high", "motor")
#: Parts that are not kept.
_LOST = ("drawn_lines", "sound_edge_due", "sound_edges", "sound_divider")
_SOUND, _SOUND_END, _SGB = 1643, 340, 10379


class UnknownState(Exception):
    """A saved state holds something that its layout here does not account for."""


def layout(cartridge: Cartridge, length: int) -> np.dtype:
    """Return the dtype of a saved state of `length` bytes; UnknownState if it does not fit."""
    parts: list[tuple[Any, ...]] = [
        ("version", "u1"),
        ("fixed_system", "u1", 5),
        *((name, "u1") for name in "afbcde"),
        *((name, "<u2") for name in ("hl", "sp", "pc")),
        *((name, "u1") for name in ("ime", "ime_delay", "halted", "stopped", "ie")),
        *((name, "u1") for name in ("interrupt_queued", "interrupt_flags")),
        ("cycles", "<u8"),
        *((f"dma_{name}", "u1") for name in ("active", "reading", "source", "index")),
        ("dma_start", "<u8"),
        ("vram", "u1", 8192),
        ("oam_beneath", "u1", 160),
        *((name, "u1") for name, _ in _LCD),
        ("fixed_priority", "u1"),
        ("drawn_lines", "u1", 720),
        ("fixed_colour", "u1", 3),
        *((f"lcd_{name}", "u1") for name in ("frame_done", "first_frame", "reset")),
        *((f"lcd_{name}", "<u8") for name in ("last", "clock", "target")),
        *((f"lcd_{name}", "u1") for name in ("next_mode", "transition")),
        ("fixed_sound", "u1", _SOUND),
        ("sound_edge_due", "u1", 8),
        ("fixed_sound_cycles", "u1", 16),
        ("sound_clock", "<u8"),
        ("sound_edges", "u1", 16),
        ("sound_divider", "u1"),
        ("fixed_sound_end", "u1", _SOUND_END),
        ("pixels", [("colour", "<u4"), ("attribute", "u1")], (144, 160)),
        ("window_reached", "u1"),
        ("wram", "u1", 8192),
        ("fea0", "u1", 96),
        ("io_written", "u1", 76),
        ("hram", "u1", 127),
        ("fixed_wram_bank", "u1"),
        *((name, "u1") for name in ("timer_div", "timer_tima")),
        *((name, "<u2") for name in ("timer_div_counter", "timer_tima_counter")),
        *((name, "u1") for name in ("tma", "tac", "timer_reload")),
        *((f"timer_{name}", "<u8") for name in ("last", "event")),
        *((name, "u1") for name in ("rom_bank", "ram_bank", "ram_enabled", "banking_mode")),
        ("cart_ram", "u1", cartridge.ram_size),
    ]
    if cartridge.mapper == "mbc1":
        parts += [("bank_low", "u1"), ("bank_high", "u1")]
    if cartridge.mapper == "mbc5":
        parts += [("fixed_rumble", "u1")]
    if cartridge.rumble:
        parts += [("motor", "u1")]
    parts += [
        *((f"joypad_{name}", "u1") for name in ("directions", "buttons")),
        *((f"serial_{name}", "u1") for name in ("data", "control", "active", "internal")),
        *((f"serial_{name}", "<u8") for name in ("last", "wait", "clock", "event")),
        ("fixed_super", "u1", _SGB),
    ]
    made = np.dtype(parts)
    if made.itemsize != length:
        raise UnknownState(f"a saved state has {length} bytes, {made.itemsize} were expected")
    return made


class Saved:
    """Split saved states of one cartridge into fields and compose them.

    fresh: a state saved before the first frame, the boot ROM off.
    """

    def __init__(self, cartridge: Cartridge, fresh: bytes) -> None:
        if fresh[0] != VERSION:
            raise UnknownState(f"saved states are of version {fresh[0]}, not {VERSION}")
        self._dtype = layout(cartridge, len(fresh))
        self._fresh = np.frombuffer(fresh, self._dtype)[0].copy()
        names = self._dtype.names or ()
        self._fixed = [name for name in names if name.startswith("fixed_")]
        self._kept = [item for item in SHOWN + HIDDEN if item.name in names]

    def fields_of(self, blob: bytes) -> dict[str, np.ndarray]:
        """Return its fields of SHOWN and HIDDEN.

        Missing are `io` and `oam` as they are read, and the state that unsaved.py is about.

        Raises UnknownState for anything that `compose` could not restore.
        """
        if len(blob) != self._dtype.itemsize:
            raise UnknownState(f"a saved state of {len(blob)} bytes is of another cartridge")
        saved = np.frombuffer(blob, self._dtype)[0]
        self._require(saved)
        named = {item.name: np.array(saved[item.name]) for item in self._kept}
        for name in _MAPPERS:  # of other mappers
            named.setdefault(name, np.array(0, np.uint8))
        named["screen"] = shades(saved["pixels"]["colour"] & 0xFF)
        return named

    def editable(self, blob: bytes) -> Any:
        """Return a saved state as an editable record of its parts by name."""
        return np.frombuffer(blob, self._dtype)[0].copy()

    def compose(self, state: Any) -> bytes:
        """Return the saved state of fields by name (SHOWN and HIDDEN)."""
        made = self._fresh.copy()
        for item in self._kept:
            made[item.name] = state[item.name]
        io = state["io"]
        for name, address in _LCD:
            if name != "stat":
                made[name] = io[address]
        made["tma"], made["tac"] = io[6], io[7] & 7
        for clock in _CLOCKS:
            made[clock] = state["cycles"]
        # Relative to `cycles`. An event may be set without a transfer; it has no effect then.
        made["serial_wait"] = NEVER
        if state["serial_active"] and state["serial_event"] != NEVER:
            made["serial_wait"] = state["serial_event"] - state["cycles"]
        made["pixels"]["colour"] = _WHITE_FIRST[state["screen"]]
        return made.tobytes()

    def differences(self, first: bytes, second: bytes) -> list[str]:
        """Return the names of the parts in which two saved states differ, save those not kept."""
        one, two = (np.frombuffer(blob, self._dtype)[0] for blob in (first, second))
        found = []
        for name in self._dtype.names or ():
            a, b = one[name], two[name]
            if name == "pixels":
                a, b = a["colour"] & 0xFFFFFF, b["colour"] & 0xFFFFFF
            if name not in _LOST and not np.array_equal(a, b):
                found.append(name)
        return found

    def _require(self, saved: Any) -> None:
        for name in self._fixed:
            if not np.array_equal(saved[name], self._fresh[name]):
                raise UnknownState(f"{name} has changed in a saved state")
        for clock in _CLOCKS:
            if saved[clock] != saved["cycles"]:
                raise UnknownState(f"{clock} is {saved[clock]} after {saved['cycles']} cycles")


def shades(red: np.ndarray) -> np.ndarray:
    """Return shades 0 to 3 for the red values of pixels; UnknownState for another colour."""
    made = _SHADE_OF[red]
    if made.max() > 3:
        raise UnknownState("a pixel has a colour that is none of the four shades")
    return made
