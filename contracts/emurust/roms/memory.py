"""How a game says where its variables lie and which of them are the reward. Data only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
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
    """Return the number that `value` names (its first, if it names several)."""
    return sum(memory[value.address + byte] << 8 * byte for byte in range(value.size))


@dataclass(frozen=True)
class Common:
    """Variables that every game keeps at $C100 and on: its map begins with them."""

    prng: Value = Value(0xC105, 2, "state of the random numbers. Poke it to seed; 0 plays as $1D2B")
    playing: Value = Value(0xC10E, 1, "0 until the first frame of the game, which draws first")
    over: Value = Value(0xC107, 1, "1 from the end of the game on, for ever")


def constants(variables: Common) -> dict[str, int]:
    """The addresses as constants of the assembler."""
    return {each.name: getattr(variables, each.name).address for each in fields(variables)}


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
class Bits:
    """A reward: how many bits more are set in a value than before the step, times a weight."""

    value: Value
    weight: float = 1.0


@dataclass(frozen=True)
class New:
    """A reward: `weight` when an episode shows these values together for the first time.

    The combinations seen in an episode are kept in SEEN_BITS bits. The values' bytes in a row, low
    byte first, choose the bit: FNV-1a of 32 bits (start 0x811C9DC5, factor 0x01000193) over them,
    its upper 16 bits then xored into the lower, and the lowest 15 kept. Two combinations with the
    same bit count as one. Those of the first frame count as seen.
    """

    values: tuple[Value, ...]
    weight: float = 1.0


#: Bits of an episode's memory of seen combinations, for each New.
SEEN_BITS = 1 << 15


@dataclass(frozen=True)
class Rules:
    """The rules that make a cartridge an environment: data given to oracle and candidates alike.

    reward: parts of the reward, added up in this order in float64. `Change`, `Bits`: of a value's
        number (its first, if it names several).
    done: the episode ends when this is not 0; None: it never ends.
    actions: the buttons held together, one tuple for each action; the first is no button.
    observed: what `observe=values` shows, by name, in this order; each number's bytes as they lie.
    seed: the bytes that receive a start's random number, low byte first; None for none.
    seed_frame: the number of frames from the hand-over to that poke.
    start_frames: frames played without a button before an episode's first frame, at least 1.
    waits: the start chooses 0 to waits - 1 further such frames.
    """

    reward: tuple[Change | Bits | New, ...] = ()
    done: Value | None = None
    actions: tuple[tuple[str, ...], ...] = ((),)
    observed: Mapping[str, Value] = field(default_factory=dict)
    seed: Value | None = None
    seed_frame: int = 0
    start_frames: int = 1
    waits: int = 1

    def values(self) -> Iterator[Value]:
        """Yield every value that is read or written."""
        for part in self.reward:
            yield from part.values if isinstance(part, New) else (part.value,)
        yield from self.observed.values()
        yield from (value for value in (self.done, self.seed) if value is not None)


@dataclass(frozen=True)
class Game:
    """A game: its cartridge, and the addresses of reward and end.

    To play: run the boot ROM for `boot_frames` frames, poke `variables.prng`, and play. From there
    on the game depends on these two bytes and the buttons alone.
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
        """Return the cartridge with its labels and listing, assembled once."""
        return self.build()

    @property
    def rom(self) -> bytes:
        """Return the cartridge's bytes."""
        return self.assembled.data

    @property
    def rules(self) -> Rules:
        """Return the game as an environment: one button at a time, seeded at once, in full play.

        All games here play from their 13th frame on at the latest, and the seed survives the
        start-up. An observation of values holds all single variables except the random numbers.
        """
        named = {each.name: getattr(self.variables, each.name) for each in fields(self.variables)}
        return Rules(
            reward=self.reward,
            done=self.done,
            actions=((), *((button,) for button in self.buttons)),
            observed={n: v for n, v in named.items() if v.count == 1 and n != "prng"},
            seed=self.variables.prng,
            start_frames=16,
            waits=16,
        )
