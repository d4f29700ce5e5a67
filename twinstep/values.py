"""Arrays in JSON and in text, the same bytes each time."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_json(value: Any) -> Any:
    """Return plain lists and numbers. Floats keep their shortest exact text; NaN, inf as text."""
    array = np.asarray(value)
    if array.ndim:
        return [to_json(item) for item in array]
    if array.dtype.kind == "f":
        number = float(str(array[()])) if np.isfinite(array) else str(array[()])
        return number
    if array.dtype.kind == "b":
        return bool(array)
    if array.dtype.kind in "iu":
        return int(array)
    raise TypeError(f"cannot keep {array.dtype} in a report")


def from_json(value: Any, dtype: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return the array that `to_json` was given."""
    array = np.array(value, dtype=np.dtype(dtype))
    return array.reshape(shape) if shape is not None else array


def text_of(value: Any) -> str:
    """Return a short exact text: `-1`, `0.1`, `[0, 3]`; long arrays are cut with their size."""
    array = np.asarray(value)
    if array.dtype.kind == "U":  # of a record, where NaN and infinities are text
        array = array.astype(np.float64)
    if array.ndim == 0:
        return str(to_json(array)) if array.dtype.kind != "f" else _float(array)
    if array.size > 12:
        head = ", ".join(text_of(item) for item in array.reshape(-1)[:6])
        return f"[{head}, ... {array.size} values]"
    return "[" + ", ".join(text_of(item) for item in array) + "]"


def _float(array: np.ndarray) -> str:
    text = str(array[()])
    return text.removesuffix(".0")
