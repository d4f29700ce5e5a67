"""One PyBoy as the bridge uses it: without window, sound and colour, used between frames only."""

from __future__ import annotations

import io
import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np

from twinstep.contracts.emurust.cartridge import RAM_BANK, Cartridge, read_header
from twinstep.contracts.emurust.handover import BUTTONS, REGISTERS, WRITES
from twinstep.contracts.emurust.state import HIDDEN, SHOWN
from twinstep.oracles.emurust.saved import Saved, shades
from twinstep.oracles.emurust.unsaved import Unsaved

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of where its SDL2 comes from
    from pyboy import PyBoy

#: An endless loop, and its address.
_LOOP = 0xC000, (0x18, 0xFE)


class _Beginnings(NamedTuple):
    """The layout of saved states, and saved states of the hand-over and of a picture's start."""

    saved: Saved
    handover: bytes
    first: bytes


#: By header: saved states hold nothing of the ROM, and writing three takes PyBoy longer than its
#: construction.
_BEGINNINGS: dict[Cartridge, _Beginnings] = {}


class Boy:
    """A Game Boy with a cartridge in it, starting as the boot ROM hands over.

    A state here is a dict of all fields of SHOWN and HIDDEN. `close()` frees it.
    """

    def __init__(self, rom: bytes) -> None:
        self._boy: Any = PyBoy(
            io.BytesIO(rom), window="null", sound_emulated=False, cgb=False, log_level="CRITICAL"
        )
        self._boy.set_emulation_speed(0)
        # A PyBoy that is not stopped before Python ends complains on stderr.
        self.close = weakref.finalize(self, self._boy.stop, save=False)
        self.memory: Any = self._boy.memory
        self._registers: Any = self._boy.register_file
        self._cut = True  # window_line may be other than -1, as in every new PyBoy
        header = read_header(rom)
        self._banks = header.ram_size // RAM_BANK
        self._mbc1 = header.mapper == "mbc1"
        self.memory[0xFF50] = 1  # the boot ROM is off
        if header not in _BEGINNINGS:
            _BEGINNINGS[header] = self._beginnings(header)
        self.saved, self._handover, first = _BEGINNINGS[header]
        self._unsaved = Unsaved(self.saved, first, self)
        self.begin()

    def begin(self) -> None:
        """Begin again, at the boot ROM's hand-over."""
        self._continue(self._handover, halted=False)

    def save(self) -> bytes:
        """Return PyBoy's own saved state."""
        kept = io.BytesIO()
        self._boy.save_state(kept)
        return kept.getvalue()

    def load(self, state: Any) -> None:
        """Continue from a state."""
        halted, after_ei = bool(state["halted"]), bool(state["halted_after_ei"])
        line = int(state["window_line"])
        flags = bool(state["lyc_written_while_off"]), bool(state["stat_shows_mode_0"])
        self._continue(self.saved.compose(state), halted, after_ei, line, flags)

    def put(self, blob: bytes) -> None:
        """Load a saved state and nothing else."""
        self._boy.load_state(io.BytesIO(blob))

    def hidden(self) -> dict[str, np.ndarray]:
        """Return the fields of HIDDEN; those that a saved state lacks by playing on and back."""
        blob = self.save()
        named = self.saved.fields_of(blob)
        halted, cut = bool(named["halted"]), self._cut
        after_ei, line = False, -1
        written, shows, moved = self._unsaved.find_flags(blob)
        if halted:  # first: the window's line is found with a HALT of its own
            after_ei = self._unsaved.is_halted_after_ei()
        if cut:
            line = self._unsaved.find_window_line()
        if halted or cut or moved:
            self._continue(blob, halted, after_ei, line, (written, shows))
        named |= {
            "halted_after_ei": np.array(after_ei),
            "window_line": np.array(line),
            "lyc_written_while_off": np.array(written),
            "stat_shows_mode_0": np.array(shows),
        }
        return {item.name: named[item.name].astype(item.dtype) for item in HIDDEN}

    def shown(self) -> dict[str, np.ndarray]:
        """Return the fields of SHOWN, read without a saved state."""
        memory, registers = self.memory, self._registers
        named: dict[str, Any] = {name: getattr(registers, name.upper()) for name in _REGISTERS}
        named["cycles"] = self._boy._cycles()
        named["ie"] = memory[0xFFFF]
        # A read of FF41 would change what STAT shows next.
        named["io"] = memory[0xFF00:0xFF41] + [0] + memory[0xFF42:0xFF80]
        # A read of OAM where HL points advances OAM DMA.
        registers.HL = 0
        for name, (first, end) in _MEMORY.items():
            named[name] = bytearray(memory[first:end])
        registers.HL = named["hl"]
        ram = b"".join(bytes(self._ram(bank)) for bank in range(self._banks))
        named["cart_ram"] = bytearray(ram)
        named["screen"] = self.screen()
        return {item.name: np.array(named[item.name], item.dtype) for item in SHOWN}

    def screen(self) -> np.ndarray:
        """Return the frame drawn last, shades u8[144, 160]."""
        return shades(self._boy.screen.ndarray[:, :, 0])

    def hold(self, held: int, before: int) -> None:
        """Hold these buttons from the next frame on; bits in the order of BUTTONS."""
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
            # This may be the middle of the picture.
            self._cut |= draw and not self.memory[0xFF40] & 0x80

    def _ram(self, bank: int) -> list[int]:
        """Read a bank. A slice to its end raises, as if C000 belonged to it."""
        last = 0xA000 + RAM_BANK - 1
        return [*self.memory[bank, 0xA000:last], self.memory[bank, last]]

    def _beginnings(self, header: Cartridge) -> _Beginnings:
        """Return the values common to all cartridges with this header; the PyBoy must be new."""
        saved = Saved(header, self.save())
        for address, value in WRITES:
            self.memory[address] = value
        for name, value in REGISTERS:
            setattr(self._registers, name, value)
        return _Beginnings(saved, self.save(), self._first())

    def _first(self) -> bytes:
        """Return a saved state at the beginning of a picture, with the LCD on."""
        place, code = _LOOP
        for offset, byte in enumerate(code):
            self.memory[place + offset] = byte
        self._registers.PC = place
        self._boy.tick(4, True)
        return self.save()

    def _continue(
        self,
        blob: bytes,
        halted: bool,
        after_ei: bool = False,
        window_line: int = -1,
        flags: tuple[bool, bool] = (False, False),
    ) -> None:
        """Load a saved state and the state that it lacks; nothing is left of earlier play.

        Unless the state is halted, the remains of a HALT do not matter: the next one resets them.
        """
        if halted or self._cut or window_line != -1:
            self._unsaved.settle(after_ei, window_line)
        self._unsaved.put_flags(*flags)
        if self._mbc1:
            # A saved state has these registers, but loading one leaves the bank at 0000 unchanged.
            named = self.saved.fields_of(blob)
            self.memory[0x4000] = int(named["bank_high"])
            self.memory[0x6000] = int(named["banking_mode"])
        self.put(blob)
        self._cut = window_line != -1


_REGISTERS = ("a", "f", "b", "c", "d", "e", "hl", "sp", "pc")
_MEMORY = {
    "hram": (0xFF80, 0xFFFF),
    "oam": (0xFE00, 0xFEA0),
    "fea0": (0xFEA0, 0xFF00),
    "vram": (0x8000, 0xA000),
    "wram": (0xC000, 0xE000),
}
