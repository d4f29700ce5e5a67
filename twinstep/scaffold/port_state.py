"""The reference's state in the state of a library in JAX: where its elements lie, and the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace, Box, Discrete
from twinstep.inward import _paths
from twinstep.inward._library import Library
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.twins import order_of

#: Most elements of a library's state that are looked through for the reference's.
MOST = 64


@dataclass(frozen=True)
class Begun:
    """What a reset gave. keys: of TRIED resets. inner, seen: the first state and observation.

    part: the expression of what is compared below `seen`. firsts: the first observations.
    """

    keys: Any
    inner: Any
    seen: Any
    part: str
    firsts: np.ndarray


def at(seen: Any, part: str) -> Any:
    """Return the part of an observation, by its expression below it."""
    return eval(f"seen{part}", {"seen": seen})


def paths_of(library: Library, begun: Begun, facts: ReferenceFacts) -> tuple[tuple[str, ...], str]:
    """Return the paths of the reference's state in the library's; with none, the reason."""
    import jax
    import jax.numpy as jnp

    placed = facts.placing
    if placed is None or not placed.drawn:
        return (), facts.unplaceable
    if not library.can_observe:
        return (), f"{library.name.removeprefix('from_')} observes within its steps only"
    paths = _elements(begun.inner)
    if not 0 < len(paths) <= MOST:
        return (), f"the library's state has {len(paths) or 'no'} elements that can be put"
    places = {path: n for n, path in enumerate(paths)}

    def observe(values: Any) -> Any:
        inner = begun.inner
        for path, value in zip(paths, values, strict=True):
            inner = _paths.replaced(inner, path, value, _paths.cast_like)
        return at(library.observe(inner, begun.keys[0]), begun.part)

    observed = jax.jit(observe)
    own = [float(_paths.read(begun.inner, path)) for path in paths]

    def shown(order: tuple[str, ...], values: np.ndarray) -> Any:
        row = np.array(own, np.float32)
        row[[places[path] for path in order]] = values
        return np.reshape(observed(jnp.asarray(row)), facts.shape)

    order = order_of(paths, placed.names, placed, shown)
    why = "no values of the library's state give the reference's observation of its own starts"
    return order, "" if order else why


def _elements(inner: Any) -> list[str]:
    """Return the paths of the single numbers in a state, the real ones first."""
    import jax

    real, whole = [], []
    for keys, leaf in jax.tree_util.tree_flatten_with_path(inner)[0]:
        path = "".join(map(_part, keys)).lstrip(".")
        dtype = np.dtype(leaf.dtype) if hasattr(leaf, "dtype") else np.asarray(leaf).dtype
        if "?" in path or dtype.kind not in "fib" or np.size(leaf) > MOST:
            continue
        ends = ["".join(f"[{n}]" for n in place) for place in np.ndindex(np.shape(leaf))]
        (real if dtype.kind == "f" else whole).extend(path + end for end in ends)
    return real + whole


def _part(key: Any) -> str:
    """Return a key of JAX's as a part of a path; `?` for one that is none."""
    name = getattr(key, "name", getattr(key, "key", None))
    if isinstance(name, str):
        return f".{name}" if name.isidentifier() else "?"
    place = getattr(key, "idx", name)
    return f"[{place}]" if isinstance(place, int) else "?"


def clock_of(library: Library, begun: Begun, facts: ReferenceFacts, action: ActionSpace) -> str:
    """Return the path of the number that counts the steps, "" if none does."""
    import jax

    dtype = "int32" if isinstance(action, Discrete) else action.dtype
    move = np.zeros(action.shape if isinstance(action, Box) else (), dtype)
    step = jax.jit(lambda inner: library.step(inner, move, begun.keys[0]).inner)
    states = [begun.inner]
    for _ in range(2):
        states.append(step(states[-1]))
    for path in _elements(begun.inner):
        counts = [np.asarray(_paths.read(state, path)) for state in states]
        if all(c.dtype.kind == "i" and c == n for n, c in enumerate(counts)):
            return path
    return ""
