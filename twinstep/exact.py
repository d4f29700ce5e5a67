"""Guards that keep compiled arithmetic equal to that of Python or C, to the last bit.

XLA rounds less, or more, often than the source says in two places: it fuses a product and a sum,
and it turns a division by a constant into a product. Neither `lax.optimization_barrier` nor
`lax.reduce_precision` prevents that. Integer operations on the bits do, as long as the compiler
cannot prove that they change nothing. `docs/exact-arithmetic.md` says when which one is needed.

All functions take float32 or float64 arrays of any shape, inside or outside `jax.jit`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

#: For each width, integers of it and the bits of one particular NaN: no value of a simulation is a
#: NaN, which the compiler cannot prove.
_NEVER = {"float32": (jnp.int32, 0x7FC0_BEEF), "float64": (jnp.int64, 0x7FF8_DEAD_BEEF_0001)}


def rounded(product: Array) -> Array:
    """Return a product unchanged, rounded before anything is added to it.

    XLA fuses a * b + c into one operation that rounds once, where Python rounds twice.
    """
    whole, _ = _NEVER[product.dtype.name]
    bits = lax.bitcast_convert_type(product, whole) + _zero(product)
    return lax.bitcast_convert_type(bits, product.dtype)


def divided(value: Array, divisor: float) -> Array:
    """Return the true quotient of an array and a constant.

    XLA multiplies by the inverse of a constant instead, which rounds twice.
    """
    whole, _ = _NEVER[value.dtype.name]
    constant = lax.bitcast_convert_type(jnp.asarray(divisor, value.dtype), whole)
    return value / lax.bitcast_convert_type(constant + _zero(value), value.dtype)


def summed(terms: Sequence[Array]) -> Array:
    """Return the sum of arrays of one shape, added from left to right as a loop does.

    `jnp.sum` may add in any order. Each term is rounded first, so that no product in it is fused.
    """
    return functools.reduce(operator.add, map(rounded, terms))


def _zero(value: Array) -> Array:
    """Return integers that are 0 for every number, which the compiler has to compute."""
    whole, never = _NEVER[value.dtype.name]
    return (lax.bitcast_convert_type(value, whole) == never).astype(whole)
