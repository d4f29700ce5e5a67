"""The draws of a game, R11 to R15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_WORD = 0xFFFFFFFF
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
COINS, PICKS, SHUFFLES = 0, 1, 2


def threefry2x32(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
    """Return the two 32-bit words of Threefry-2x32 with 20 rounds (Salmon et al., SC 2011)."""
    keys = (*key, _PARITY ^ key[0] ^ key[1])
    x, y = (counter[0] + keys[0]) & _WORD, (counter[1] + keys[1]) & _WORD
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            x = (x + y) & _WORD
            y = ((y << turn | y >> 32 - turn) & _WORD) ^ x
        x = (x + keys[(group + 1) % 3]) & _WORD
        y = (y + keys[(group + 2) % 3] + group + 1) & _WORD
    return x, y


class Draws:
    """The generator of one game. heads: R4. count: draws so far."""

    def __init__(self, seed: tuple[int, int], heads: int, count: int = 0) -> None:
        self.seed = seed
        self.heads = heads
        self.count = count

    def _words(self, kind: int, wanted: int) -> list[int]:
        """R11."""
        blocks = range((wanted + 1) // 2)
        found = [threefry2x32(self.seed, (self.count, kind + 256 * block)) for block in blocks]
        self.count += 1
        return [word for block in found for word in block][:wanted]

    def coins(self, count: int) -> list[bool]:
        """R12: heads or not."""
        (word,) = self._words(COINS, 1)
        return [word >> i & 1 == self.heads for i in range(count)]

    def until_tails(self) -> int:
        """R13: how many heads."""
        return (*self.coins(32), False).index(False)

    def pick(self, things: Sequence[T]) -> T:
        """R14: one of at least one thing."""
        (word,) = self._words(PICKS, 1)
        return things[word * len(things) >> 32]

    def shuffle(self, cards: list[T]) -> list[T]:
        """R15: the cards in their new order."""
        words = self._words(SHUFFLES, len(cards))
        order = sorted(range(len(cards)), key=lambda i: words[i])
        return [cards[i] for i in order]
