"""HalfCheetah in JAX: lanes in one batch do not influence each other."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.generated.halfcheetah import dynamics
from twinstep.generated.halfcheetah.apart import BLOCK, lanes_last
from twinstep.oracles.halfcheetah import upstream
from twinstep.tests.support.requirements import need

Array = Any  # jax.Array


@lanes_last
def reckoned(numbers: Array, count: Array) -> tuple[Array, Array]:
    """Return f32[N] and f32[2, N] for f32[3, N] and f32[N]; whole numbers, so that all is exact."""
    return numbers.sum(0) * count, numbers[:2] + count[None]


def plainly(numbers: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of f32[..., 3] and f32[...], as NumPy computes it."""
    numbers = np.broadcast_to(numbers, (*count.shape, 3))
    return numbers.sum(-1) * count, numbers[..., :2] + count[..., None]


def assert_same(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def drawn(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(shape)
    return (
        rng.integers(-99, 99, (*shape, 3)).astype(np.float32),
        rng.integers(1, 99, shape).astype(np.float32),
    )


@pytest.mark.parametrize("lanes", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2, 3 * BLOCK])
def test_a_lane_is_the_same_in_a_batch_of_any_size(lanes: int) -> None:
    given = drawn(lanes)
    assert_same(jax.vmap(reckoned)(*given), plainly(*given))


def test_one_lane_needs_no_vmap() -> None:
    numbers, count = drawn(4)
    assert_same(reckoned(numbers[1], count[1]), plainly(numbers[1], count[1]))


@pytest.mark.parametrize("shared", ["numbers", "count"])
def test_an_argument_may_be_all_lanes(shared: str) -> None:
    """One state with many actions, say, or many states with one."""
    numbers, count = drawn(BLOCK + 2)
    if shared == "numbers":
        numbers, axes = numbers[5], (None, 0)
    else:
        count, axes = count[5], (0, None)
    found = jax.vmap(reckoned, axes)(numbers, count)
    assert_same(found, plainly(numbers, np.broadcast_to(count, BLOCK + 2)))


def test_vmaps_may_be_nested_each_over_another_argument() -> None:
    numbers, count = drawn(5)[0], drawn(BLOCK)[1]
    for outer, inner in (((0, None), (None, 0)), ((None, 0), (0, None))):
        found = jax.vmap(jax.vmap(reckoned, inner), outer)(numbers, count)
        grid = np.broadcast_arrays(numbers[:, None], count[None, :, None])
        expected = plainly(grid[0], grid[1][..., 0])
        if outer == (None, 0):
            expected = [np.swapaxes(part, 0, 1) for part in expected]
        assert_same(found, expected)


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_lanes_go_through_in_blocks_on_a_processor_only(
    monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    widths = []

    @lanes_last
    def width(numbers: Array) -> Array:
        widths.append(numbers.shape[-1])
        return numbers + 1

    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    jax.eval_shape(jax.vmap(width), jnp.zeros((3 * BLOCK, 2)))
    assert widths[-1] == (BLOCK if backend == "cpu" else 3 * BLOCK)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_lane_is_lost_for_the_numbers_that_are_none_for_mujoco(dtype: type) -> None:
    need(upstream.probe({}))
    from mujoco import mju_isBad

    most = dtype(1e10)
    beyond = np.nextafter(most, dtype(np.inf))
    numbers = [0, most, -most, beyond, -beyond, np.inf, -np.inf, np.nan]
    with jax.enable_x64(True):
        lanes = jnp.zeros((3, len(numbers)), dtype).at[1].set(np.array(numbers, dtype))
        found = dynamics._wild(lanes)
    assert found.tolist() == [bool(mju_isBad(float(number))) for number in numbers]
