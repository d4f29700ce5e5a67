"""Numbers made of random words with NumPy. `jax_random` makes the same ones of the same words.

A reference rounds in float64 and asks `random() < 1 / 3`; its port rounds in float32 and draws by
weights. So a real number is the middle of one of 2**16 parts: no simple fraction is one, and
rounding moves no bound across one. Small whole numbers are `floor(unit * n)` of it.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

#: Whole numbers up to this are made of a real one.
SMALL = 2**15
#: Values of a normal number: its quantiles in the middle of as many equal parts.
NORMALS = 4096


def units(words: np.ndarray) -> np.ndarray:
    """Return f64 in (0, 1), which float32 holds as well."""
    return halves(words).astype(np.float64) * 2.0**-17


def halves(words: Any) -> Any:
    """Return odd numbers u32 below 2**17, of NumPy's or JAX's words."""
    return (words >> np.uint32(15)) | np.uint32(1)


def below(words: np.ndarray, count: int) -> np.ndarray:
    """Return i64 in [0, count), count at most 2**32. ValueError without a number to choose."""
    if count < 1:
        raise ValueError("low >= high")
    if count <= SMALL:
        return (halves(words) * np.uint32(count) >> np.uint32(17)).astype(np.int64)
    return ((words.astype(np.uint64) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def normals(words: np.ndarray) -> np.ndarray:
    """Return normal numbers, f64 of float32 values: one of NORMALS each."""
    return quantiles()[words >> np.uint32(20)].astype(np.float64)


def order(words: np.ndarray) -> np.ndarray:
    """Return the permutation i64[N] of N words: their order."""
    return np.argsort(words, kind="stable")


def chosen(words: np.ndarray, weights: Any) -> np.ndarray:
    """Return indices i64 drawn with probabilities [N]: the count of parts that lie below."""
    parts = np.cumsum(np.asarray(weights, np.float64))
    places = units(words)[..., None] * parts[-1]
    return np.minimum((parts <= places).sum(-1), len(parts) - 1)


@functools.cache
def quantiles() -> np.ndarray:
    """Return the quantiles f32[NORMALS] of the normal distribution."""
    from scipy.special import ndtri

    return ndtri((np.arange(NORMALS) + 0.5) / NORMALS).astype(np.float32)


def size_of(size: Any) -> tuple[tuple[int, ...] | None, int]:
    """Return NumPy's `size` as a shape, None for one number, and the count of numbers."""
    if size is None:
        return None, 1
    shape = (int(size),) if np.ndim(size) == 0 else tuple(int(each) for each in size)
    return shape, math.prod(shape)
