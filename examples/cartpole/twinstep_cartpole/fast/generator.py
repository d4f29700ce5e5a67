"""NumPy's default generator: SeedSequence and PCG64, from a seed to numbers in [0, 1).

SeedSequence is M. E. O'Neill's seed_seq hash; PCG64 is PCG-XSL-RR-128/64. A 128-bit number is
a pair of u64, the high one first.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

POOL = 4
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = 0xCA01F9DD, 0x4973F715
MULTIPLIER = (0x2360ED051FC65DA4, 0x4385DF649FCCF645)

Wide = tuple[Array, Array]


class Generator(NamedTuple):
    """PCG64: state and increment, 128 bits each."""

    state: Wide
    inc: Wide


def seeded(seed: Array) -> Generator:
    """Return the generator of the seed seed[0] + seed[1] * 2**32, from u32[2]."""
    words = _seed_sequence([seed[0], seed[1], jnp.uint32(0), jnp.uint32(0)], 8)
    values = [_join(words[n + 1], words[n]) for n in range(0, 8, 2)]
    begin, sequence = (values[0], values[1]), (values[2], values[3])
    inc = (sequence[0] << 1 | sequence[1] >> 63, sequence[1] << 1 | 1)
    # The state starts at 0, from where one advance leads to `inc`.
    return Generator(_advance(_add(begin, inc), inc), inc)


def uniform(generator: Generator) -> tuple[Generator, Array]:
    """Return the next generator and a f64 in [0, 1): 53 bits of its output, exact."""
    state = _advance(generator.state, generator.inc)
    high, low = state
    mixed, turn = high ^ low, high >> 58
    out = mixed >> turn | mixed << (-turn & 63)
    return Generator(state, generator.inc), (out >> 11).astype(jnp.float64) * 2.0**-53


def words(generator: Generator) -> Array:
    """Return state and increment as u32[8], each with its lowest word first."""
    (s1, s0), (i1, i0) = generator
    parts = [part >> shift for part in (s0, s1, i0, i1) for shift in (0, 32)]
    return jnp.stack([part.astype(jnp.uint32) for part in parts])


def _seed_sequence(entropy: list[Array], count: int) -> list[Array]:
    """Return `count` u32 of SeedSequence for four words of entropy."""
    key = INIT_A

    def hashed(value: Array) -> Array:
        nonlocal key
        value = value ^ jnp.uint32(key)
        key = key * MULT_A & 0xFFFF_FFFF
        value = value * jnp.uint32(key)
        return value ^ value >> 16

    pool = [hashed(value) for value in entropy]
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                left = pool[target] * jnp.uint32(MIX_LEFT)
                mixed = left - hashed(pool[source]) * jnp.uint32(MIX_RIGHT)
                pool[target] = mixed ^ mixed >> 16
    key, out = INIT_B, []
    for number in range(count):
        value = pool[number % POOL] ^ jnp.uint32(key)
        key = key * MULT_B & 0xFFFF_FFFF
        value = value * jnp.uint32(key)
        out.append(value ^ value >> 16)
    return out


def _join(high: Array, low: Array) -> Array:
    return high.astype(jnp.uint64) << 32 | low.astype(jnp.uint64)


def _add(a: Wide, b: Wide) -> Wide:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(jnp.uint64), low


def _advance(state: Wide, inc: Wide) -> Wide:
    """Return state * MULTIPLIER + inc modulo 2**128."""
    high, low = (jnp.uint64(part) for part in MULTIPLIER)
    carried, product = _multiply(state[1], low)
    return _add((carried + state[0] * low + state[1] * high, product), inc)


def _multiply(a: Array, b: Array) -> Wide:
    """Return the 128-bit product of two u64."""
    mask = jnp.uint64(0xFFFF_FFFF)
    a1, a0, b1, b0 = a >> 32, a & mask, b >> 32, b & mask
    middle = a1 * b0 + (a0 * b0 >> 32)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> 32) + (other >> 32), a * b
