"""The state of an object in its attributes: those that hold numbers and change in play.

A way made of them is tried like any other: see `placing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twinstep.inward import _paths

#: Episodes and steps of each that tell which attributes change.
EPISODES, STEPS = 8, 12


@dataclass(frozen=True)
class Attribute:
    """An attribute. kind: of its numbers, `f`, `i` or `b`. home: the type that holds them.

    shape: () for one number. dtype: of an array, or of NumPy's number; "" for Python's.
    steady: whether only a reset changes it, as it does a seed that is kept.
    """

    name: str
    kind: str
    home: type
    shape: tuple[int, ...]
    dtype: str
    steady: bool

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.shape, dtype=int))

    def elements(self) -> list[str]:
        """Return an expression for each element, below `env`."""
        if not self.shape:
            return [f"env.{self.name}"]
        places = np.ndindex(self.shape)
        if self.home in (tuple, list):
            return [f"env.{self.name}[{place[0]}]" for place in places]
        return [f"env.{self.name}[{', '.join(map(str, place))}]" for place in places]

    def put(self, at: int) -> str:
        """Return the statement that takes its elements from `values[at:]`."""
        kind = {"f": "float", "i": "int", "b": "bool"}[self.kind]
        if not self.shape:
            number = f"np.{self.dtype}" if self.dtype else kind
            return f"env.{self.name} = {number}(values[{at}])"
        part = f"values[{at}:{at + self.size}]"
        if self.home in (tuple, list):
            return f"env.{self.name} = {self.home.__name__}(map({kind}, {part}))"
        shape = f".reshape{self.shape!r}" if len(self.shape) > 1 else ""
        return f"env.{self.name} = np.array({part}, np.{self.dtype}){shape}"


@dataclass(frozen=True)
class Played:
    """What play has shown. snapshots: of each moment. observations: with them."""

    attributes: tuple[Attribute, ...]
    snapshots: tuple[dict[str, Any], ...]
    observations: tuple[np.ndarray, ...]

    def changing(self) -> Played:
        """Return the same without the attributes that only a reset changes."""
        return replace(self, attributes=tuple(a for a in self.attributes if not a.steady))

    def elements(self) -> list[str]:
        """Return an expression for each element, below `env`."""
        return [element for each in self.attributes for element in each.elements()]

    def names(self) -> tuple[str, ...]:
        """Return a name for each element."""
        plain = [each.name.strip("_") for each in self.attributes]
        if len(set(plain)) < len(plain) or not all(name.isidentifier() for name in plain):
            plain = [each.name for each in self.attributes]
        # A contract's own words.
        plain = [f"{name}_" if name in ("time", "seed") else name for name in plain]
        return tuple(
            name if not each.shape else f"{name}_{'_'.join(map(str, place))}"
            for name, each in zip(plain, self.attributes, strict=True)
            for place in np.ndindex(each.shape)
        )

    def rows(self) -> np.ndarray:
        """Return f64[moments, elements]."""
        return np.stack(
            [
                np.concatenate(
                    [np.ravel(np.asarray(shot[a.name], np.float64)) for a in self.attributes]
                )
                for shot in self.snapshots
            ]
        )

    def observed(self) -> tuple[str, tuple[str, ...]]:
        """Return the expression of the observation and its elements' names; empty for another."""
        seen = np.stack([np.ravel(each) for each in self.observations])
        elements, rows = self.elements(), self.rows().astype(seen.dtype)
        chosen: list[int] = []
        for column in seen.T:
            same = [n for n, row in enumerate(rows.T) if (row == column).all()]
            if not same:
                return "", ()
            chosen.append(same[0])
        first = self.observations[0]
        parts = [elements[n] for n in chosen]
        whole = f"[{', '.join(parts)}]" if first.shape else parts[0]
        shape = f".reshape{first.shape!r}" if len(first.shape) > 1 else ""
        names = tuple(self.names()[n] for n in chosen)
        unique = len(first.shape) == 1 and len(set(names)) == len(names)
        return f"np.array({whole}, np.{first.dtype.name}){shape}", names if unique else ()


def play(env: Any, most: int) -> Played | None:
    """Play some steps; return the attributes that change, None if there are none or too many.

    most: of elements.
    """
    shots, observations, begun = [], [], []
    for seed in range(EPISODES):
        env.action_space.seed(seed)
        obs, ended = env.reset(seed=seed)[0], False
        begun.append(len(shots))
        for _ in range(STEPS):
            inner = getattr(_paths.innermost(env), "__dict__", {})  # a reset may make it anew
            shots.append({name: _copied(value) for name, value in inner.items()})
            observations.append(np.asarray(obs))
            if ended:
                break
            obs, _, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = bool(terminated or truncated)
    found = [_attribute(name, [shot.get(name) for shot in shots], begun) for name in shots[0]]
    attributes = tuple(each for each in found if each is not None)
    if not 0 < sum(each.size for each in attributes) <= most:
        return None
    return Played(attributes, tuple(shots), tuple(observations))


def methods_that_observe(env: Any) -> list[str]:
    """Return calls of the object's methods that may return its observation."""
    inner = _paths.innermost(env)
    calls = []
    for name in dir(type(inner)):
        code = getattr(getattr(type(inner), name, None), "__code__", None)
        if "ob" in name.lower() and code is not None and code.co_argcount == 1:
            calls.append(f"env.{name}()")
    return sorted(calls, key=lambda call: ("obs" not in call, call))


def _attribute(name: str, values: Sequence[Any], begun: Sequence[int]) -> Attribute | None:
    """Return an attribute of these values, of which some begin an episode; None for no state."""
    arrays = [_numbers(value) for value in values]
    known = [array for array in arrays if array is not None]
    if len(known) < len(arrays) or len({array.shape for array in known}) > 1:
        return None
    if not name.isidentifier() or all((array == known[0]).all() for array in known):
        return None
    kinds = {array.dtype.kind for array in known}
    kind = "f" if "f" in kinds else "b" if kinds == {"b"} else "i"
    last = values[-1]
    dtype = np.result_type(*known).name if isinstance(last, np.ndarray | np.generic) else ""
    steady = all(n in begun or (array == known[n - 1]).all() for n, array in enumerate(known))
    return Attribute(name, kind, type(last), known[0].shape, dtype, steady)


def _numbers(value: Any) -> np.ndarray | None:
    """Return a value's numbers, None if it is anything else."""
    if isinstance(value, bool | int | float | np.ndarray | np.generic):
        array = np.asarray(value)
    elif type(value) in (tuple, list) and value:
        if not all(isinstance(each, bool | int | float | np.generic) for each in value):
            return None
        array = np.asarray(value)
    else:
        return None
    return array if array.dtype.kind in "biuf" and array.size else None


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | list) else value
