"""Guarded arithmetic in JAX is NumPy's to the last bit, where unguarded arithmetic is not."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.exact import divided, rounded, summed

COUNT = 200_000
CONSTANT = 1.1
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])


def _numbers(dtype):
    rng = np.random.default_rng(0)
    return [rng.uniform(-6.0, 6.0, COUNT).astype(dtype) for _ in range(3)]


def _differing(dtype, numpys, jaxs):
    """Return how many results of a function of three arrays differ in their bits."""
    numbers = _numbers(dtype)
    wide = jax.enable_x64(True) if dtype == "float64" else contextlib.nullcontext()
    with wide:
        got = np.asarray(jax.jit(jaxs)(*map(jnp.asarray, numbers)))
    want = numpys(*numbers)
    assert got.dtype == want.dtype == dtype
    whole = f"i{want.dtype.itemsize}"
    return int((got.view(whole) != want.view(whole)).sum())


@DTYPES
def test_a_product_that_is_rounded_is_not_fused_with_a_sum(dtype):
    numpys = lambda a, b, c: a * b + c  # noqa: E731
    assert _differing(dtype, numpys, lambda a, b, c: rounded(a * b) + c) == 0
    assert _differing(dtype, numpys, numpys) > COUNT // 100, "the guard is needed no more"


@DTYPES
def test_a_quotient_by_a_constant_is_no_product(dtype):
    numpys = lambda a, b, c: a / np.dtype(dtype).type(CONSTANT)  # noqa: E731
    assert _differing(dtype, numpys, lambda a, b, c: divided(a, CONSTANT)) == 0
    plain = lambda a, b, c: a / jnp.asarray(CONSTANT, a.dtype)  # noqa: E731
    assert _differing(dtype, numpys, plain) > COUNT // 100, "the guard is needed no more"


@DTYPES
def test_a_sum_goes_from_left_to_right_over_rounded_terms(dtype):
    numpys = lambda a, b, c: a * b + b * c + c * a + a  # noqa: E731
    guarded = lambda a, b, c: summed([a * b, b * c, c * a, a])  # noqa: E731
    assert _differing(dtype, numpys, guarded) == 0
    other = lambda a, b, c: summed([a, c * a, b * c, a * b])  # noqa: E731
    assert _differing(dtype, numpys, other) > COUNT // 100


@DTYPES
def test_zeros_infinities_and_small_numbers_stay_as_they_are(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    values = np.array([0.0, -0.0, np.inf, -np.inf, tiny, -tiny, 1.5], dtype)
    wide = jax.enable_x64(True) if dtype == "float64" else contextlib.nullcontext()
    with wide:
        got = np.asarray(jax.jit(rounded)(jnp.asarray(values)))
    assert got.tobytes() == values.tobytes()
