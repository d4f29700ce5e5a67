"""Read and write one value inside a library's state, named by a path as `physics.qpos[0]`.

A name is an attribute, or the key of a mapping; a number in brackets is an index. The empty path is
the whole state.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from twinstep.errors import UserError

Part = str | int
_PART = re.compile(r"\.?([A-Za-z_]\w*)|\[(-?\d+)\]")


def parse(path: str) -> tuple[Part, ...]:
    """Return the parts of a path. UserError if it is none."""
    parts, at = [], 0
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            raise UserError(f"fields: '{path}' is no path: write names and indices, as 'a.b[0]'")
        parts.append(found[1] or int(found[2]))
        at = found.end()
    return tuple(parts)


def innermost(env: Any) -> Any:
    """Return the object below the wrappers of an environment, itself where it has none."""
    return getattr(env, "unwrapped", env)


def settable(fields: Any) -> dict[str, str]:
    """Return the paths of `fields` if all are paths, else nothing."""
    paths = isinstance(fields, Mapping) and all(isinstance(how, str) for how in fields.values())
    return dict(fields) if paths else {}


def read(state: Any, path: str) -> Any:
    """Return the value at a path. UserError, with what is there instead, if there is none."""
    value = state
    for part in parse(path):
        value = _inner(value, part, path)
    return value


def _inner(value: Any, part: Part, path: str) -> Any:
    if isinstance(part, str):
        if isinstance(value, Mapping) and part in value:
            return value[part]
        if hasattr(value, part):
            return getattr(value, part)
        there = ", ".join(_names(value)) or "no parts"
        kind = type(value).__name__
        raise UserError(f"fields: '{path}' is not there: {kind} has no '{part}' (it has {there})")
    size = np.shape(value)[0] if hasattr(value, "shape") and np.shape(value) else None
    size = len(value) if size is None and isinstance(value, list | tuple) else size
    if size is None:
        raise UserError(f"fields: '{path}' is not there: {type(value).__name__} takes no index")
    if not -size <= part < size:
        raise UserError(f"fields: '{path}' is not there: index {part} of {size} values")
    return value[part]


def _names(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [str(key) for key in value]
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    names = getattr(value, "_fields", None) or getattr(value, "__dict__", {})
    return [name for name in names if not name.startswith("_")]


def replaced(state: Any, path: str, value: Any, like: Callable[[Any, Any], Any]) -> Any:
    """Return a copy of an immutable state with the value at a path replaced.

    like(old, new): the new value in the old one's type.
    """

    def put(inner: Any, parts: tuple[Part, ...]) -> Any:
        if not parts:
            return like(inner, value)
        part, rest = parts[0], parts[1:]
        new = put(_inner(inner, part, path), rest)
        if isinstance(part, int):
            if hasattr(inner, "at"):
                return inner.at[part].set(new)
            values = [*inner[:part], new, *inner[part:][1:]]
            return inner._make(values) if hasattr(inner, "_make") else type(inner)(values)
        if isinstance(inner, Mapping):
            return type(inner)({**inner, part: new})  # type: ignore[call-arg]
        if hasattr(inner, "_replace"):
            return inner._replace(**{part: new})
        if dataclasses.is_dataclass(inner) and not isinstance(inner, type):
            return dataclasses.replace(inner, **{part: new})
        twin = copy.copy(inner)
        setattr(twin, part, new)
        return twin

    return put(state, parse(path))


def at_paths(paths: Sequence[str], field: str = "state") -> Callable[[Any, Any], Any]:
    """Return a `place` hook that puts a start's field [N] at N paths of a library's state.

    Paths are as `physics.qpos[0]`. A value takes the type of what is there; a float keeps its own
    precision.
    """

    def place(state: Any, start: Any) -> Any:
        for path, value in zip(paths, start.fields[field], strict=True):
            state = replaced(state, path, value, cast_like)
        return state

    return place


def cast_like(old: Any, new: Any) -> Any:
    """Return a JAX value in the shape of the old one, and in its type unless both are floats."""
    import jax.numpy as jnp  # paths of Python's objects need none

    old, new = jnp.asarray(old), jnp.asarray(new)
    floats = old.dtype.kind == new.dtype.kind == "f"
    return new.reshape(old.shape).astype(new.dtype if floats else old.dtype)


def assign(thing: Any, path: str, value: Any) -> None:
    """Put a value at a path of a plain Python object, in the type of what is there.

    Arrays are replaced, never written into: somebody may hold the old one.
    """

    def put(inner: Any, parts: tuple[Part, ...]) -> Any:
        if not parts:
            return _in_type_of(inner, value)
        part = parts[0]
        old = _inner(inner, part, path)
        flat = isinstance(inner, np.ndarray) and inner.ndim == 1
        if flat and isinstance(part, int) and len(parts) == 1:
            # An element has the precision that a whole array would have.
            new = _in_type_of(np.zeros(1, inner.dtype), value)
            twin = inner.astype(np.result_type(inner, new))
            twin[part] = new[0]
            return twin
        new = put(old, parts[1:])
        if new is old:  # an object on the way, changed in its place
            return inner
        if isinstance(part, str):
            if isinstance(inner, Mapping):
                inner[part] = new  # type: ignore[index]
            else:
                setattr(inner, part, new)
            return inner
        if isinstance(inner, tuple):
            return (*inner[:part], new, *inner[part:][1:])
        twin = copy.copy(inner)
        twin[part] = new
        return twin

    put(thing, parse(path))


def _in_type_of(old: Any, value: Any) -> Any:
    value = np.asarray(value)
    if isinstance(old, np.ndarray):
        # A float keeps the dtype in which the contract holds it: libraries begin an episode in one
        # precision and go on in another.
        floats = value.dtype.kind == old.dtype.kind == "f"
        return value.astype(value.dtype if floats else old.dtype).reshape(old.shape)
    if isinstance(old, Enum):
        return type(old)(value.item())
    if isinstance(old, np.floating) and type(old)(value.item()) != value:
        return value.item()
    if isinstance(old, bool | int | float | np.generic):
        return type(old)(value.item())  # type: ignore[call-arg]
    if isinstance(old, tuple):
        return tuple(value.tolist())
    return value.tolist()
