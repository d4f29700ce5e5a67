"""Stand-ins for NumPy's two generators. A method without one says so when it is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.chance import words
from twinstep.chance.draws import Draws
from twinstep.errors import UserError


def generator(draws: Draws) -> np.random.Generator:
    """Return `numpy.random.Generator` over the words of the step."""
    return _Generator(draws)


def random_state(draws: Draws) -> np.random.RandomState:
    """Return `numpy.random.RandomState` over the words of the step."""
    return _State(draws)


class _Numbers:
    """What both generators have. Their signatures are NumPy's."""

    _draws: Draws

    def _words(self, count: int, what: str) -> np.ndarray:
        return self._draws.take(count, what)

    def _real(self, make: Any, size: Any, what: str) -> Any:
        shape, count = words.size_of(size)
        values = make(self._words(count, what))
        return float(values[0]) if shape is None else values.reshape(shape)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(low), np.shape(high))
        unit = self._real(words.units, shape if size is None and shape else size, "uniform")
        return low + (np.asarray(high) - low) * unit if np.ndim(unit) else low + (high - low) * unit

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale))
        return loc + scale * self._real(
            words.normals, shape if size is None and shape else size, "normal"
        )

    def shuffle(self, x: Any, axis: int = 0) -> None:
        order = words.order(self._words(np.shape(x)[axis] if axis else len(x), "shuffle"))
        if isinstance(x, np.ndarray):
            x[...] = np.take(x, order, axis)
        else:
            x[:] = [x[n] for n in order]

    def permutation(self, x: Any, axis: int = 0) -> np.ndarray:
        values = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        order = words.order(self._words(values.shape[axis], "permutation"))
        return np.take(values, order, axis)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        shape, count = words.size_of(size)
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        many = values.shape[axis]
        if not replace:
            if p is not None:
                raise UserError("chance: choice with `p` and without `replace` has no stand-in")
            places = words.order(self._words(many, "choice"))[:count]
        elif p is not None:
            places = words.chosen(self._words(count, "choice"), p)
        else:
            places = words.below(self._words(count, "choice"), many)
        return np.take(values, places[0] if shape is None else places.reshape(shape), axis)

    def _whole(self, low: Any, high: Any, size: Any, what: str) -> Any:
        """Return whole numbers in [low, high), from 0 if there is no `high`."""
        low, high = (0, low) if high is None else (low, high)
        inner = np.broadcast_shapes(np.shape(low), np.shape(high))
        shape, count = words.size_of(inner if size is None and inner else size)
        drawn = self._words(count, what)
        if inner:
            spans = np.broadcast_to(np.asarray(high) - low, shape or ()).reshape(-1)
            pairs = zip(drawn, spans, strict=True)
            values = np.array([words.below(word, int(span)) for word, span in pairs])
            return low + values.reshape(shape or ())
        values = low + words.below(drawn, int(high) - int(low))
        return values[0] if shape is None else values.reshape(shape)


class _Generator(_Numbers, np.random.Generator):
    def __init__(self, draws: Draws) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws = draws

    def __reduce__(self) -> Any:
        raise UserError("chance: the stand-in for a generator cannot be copied or saved")

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:  # type: ignore[override]
        return self._real(words.units, size, "random")

    def standard_normal(  # type: ignore[override]
        self, size: Any = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        return self._real(words.normals, size, "standard_normal")

    def integers(  # type: ignore[override]
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        if endpoint:
            low, high = (0, low + 1) if high is None else (low, high + 1)
        return np.asarray(self._whole(low, high, size, "integers")).astype(dtype)[()]


class _State(_Numbers, np.random.RandomState):
    def __init__(self, draws: Draws) -> None:
        super().__init__(0)
        self._draws = draws

    def __reduce__(self) -> Any:
        raise UserError("chance: the stand-in for a generator cannot be copied or saved")

    def seed(self, seed: Any = None) -> None:
        """Do nothing: the words decide."""

    def random_sample(self, size: Any = None) -> Any:
        return self._real(words.units, size, "random_sample")

    def random(self, size: Any = None) -> Any:
        return self._real(words.units, size, "random")

    def rand(self, *shape: int) -> Any:
        return self._real(words.units, shape or None, "rand")

    def randn(self, *shape: int) -> Any:
        return self._real(words.normals, shape or None, "randn")

    def standard_normal(self, size: Any = None) -> Any:
        return self._real(words.normals, size, "standard_normal")

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        values = self._whole(low, high, size, "randint")
        return int(values) if np.ndim(values) == 0 else values.astype(dtype)


def _refuse(name: str) -> Any:
    def method(self: Any, *args: Any, **more: Any) -> Any:
        raise UserError(
            f"chance: `{name}` of NumPy's generator has no stand-in: give the reference another "
            f"generator, or place its state"
        )

    return method


for _kind in (_Generator, _State):
    _known = {name for each in (_Numbers, _kind) for name in vars(each)}
    for _name in dir(_kind.__mro__[2]):
        if not _name.startswith("_") and _name not in _known | {"bit_generator"}:
            setattr(_kind, _name, _refuse(_name))
