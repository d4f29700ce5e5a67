"""Arrays as JSON and as text, deterministic to the byte."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np

#: Size from which byte arrays (memory, pictures) are packed.
PACKED = 1024


def to_json(value: Any) -> Any:
    """Return plain lists and numbers; floats as their shortest exact text, NaN and inf as text.

    u8 arrays of at least PACKED bytes become {"shape": ..., "zlib": base64}.
    """
    array = np.asarray(value)
    if array.dtype == np.uint8 and array.size >= PACKED:
        data = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
        return {"shape": list(array.shape), "zlib": data}
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
    """Return the array of a `to_json` value; ValueError for any other value."""
    if isinstance(value, dict):
        return _unpacked(value, dtype, shape)
    array = np.array(value, dtype=np.dtype(dtype))
    return array.reshape(shape) if shape is not None else array


def _unpacked(value: dict[str, Any], dtype: Any, shape: tuple[int, ...] | None) -> np.ndarray:
    wanted = tuple(value["shape"])
    if np.dtype(dtype) != np.uint8 or shape not in (None, wanted):
        raise ValueError(f"packed bytes of shape {wanted}")
    size = math.prod(wanted)
    unpack = zlib.decompressobj()  # bounded by the shape, whatever the data holds
    try:
        data = unpack.decompress(base64.b64decode(value["zlib"], validate=True), size + 1)
    except zlib.error as error:
        raise ValueError(f"packed bytes do not unpack ({error})") from error
    if len(data) != size:
        raise ValueError(f"{len(data)} packed bytes of {size}")
    return np.frombuffer(data, np.uint8).reshape(wanted).copy()


def text_of(value: Any) -> str:
    """Return a short exact text: `-1`, `0.1`, `[0, 3]`; long arrays are cut and show their size."""
    array = from_json(value, np.uint8) if isinstance(value, dict) else np.asarray(value)
    if array.dtype.kind == "U":  # from a record, where NaN and infinities are text
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
