"""The generator of Showdown's battles: a 64-bit linear congruential generator as two words.

x' = x * 0x5D588B656C078965 + 0x269EC3 mod 2^64, and a draw below n is the upper 32 bits of
(upper word of x') * n (`sim/prng.ts`, Gen5RNG). JavaScript multiplies as float64, which is exact
for n < 2^21.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array
Number = Array | np.uint32 | int

MULTIPLIER = 0x5D588B656C078965
INCREMENT = 0x269EC3
#: Draws that `skip` can make at once: the most in one place are those of two Pokemon's handlers.
LONGEST_SKIP = 8

_LOW16 = np.uint32(0xFFFF)


def _jumps() -> np.ndarray:
    """Return u32[4, LONGEST_SKIP + 1]: multiplier and increment, high and low words, of k draws."""
    rows, multiplier, increment = [], 1, 0
    for _ in range(LONGEST_SKIP + 1):
        rows.append([multiplier >> 32, multiplier & 0xFFFFFFFF, increment >> 32, increment])
        multiplier = multiplier * MULTIPLIER % 2**64
        increment = (increment * MULTIPLIER + INCREMENT) % 2**64
    return (np.array(rows, np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32).T.copy()


_JUMPS = _jumps()


class Draws:
    """The generator's present seed u32[...], advanced in place while a step is traced."""

    def __init__(self, high: Array, low: Array) -> None:
        self.high = high
        self.low = low

    def below(self, n: Number, when: Array) -> Array:
        """Draw i32[...] in [0, n) where `when`; elsewhere the seed stays and the value is void.

        n: at most 65,535.
        """
        high, low = _step(self.high, self.low)
        self.high = jnp.where(when, high, self.high)
        self.low = jnp.where(when, low, self.low)
        return _scaled(high, n)

    def skip(self, count: Array) -> None:
        """Make i32[...] draws, at most LONGEST_SKIP, whose values are unused."""
        a_high, a_low, c_high, c_low = (
            jnp.asarray(row).at[count].get(mode="promise_in_bounds") for row in _JUMPS
        )
        high, low = _product(self.high, self.low, a_high, a_low)
        self.low = low + c_low
        self.high = high + c_high + (self.low < low).astype(jnp.uint32)


jax.tree_util.register_pytree_node(
    Draws, lambda d: ((d.high, d.low), None), lambda _, words: Draws(*words)
)


def _step(high: Array, low: Array) -> tuple[Array, Array]:
    a_high, a_low = np.uint32(MULTIPLIER >> 32), np.uint32(MULTIPLIER & 0xFFFFFFFF)
    high, low = _product(high, low, a_high, a_low)
    total = low + np.uint32(INCREMENT)
    return high + (total < low).astype(jnp.uint32), total


def _product(high: Array, low: Array, a_high: Number, a_low: Number) -> tuple[Array, Array]:
    """Return the two words of x * a mod 2^64."""
    return upper(low, a_low) + low * a_high + high * a_low, low * a_low


def upper(a: Array, b: Number) -> Array:
    """Return the upper word of the product of two u32, by 16-bit limbs: no 64-bit type is used."""
    a0, a1 = a & _LOW16, a >> np.uint32(16)
    b0, b1 = b & _LOW16, b >> np.uint32(16)
    middle = a1 * b0 + (a0 * b0 >> np.uint32(16))
    cross = a0 * b1 + (middle & _LOW16)
    return a1 * b1 + (middle >> np.uint32(16)) + (cross >> np.uint32(16))


def _scaled(word: Array, n: Number) -> Array:
    n = np.uint32(n) if isinstance(n, int) else n.astype(jnp.uint32)
    high = (word >> np.uint32(16)) * n
    low = (word & _LOW16) * n >> np.uint32(16)
    return (high + low >> np.uint32(16)).astype(jnp.int32)
