"""Seeded random numbers for contracts whose starts hold more than the seed: teams, decks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_MASK = (1 << 64) - 1


def words(seed: np.ndarray) -> Iterator[int]:
    """Yield 64-bit random numbers for a seed u32[2] (splitmix64)."""
    state = int(seed[0]) << 32 | int(seed[1])
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        x = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
        yield x ^ x >> 31


def one_of(numbers: Iterator[int], choice: Sequence[Any]) -> Any:
    """Return a random element."""
    return choice[next(numbers) % len(choice)]
