"""Guards that keep compiled arithmetic equal to the same arithmetic in Python, to the last bit.

XLA rounds less, or more, often than Python does in two places. Neither
`lax.optimization_barrier` nor `lax.reduce_precision` prevents that. Integer operations on the bits
do, as long as the compiler cannot prove that they change nothing.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

#: The bits of one particular NaN. No value here is a NaN, which the compiler cannot prove.
_NEVER = 0x7FF8_DEAD_BEEF_0001


def rounded(product: Array) -> Array:
    """Return a float64 product unchanged, rounded before anything is added to it.

    XLA fuses a * b + c into one operation that rounds once, where Python rounds twice.
    """
    return _from_bits(_bits(product) + _zero(product))


def divided(value: Array, divisor: float) -> Array:
    """Return the true quotient of a float64 and a constant.

    XLA multiplies by the inverse of a constant instead, which rounds twice.
    """
    return value / _from_bits(_bits(jnp.float64(divisor)) + _zero(value))


def _zero(value: Array) -> Array:
    return (_bits(value) == _NEVER).astype(jnp.int64)


def _bits(value: Array) -> Array:
    return lax.bitcast_convert_type(value, jnp.int64)


def _from_bits(bits: Array) -> Array:
    return lax.bitcast_convert_type(bits, jnp.float64)
