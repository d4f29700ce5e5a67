"""Teams: drawn from the pool of random-battle teams, or from all existing species and moves."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from twinstep.contracts import drawn

SPECIES, STRUGGLE = 151, 165
_BEST_IV, _BEST_EV = 30, 255


@functools.cache
def pool() -> np.ndarray:
    """Return the random-battle teams u8[K, 6, 18] of teams.json."""
    data = json.loads(Path(__file__).with_name("teams.json").read_text())
    return np.array(data["teams"], np.uint8)


def _member(words: Iterator[int], species: int, level: int, moves: list[int]) -> list[int]:
    genes = [_BEST_IV] * 6 + [_BEST_EV] * 6
    if next(words) % 4 == 0:
        genes = [next(words) % 16 * 2 for _ in range(6)] + [next(words) % 256 for _ in range(6)]
    return [species, level, *(moves + [0] * 4)[:4], *genes]


def _moves(words: Iterator[int], choice: tuple[int, ...], count: int) -> list[int]:
    """Draw `count` different moves."""
    found: list[int] = []
    while len(found) < count:
        move = choice[next(words) % len(choice)]
        if move not in found:
            found.append(move)
    return found


def randbats(seed: np.ndarray) -> dict[str, np.ndarray]:
    """Draw both teams from the pool."""
    words = drawn.words(seed)
    teams = pool()
    return {"team": np.stack([teams[next(words) % len(teams)] for _ in range(2)])}


def anything(seed: np.ndarray) -> dict[str, np.ndarray]:
    """Draw teams of any species with any moves, levels mostly alike.

    A team has six members with four moves each, except one team in eight.
    """
    words = drawn.words(seed)
    every = tuple(range(1, STRUGGLE))
    kind = next(words) % 4
    level = 100 if kind else 1 + next(words) % 255
    return _teams(words, lambda: (_level(words, kind, level), _moves(words, every, _count(words))))


def _count(words: Iterator[int]) -> int:
    return 1 + next(words) % 4 if next(words) % 8 == 0 else 4


def _level(words: Iterator[int], kind: int, level: int) -> int:
    """Return one level for everybody, or individual levels where `kind` is 1."""
    return 1 + next(words) % 100 if kind == 1 else level


def _teams(
    words: Iterator[int], member: Callable[[], tuple[int, list[int]]]
) -> dict[str, np.ndarray]:
    teams = np.zeros((2, 6, 18), np.uint8)
    for side in range(2):
        size = 1 + next(words) % 6 if next(words) % 8 == 0 else 6
        for i in range(size):
            level, moves = member()
            teams[side, i] = _member(words, 1 + next(words) % SPECIES, level, moves)
    return {"team": teams}


def directed(choice: tuple[int, ...]) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Return a maker of teams whose moves are drawn from these only."""

    def make(seed: np.ndarray) -> dict[str, np.ndarray]:
        words = drawn.words(seed)
        count = min(4, len(choice))
        return _teams(words, lambda: (100, _moves(words, choice, count)))

    return make


def one_of(
    makers: tuple[Callable[[np.ndarray], dict[str, np.ndarray]], ...],
) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Return a maker that lets the seed choose one of these."""
    return lambda seed: makers[next(drawn.words(seed)) % len(makers)](seed)


def mirror(seed: np.ndarray) -> dict[str, np.ndarray]:
    """Give both sides six of the same Pokemon: every speed ties until something changes it."""
    words = drawn.words(seed)
    every = tuple(range(1, STRUGGLE))
    species, level = 1 + next(words) % SPECIES, 100
    best = [_BEST_IV] * 6 + [_BEST_EV] * 6
    teams = [
        [[species, level, *_moves(words, every, 4), *best] for _ in range(6)] for _ in range(2)
    ]
    return {"team": np.array(teams, np.uint8)}
