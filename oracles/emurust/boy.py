"""One PyBoy, as the bridge uses it: without window, sound and colour, between frames only."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from twinstep.contracts.emurust_cartridge import RAM_BANK, read_header
from twinstep.contracts.emurust_handover import BUTTONS, REGISTERS, WRITES
from twinstep.contracts.emurust_state import SHOWN
from twinstep.oracles.emurust.saved import Saved, shades

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of where its SDL2 comes from
    from pyboy import PyBoy

#: An endless loop at C000, with the LCD on and no interrupts: see `Boy._settle`.
_LOOP = 0xC000, (0x18, 0xFE)


class Boy:
    """A Game Boy with a cartridge in it. It begins as the boot ROM hands over.

    A state here is all fields of SHOWN and HIDDEN by name.
    """

    def __init__(self, rom: bytes) -> None:
        self._boy: Any = PyBoy(
            io.BytesIO(rom), window="null", sound_emulated=False, cgb=False, log_level="CRITICAL"
        )
        self._boy.set_emulation_speed(0)
        self.memory: Any = self._boy.memory
        self._registers: Any = self._boy.register_file
        self._banks = read_header(rom).ram_size // RAM_BANK
        self.memory[0xFF50] = 1  # the boot ROM is off
        self.saved = Saved(read_header(rom), self.save())
        for address, value in WRITES:
            self.memory[address] = value
        for name, value in REGISTERS:
            setattr(self._registers, name, value)
        self._handover = self.save()
        self._settled = self._settling()
        self.begin()

    def begin(self) -> None:
        """Begin again, as the boot ROM hands over."""
        self._continue(self._handover)

    def save(self) -> bytes:
        """Return PyBoy's own saved state."""
        kept = io.BytesIO()
        self._boy.save_state(kept)
        return kept.getvalue()

    def load(self, state: Any) -> None:
        """Continue from a state."""
        self._continue(self.saved.compose(state))

    def hidden(self) -> dict[str, np.ndarray]:
        """Return the fields of HIDDEN."""
        return self.saved.hidden_of(self.save())

    def shown(self) -> dict[str, np.ndarray]:
        """Return the fields of SHOWN, read without a saved state."""
        memory, registers = self.memory, self._registers
        named: dict[str, Any] = {name: getattr(registers, name.upper()) for name in _REGISTERS}
        named["cycles"] = self._boy._cycles()
        named["ie"] = memory[0xFFFF]
        # A read of FF41 would change what STAT shows next.
        named["io"] = memory[0xFF00:0xFF41] + [0] + memory[0xFF42:0xFF80]
        for name, (first, end) in _MEMORY.items():
            named[name] = memory[first:end]
        named["cart_ram"] = [byte for bank in range(self._banks) for byte in self._ram(bank)]
        named["screen"] = shades(self._boy.screen.ndarray[:, :, 0])
        return {item.name: np.array(named[item.name], item.dtype) for item in SHOWN}

    def hold(self, held: int, before: int) -> None:
        """Let these buttons be held from the next frame on; bits in the order of BUTTONS."""
        for bit, name in enumerate(BUTTONS):
            now, then = held >> bit & 1, before >> bit & 1
            if now > then:
                self._boy.button_press(name)
            elif now < then:
                self._boy.button_release(name)

    def play(self, frames: int, draw: bool) -> None:
        """Play frames; the last of them is drawn if `draw`."""
        if frames:
            self._boy.tick(frames, draw)

    def close(self) -> None:
        """Free it."""
        self._boy.stop(save=False)

    def _ram(self, bank: int) -> list[int]:
        """Read a bank. A slice to its end raises, as if C000 belonged to it."""
        last = 0xA000 + RAM_BANK - 1
        return [*self.memory[bank, 0xA000:last], self.memory[bank, last]]

    def _settling(self) -> bytes:
        """Return a saved state that loops in WRAM with the LCD on, at a frame's beginning."""
        first, code = _LOOP
        for place, byte in enumerate(code):
            self.memory[first + place] = byte
        self._registers.PC = first
        self._boy.tick(4, True)
        return self.save()

    def _continue(self, blob: bytes) -> None:
        """Load a saved state, and let nothing be left of what came before.

        A saved state lacks the line of the window that is drawn next. Only a picture drawn to its
        end sets it back, so one is drawn first. Without this, a picture that was cut short by
        switching the LCD off would shift the window of the next episode's first picture.
        """
        self._boy.load_state(io.BytesIO(self._settled))
        self._boy.tick(1, True)
        self._boy.load_state(io.BytesIO(blob))


_REGISTERS = ("a", "f", "b", "c", "d", "e", "hl", "sp", "pc")
_MEMORY = {
    "hram": (0xFF80, 0xFFFF),
    "oam": (0xFE00, 0xFEA0),
    "fea0": (0xFEA0, 0xFF00),
    "vram": (0x8000, 0xA000),
    "wram": (0xC000, 0xE000),
}
