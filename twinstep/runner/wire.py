"""The messages between the harness and a candidate's process: a JSON header, then plain bytes.

The other side is not trusted: decoding never runs code. Arrays travel as their bytes, a
candidate's state as the number under which its process keeps it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from twinstep.frames import Frame, Start
from twinstep.protocols import ModuleCall

_HEAD = struct.Struct("<Q")
_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Frame, Start, ModuleCall)}
#: Kinds of arrays that travel: numbers and truth values of any width, no objects or texts.
_ARRAYS = "biufc"
#: Bytes of a message: the largest window of the largest observation has half of them.
MOST = 4 << 30


class Garbled(Exception):
    """The other side sent an invalid message."""


@dataclass(frozen=True)
class Held:
    """The number of a state that the other side keeps."""

    number: int


def pack(value: Any, room: memoryview | None = None) -> bytes:
    """Return a value as bytes: None, truth values, numbers, texts, arrays, Frame, Start, and
    lists, tuples and mappings of these. TypeError for anything else.

    room: memory that the reader has too; the arrays' bytes go there if they fit.
    """  # fmt: skip
    arrays: list[np.ndarray] = []
    tree = _described(value, arrays)
    if room is None or sum(array.nbytes for array in arrays) > len(room):
        return b"".join([_headed(tree), *(array.tobytes() for array in arrays)])
    at = 0
    for array in arrays:
        there = np.frombuffer(room, array.dtype, array.size, at).reshape(array.shape)
        np.copyto(there, array)
        at += array.nbytes
    return _headed({"room": tree})


def unpack(data: bytes | memoryview, room: memoryview | None = None) -> Any:
    """Return the value that `pack` was given; tuples come back as tuples. Raises Garbled.

    room: the memory that the writer may have used. It may write there still: what counts is the
    copy that is returned.
    """
    try:
        (size,) = _HEAD.unpack_from(data)
        tree = json.loads(bytes(data[_HEAD.size : _HEAD.size + size]))
        rest = memoryview(data)[_HEAD.size + size :]
        if "room" in tree and room is not None and not rest:
            value, _ = _built(tree["room"], room, 0)
            return value
        value, used = _built(tree, rest, 0)
    except (ValueError, KeyError, TypeError, IndexError, struct.error, RecursionError) as error:
        raise Garbled(f"{type(error).__name__}: {error}") from error
    if used != len(rest):
        raise Garbled(f"{len(rest) - used} bytes too many")
    return value


def _headed(tree: Any) -> bytes:
    head = json.dumps(tree).encode()
    return _HEAD.pack(len(head)) + head


def _described(value: Any, arrays: list[np.ndarray]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return {"v": value}
    if isinstance(value, Held):
        return {"held": value.number}
    for name, kind in _KINDS.items():
        if isinstance(value, kind):
            return {"named": name, "of": [_described(part, arrays) for part in value]}
    if isinstance(value, Mapping):
        parts = [[str(name), _described(part, arrays)] for name, part in value.items()]
        return {"map": parts}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_described(part, arrays) for part in value]}
    return _array(value, arrays)


def _array(value: Any, arrays: list[np.ndarray]) -> Any:
    array = np.asarray(value)
    if array.dtype.kind not in _ARRAYS:
        raise TypeError(f"a {type(value).__name__} is no array of numbers")
    arrays.append(array)
    return {"array": array.dtype.str, "shape": list(array.shape)}


def _built(tree: Any, rest: memoryview, at: int) -> tuple[Any, int]:
    if "array" in tree:
        dtype = np.dtype(tree["array"])
        if dtype.kind not in _ARRAYS or any(n < 0 for n in tree["shape"]):
            raise ValueError(f"no array of numbers: {tree}")
        end = at + dtype.itemsize * int(np.prod(tree["shape"], dtype=np.int64))
        # A copy is writable and does not keep the message alive.
        return np.frombuffer(rest[at:end], dtype).reshape(tree["shape"]).copy(), end
    if "v" in tree:
        return tree["v"], at
    if "held" in tree:
        return Held(int(tree["held"])), at
    if "map" in tree:
        mapping = {}
        for name, part in tree["map"]:
            mapping[name], at = _built(part, rest, at)
        return mapping, at
    parts, inner = [], tree.get("of", tree.get("list", tree.get("tuple")))
    for part in inner:
        value, at = _built(part, rest, at)
        parts.append(value)
    if "named" in tree:
        return _KINDS[tree["named"]](*parts), at
    return (tuple(parts) if "tuple" in tree else parts), at
