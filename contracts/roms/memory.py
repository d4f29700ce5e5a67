"""How a game says where its variables lie and which of them are the reward. Data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

from .assembler import Block


@dataclass(frozen=True)
class Value:
    """An unsigned number in memory, low byte first; or with `count`, that many of them in a row."""

    address: int
    size: int = 1
    doc: str = ""
    count: int = 1

    def __index__(self) -> int:
        return self.address


class Reads(Protocol):
    """Memory that gives a byte for an address: PyBoy's `memory`, a bytes object of 64 KB."""

    def __getitem__(self, address: int, /) -> int: ...


def read(memory: Reads, value: Value) -> int:
    """The number that `value` names (its first, if it names several)."""
    return sum(memory[value.address + byte] << 8 * byte for byte in range(value.size))


@dataclass(frozen=True)
class Common:
    """What every game here keeps at the same place, at $C100 and on: its map begins with this."""

    prng: Value = Value(0xC105, 2, "state of the random numbers. Poke it to seed; 0 plays as $1D2B")
    playing: Value = Value(0xC10E, 1, "0 until the first frame of the game, which draws first")
    over: Value = Value(0xC107, 1, "1 from the end of the game on, for ever")


def constants(variables: Common) -> dict[str, int]:
    """The addresses as constants of the assembler."""
    return {field.name: getattr(variables, field.name).address for field in fields(variables)}


@dataclass(frozen=True)
class Change:
    """A reward: how much a value grew since the last step, times a weight.

    Differences are taken modulo the value's size, to the nearer side: a counter may wrap.
    """

    value: Value
    weight: float = 1.0

    def __call__(self, before: int, after: int) -> float:
        span = 1 << 8 * self.value.size
        return self.weight * ((after - before + span // 2) % span - span // 2)


@dataclass(frozen=True)
class Game:
    """A game: its cartridge, and where an agent finds reward and end.

    To play: run the boot ROM for `boot_frames` frames, poke `variables.prng`, and play. What the
    game does from there on depends on these two bytes and the buttons alone.
    """

    name: str
    build: Callable[[], Block]
    variables: Common
    buttons: tuple[str, ...]  # those that it reads, as PyBoy names them
    reward: tuple[Change, ...]
    done: Value  # the episode ends when this is not 0
    doc: str
    boot_frames: int = 65

    @cached_property
    def assembled(self) -> Block:
        """The cartridge with its labels and listing, assembled once."""
        return self.build()

    @property
    def rom(self) -> bytes:
        """The cartridge's bytes."""
        return self.assembled.data
