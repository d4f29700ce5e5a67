"""The four pieces of state that PyBoy's saved states lack, found and set by playing.

* `halted_after_ei`: HALT ran right after an EI, and one of PyBoy's slices of time ended with it,
because a hardware event was due just then. An interrupt then returns to the HALT itself, else
to the address behind it.
* `window_line`: the line of the window that was drawn last. Only the last line of a drawn picture
resets it to -1. A picture that is cut short by switching the LCD off leaves it unchanged, and the
next picture that is drawn, however much later, shows the window shifted. It is 0 in a new PyBoy.
* `stat_shows_mode_0`: the next read of FF41 shows mode 0, whatever the mode is.
* `lyc_written_while_off`: FF45 was written with the LCD off. Switching it on sets the flag above.

Loading a saved state changes none of them, with one exception: a state with the LCD on passes the
last flag on, as switching it on does. So small programs, run in WRAM out of composed states, set
or reveal the first two; writes and reads between frames do the same for the flags. Then the
previous state is loaded again.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from twinstep.oracles.emurust.saved import Saved

_CODE, _STACK, _ELSEWHERE = 0xC000, 0xC102, 0xC200
_DI, _EI, _HALT, _STAY = (0xF3,), (0xFB,), (0x76,), (0x18, 0xFE)
_FRAME = 70224  # cycles
_PICTURE = 144  # lines
_LCDC, _STAT, _LYC = 0xFF40, 0xFF41, 0xFF45
_ON, _OFF = 0x91, 0x11
_WINDOW_ON = 0xB1


def _off_at(line: int) -> tuple[int, ...]:
    """Return a program: wait for LY, switch the LCD off."""
    return (0xF0, 0x44, 0xFE, line, 0x20, 0xFA, 0xAF, 0xE0, 0x40)


class Player(Protocol):
    """The interface needed of a Boy: see there."""

    memory: Any

    def play(self, frames: int, draw: bool) -> None: ...
    def put(self, blob: bytes) -> None: ...
    def screen(self) -> np.ndarray: ...


class Unsaved:
    """Set and find the state that saved states lack, in one PyBoy.

    first: a saved state at the beginning of a picture, with the LCD on and no DMA active.
    """

    def __init__(
        self,
        saved: Saved,
        first: bytes,
        boy: Player,
    ) -> None:
        self._saved, self._first, self._boy = saved, first, boy

    def settle(self, after_ei: bool = False, window_line: int = -1) -> None:
        """Set the first two, whatever came before. A state must be loaded next."""
        self._run((*_DI, *_HALT, *_STAY))
        self._boy.play(1, True)
        left = window_line + 1
        while left > 0:
            lines = min(left, _PICTURE - 1)
            self._run(_off_at(lines))
            self._boy.play(1, True)
            left -= lines
        if after_ei:
            # The LCD's mode changes 8 cycles later, when both have run.
            self._run((*_EI, *_HALT, *_STAY), lcd_clock=72, lcd_target=80)
            self._boy.play(1, False)

    def put_flags(self, lyc_written_while_off: bool, stat_shows_mode_0: bool) -> None:
        """Set the two flags, whatever came before. A state must be loaded next."""
        memory = self._boy.memory
        memory[_LCDC] = _OFF
        memory[_LCDC] = _ON
        _ = memory[_STAT]
        if stat_shows_mode_0:
            memory[_LCDC] = _OFF
            memory[_LYC] = 0
            memory[_LCDC] = _ON
        if lyc_written_while_off:
            memory[_LCDC] = _OFF
            memory[_LYC] = 0

    def find_flags(self, blob: bytes) -> tuple[bool, bool, bool]:
        """Return both flags, and whether the machine has to be returned to this state.

        It is in that state at the call.
        """
        state = self._saved.editable(blob)
        memory = self._boy.memory
        on = bool(state["lcdc"] & 0x80)
        if on and state["stat"] & 3:
            shows = not memory[_STAT] & 3
            return False, shows, shows
        shows = self._shows_mode_0(blob)
        if on:
            return False, shows, True
        memory[_LCDC] = _ON
        return self._shows_mode_0(self._first), shows, True

    def _shows_mode_0(self, blob: bytes) -> bool:
        """Return whether the next read of FF41 shows mode 0, with this state's mode set to 1."""
        state = self._saved.editable(blob)
        state["stat"] = state["stat"] & 0xFC | 1
        self._boy.put(state.tobytes())
        return not self._boy.memory[_STAT] & 3

    def is_halted_after_ei(self) -> bool:
        """Return whether an interrupt would return to the HALT itself if halted now; plays."""
        # A cycle before the frame's end: only the dispatch of an interrupt fits in.
        self._run(
            _HALT,
            halted=1,
            ime=1,
            ie=0x10,
            interrupt_flags=0x10,
            ly=153,
            stat=0x81,
            lcd_clock=_FRAME - 4,
            lcd_target=_FRAME,
            lcd_next_mode=2,
        )
        self._boy.play(1, False)
        memory = self._boy.memory
        return memory[_STACK - 2] | memory[_STACK - 1] << 8 == _CODE

    def find_window_line(self) -> int:
        """Return `window_line`; plays."""
        vram = np.zeros(8192, np.uint8)
        for row in range(32):  # a line of the window shows its number, in 8 pixels
            vram[16 * row : 16 * row + 16 : 2] = range(8 * row, 8 * row + 8)
            vram[0x1800 + 32 * row : 0x1820 + 32 * row] = row
        self._run((*_DI, *_HALT, *_STAY), vram=vram)
        self._boy.play(1, True)
        return int(np.packbits(self._boy.screen()[0, :8] != 0)[0]) - 1

    def _run(self, code: tuple[int, ...], **more: Any) -> None:
        """Begin a picture with the window over all of it, running code in WRAM."""
        state = self._saved.editable(self._first)
        state["wram"][: len(code)] = code
        set_to = {
            "pc": _CODE,
            "sp": _STACK,
            "hl": _ELSEWHERE,
            "b": _ELSEWHERE >> 8,
            "d": _ELSEWHERE >> 8,
            "ie": 0,
            "interrupt_flags": 0,
            "ime": 0,
            "ime_delay": 0,
            "halted": 0,
            "interrupt_queued": 0,
            "lcdc": _WINDOW_ON,
            "bgp": 0xE4,
            "wy": 0,
            "wx": 7,
            **more,
        }
        for name, value in set_to.items():
            state[name] = value
        self._boy.put(state.tobytes())
