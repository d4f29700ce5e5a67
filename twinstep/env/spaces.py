"""Observation and action spaces with the attributes of Gymnasium's, which need not be installed.

`twinstep.adapters` gives Gymnasium's and gymnax's own classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace, Box, Field


@dataclass(frozen=True)
class DiscreteSpace:
    """The integers 0 .. n-1."""

    n: int
    dtype: np.dtype

    shape: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class BoxSpace:
    """Arrays between `low` and `high`, which have the space's shape and dtype and are read-only."""

    low: np.ndarray
    high: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one array."""
        return self.low.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of every element."""
        return self.low.dtype

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoxSpace)
            and self.dtype == other.dtype
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]


def observation_space(field: Field) -> BoxSpace:
    """Return the space of one player's observation; an undeclared end is the dtype's own."""
    dtype = np.dtype(field.dtype)
    ends: tuple[Any, Any] = (False, True)
    if dtype.kind == "f":
        ends = (-np.inf, np.inf)
    elif dtype.kind != "b":
        ends = (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low = ends[0] if field.low is None else field.low
    high = ends[1] if field.high is None else field.high
    return _box(low, high, field.shape, dtype)


def action_space(action: ActionSpace) -> DiscreteSpace | BoxSpace:
    """Return the space of one player's action."""
    dtype = np.dtype(action.dtype)
    if isinstance(action, Box):
        return _box(action.low, action.high, action.shape, dtype)
    return DiscreteSpace(action.n, dtype)


def _box(low: Any, high: Any, shape: tuple[int, ...], dtype: np.dtype) -> BoxSpace:
    ends = (np.broadcast_to(np.asarray(end, dtype), shape) for end in (low, high))
    return BoxSpace(*ends)
