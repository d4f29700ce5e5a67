"""chip8py's processor, without its window and sound, on programs of a few instructions of our own.

An action is a program: its bytes are written to 0x200, and five instructions run from there. Where
a program is shorter, instructions follow that add 0 to V0. Quirks are set as octax describes its
own: the "modern" ones, with sprites cut at the screen's edge. VF is never an operand, a key's
number is below 16, and a sprite begins on the screen: beyond, the two differ. The font lies
elsewhere, so an address of it is never compared. Random numbers and the wait for a key are not
played.
"""

from __future__ import annotations

import numpy as np
from chip8py.cpu import Processor
from chip8py.display import Display
from chip8py.keypad import Keypad
from chip8py.memory import Memory
from chip8py.timers import Timers

from twinstep import Contract, Discrete, Field, Frame, Randomness

BEGIN, STEPS = 0x200, 5
#: The memory that programs write to and read from, and that is compared.
DATA = slice(0x300, 0x520)
#: A subroutine that returns, and one that calls it.
INNER, OUTER = 0x2E0, 0x2E4

FIELDS = (
    Field("registers", "uint8", (16,), low=0, high=255, step=1),
    Field("index", "uint16", low=0, high=0x3FF, step=1, doc="I"),
    Field("counter", "uint16", low=BEGIN, high=0x2FE, step=2, doc="the program's next place"),
    Field("delay", "uint8", low=0, high=255, step=1),
    Field("sound", "uint8", low=0, high=255, step=1),
    Field("keys", "bool", (16,)),
    Field("data", "uint8", (DATA.stop - DATA.start,), low=0, high=255, step=1),
    Field("screen", "bool", (64, 32)),
)


def rom(program: list[int]) -> list[int]:
    """Return the bytes from 0x200 to 0x2FF that run a program of instructions."""
    words = [0x7000] * 128
    words[: len(program)] = program
    words[(INNER - BEGIN) // 2] = words[(OUTER - BEGIN) // 2 + 1] = 0x00EE
    words[(OUTER - BEGIN) // 2] = 0x2000 | INNER
    return [byte for word in words for byte in divmod(word, 256)]


def programs(*forms: str, each: int = 12) -> list[list[int]]:
    """Return programs of forms, `each` of every form with operands drawn once.

    A form is instructions of four characters: x and y stand for registers, n for any digit.
    """
    rng = np.random.default_rng(8)

    def filled(form: str) -> list[int]:
        x, y = rng.permutation(15)[:2]
        signs = {"x": f"{x:x}", "y": f"{y:x}"}
        digits = [
            f"{rng.integers(16):x}" if sign == "n" else signs.get(sign, sign) for sign in form
        ]
        return [int(word, 16) for word in "".join(digits).split()]

    return [filled(form) for form in forms for _ in range(each)]


def contract(version: str, played: list[list[int]]) -> Contract:
    """Return the contract of programs; its observation is the registers."""

    def make_start(seed):
        rng = np.random.default_rng(seed)
        return {
            field.name: (
                rng.random(field.shape) < 0.3
                if field.dtype == "bool"
                else rng.integers(
                    int(field.low or 0), int(field.high or 0) + 1, field.shape
                ).astype(field.dtype)
            )
            for field in FIELDS
        }

    names = tuple(" ".join(f"{word:04X}" for word in program) for program in played)
    return Contract(
        version=version,
        params={},
        action=Discrete(len(played), names),
        observation=Field("obs", "uint8", (16,)),
        state=FIELDS,
        starts=FIELDS,
        make_start=make_start,
        randomness=Randomness("a whole state is placed in both", parts={"start": ("obs",)}),
        truncates=False,
        ends=False,
        horizon=50,
        placed=2048,
    )


class Chip8:
    """One machine of chip8py as an oracle. A pair's class says its programs."""

    played: list[list[int]]

    def __init__(self, contract: Contract) -> None:
        self._roms = [bytes(rom(program)) for program in self.played]
        # Their own beginnings open a window and a sound device.
        display, timers = Display.__new__(Display), Timers.__new__(Timers)
        display.grid = np.zeros((32, 64), np.uint8)
        timers.delay = timers.sound = np.uint8(0)
        self._machine = Processor(Memory(), display, Keypad(), timers)
        self._machine.spr_clip = True

    def reset(self, start):
        return self.load(start.fields)

    def load(self, state):
        machine = self._machine
        machine.v[:] = state["registers"]
        machine.i, machine.pc = np.uint16(state["index"]), np.uint16(state["counter"])
        machine.tm.delay, machine.tm.sound = np.uint8(state["delay"]), np.uint8(state["sound"])
        machine.kp.keys[:] = state["keys"]
        machine.ram.mem[DATA] = state["data"]
        machine.disp.grid[:] = state["screen"].T
        machine.stack.clear()
        return self._frame()

    def step(self, action):
        machine = self._machine
        machine.ram.load_rom(self._roms[int(action[0])])
        machine.pc = np.uint16(BEGIN)
        with np.errstate(over="ignore"):
            for _ in range(STEPS):
                machine.cycle()
        return self._frame()

    def close(self):
        pass

    def _frame(self):
        machine = self._machine
        registers = machine.v.copy()
        return Frame(
            obs=registers[None],
            reward=np.zeros(1, np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(False),
            acting=np.ones(1, bool),
            legal=None,
            state={
                "registers": registers,
                "index": np.uint16(machine.i),
                "counter": np.uint16(machine.pc),
                "delay": np.uint8(machine.tm.delay),
                "sound": np.uint8(machine.tm.sound),
                "keys": machine.kp.keys.astype(bool),
                "data": machine.ram.mem[DATA].copy(),
                "screen": machine.disp.grid.T.astype(bool),
            },
        )
