"""The draws of a game: threefry2x32, coins, picks and shuffles (R11 to R15)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.tcgjax.stage import Record

Array = jax.Array

COINS, PICKS, SHUFFLES = 0, 1, 2
#: Draws of one step at most: a confused attacker's coin, an attack's coins, four picks, two coins
#: each for burns and sleep, the next energy.
AHEAD = 12

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def block(key: tuple[Array, Array], counter: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return both words u32[...] of threefry2x32 with 20 rounds."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            x = x + y
            y = x ^ (y << np.uint32(turn) | y >> np.uint32(32 - turn))
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def scaled(word: Array, count: Array) -> Array:
    """Return i32: (word * count) div 2^32, for a count of at most 65,535 (R14)."""
    n = count.astype(jnp.uint32)
    low = (word & np.uint32(0xFFFF)) * n >> np.uint32(16)
    return ((word >> np.uint32(16)) * n + low >> np.uint32(16)).astype(jnp.int32)


class Draws(Record):
    """The draws of one step. made: i32[], the number made so far."""

    def __init__(self, seed: Array, draws: Array, heads: Array) -> None:
        self._key = (seed[0], seed[1])
        self._first = draws.astype(jnp.uint32)
        self._heads = heads
        numbers = jnp.tile(self._first + jnp.arange(AHEAD, dtype=jnp.uint32), 2)
        kinds = np.repeat(np.array([COINS, PICKS], np.uint32), AHEAD)
        self._words = block(self._key, (numbers, jnp.asarray(kinds)))[0].reshape(2, AHEAD)
        self.made = jnp.int32(0)

    def _word(self, kind: int, when: Array) -> Array:
        here = jnp.arange(AHEAD, dtype=jnp.int32) == self.made
        word = jnp.sum(jnp.where(here, self._words[kind], np.uint32(0)), dtype=jnp.uint32)
        self.made = self.made + when.astype(jnp.int32)
        return word

    def coins(self, when: Array) -> Array:
        """Flip coins where `when`: u32[] whose bit i is set if coin i shows heads (R4, R12)."""
        word = self._word(COINS, when)
        none = jnp.where(self._heads == 0, ~word, np.uint32(0))
        return jnp.where(self._heads == 1, word, none)

    def coin(self, when: Array) -> Array:
        """Flip one coin where `when`: bool[], heads."""
        return (self.coins(when) & np.uint32(1)) == 1

    def pick(self, count: Array, when: Array) -> Array:
        """Pick i32[] below count where `when`, if there is anything (R14)."""
        return scaled(self._word(PICKS, when & (count > 0)), count)

    def shuffle(self, when: Array) -> Array:
        """Return the words u32[20] of a shuffle, a draw where `when` (R15)."""
        number = jnp.broadcast_to(self._first + self.made.astype(jnp.uint32), (10,))
        place = jnp.asarray(SHUFFLES + 256 * np.arange(10, dtype=np.uint32), jnp.uint32)
        self.made = self.made + when.astype(jnp.int32)
        return jnp.stack(block(self._key, (number, place)), 1).reshape(20)


def heads_among(flipped: Array, count: Array) -> Array:
    """Return i32[]: the number of heads among the first `count` coins, at most 31."""
    kept = (np.uint32(1) << count.astype(jnp.uint32)) - np.uint32(1)
    return jax.lax.population_count(flipped & kept).astype(jnp.int32)


def heads_until_tails(flipped: Array) -> Array:
    """Return i32[]: the number of heads before the first tails (R13)."""
    run = flipped & ~(flipped + np.uint32(1))
    return jax.lax.population_count(run).astype(jnp.int32)
