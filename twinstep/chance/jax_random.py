"""Stand-ins for the functions of `jax.random` that draw, put in while a port is traced.

Keys are as ever, and mean nothing: a draw takes words of the step that is traced.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.chance import words
from twinstep.chance.row import DRAWN, DRAWS, Row, after
from twinstep.chance.sites import Columns, require_names
from twinstep.errors import UserError

#: Part of the keys under which JAX keeps what it has traced. Each draw changes it, so that a
#: function that is compiled by itself is traced anew for other columns.
_DRAWN_SO_FAR = jax.make_user_context(None)
_MARKS = itertools.count()


class JaxDraws:
    """The draws of a JAX port.

    row: as in the contract. sites: place in the source -> name in the row, as for `Draws`. In a
    function for one lane, which JAX traces:

        DRAWS = JaxDraws(ROW)

        def step(state, action):
            with DRAWS.of(state.draws) as draws:
                inner = port.step(draws.key, state.inner, action)
            return State(inner, **draws.state())
    """

    def __init__(self, row: Row, sites: Mapping[str, str] | None = None) -> None:
        require_names(row, sites or {})
        self._row, self._sites = row, sites or {}

    @contextmanager
    def of(self, row: Any) -> Iterator[Step]:
        """Let `jax.random` draw from the words u32[C] of a reset or a step."""
        with ExitStack() as scope:
            step = Step(self._row, self._sites, jnp.asarray(row), scope)
            scope.enter_context(_replaced(step))
            yield step


class Step:
    """The draws of one reset or step. key: a random key u32[2] for the port."""

    def __init__(self, row: Row, sites: Mapping[str, str], given: Any, scope: ExitStack) -> None:
        self._row, self._given = row, given
        self._columns, self._scope = Columns(row, sites), scope
        self.key = jnp.zeros(2, jnp.uint32)
        self._mark()

    def _mark(self) -> None:
        self._scope.enter_context(_DRAWN_SO_FAR(next(_MARKS)))

    def state(self) -> dict[str, Any]:
        """Return the fields of `Frame.state`, as `Draws.state` does."""
        fields: dict[str, Any] = {DRAWS: after(self._given)}
        return fields if self._row.named else fields | {DRAWN: jnp.int32(self._columns.drawn)}

    def take(self, shape: Any, what: str) -> Any:
        """Return the next words u32[shape] of the place that draws."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        drawn = self._given[self._columns.take(math.prod(shape), what)].reshape(shape)
        self._mark()
        return drawn


# ---- numbers made of words: those of `words`, in JAX ---------------------------------------


def _units(drawn: Any, dtype: Any) -> Any:
    return words.halves(drawn).astype(jax.dtypes.canonicalize_dtype(dtype)) * 2.0**-17


def _below(drawn: Any, count: Any) -> Any:
    """Return u32 below `count`: the upper half of a product of 64 bits, in halves of words."""
    count = jnp.broadcast_to(jnp.asarray(count).astype(jnp.uint32), drawn.shape)
    small = words.halves(drawn) * count >> 17
    high, low = drawn >> 16, drawn & 0xFFFF
    upper, lower = count >> 16, count & 0xFFFF
    first, second = high * lower, low * upper
    carry = ((low * lower >> 16) + (first & 0xFFFF) + (second & 0xFFFF)) >> 16
    large = high * upper + (first >> 16) + (second >> 16) + carry
    return jnp.where(count <= words.SMALL, small, large)


def _normals(drawn: Any, dtype: Any) -> Any:
    table = jnp.asarray(words.quantiles())
    return table[drawn >> 20].astype(jax.dtypes.canonicalize_dtype(dtype))


def _chosen(drawn: Any, weights: Any) -> Any:
    # Shapes are made equal by hand: a user's JAX may refuse to do it.
    parts = jnp.broadcast_to(jnp.cumsum(weights, -1), (*drawn.shape, weights.shape[-1]))
    places = _units(drawn, parts.dtype) * parts[..., -1]
    below = parts <= jnp.broadcast_to(places[..., None], parts.shape)
    return jnp.minimum(below.sum(-1), parts.shape[-1] - 1)


# ---- the functions of `jax.random` ----------------------------------------------------------


def _functions(step: Step) -> dict[str, Any]:
    """Return name -> stand-in, over the words of one step."""

    def bits(key: Any, shape: Any = (), dtype: Any = jnp.uint32) -> Any:
        if np.dtype(dtype) != np.uint32:
            raise UserError("chance: jax.random.bits has a stand-in for uint32 alone")
        return step.take(shape, "bits")

    def uniform(
        key: Any, shape: Any = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0
    ) -> Any:
        unit = _units(step.take(shape, "uniform"), dtype)
        plain = isinstance(minval, float | int) and isinstance(maxval, float | int)
        if plain and (minval, maxval) == (0, 1):
            return unit
        minval, maxval = jnp.asarray(minval, unit.dtype), jnp.asarray(maxval, unit.dtype)
        return minval + (maxval - minval) * unit

    def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = int) -> Any:
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        count = jnp.asarray(maxval) - jnp.asarray(minval)
        drawn = _below(step.take(shape, "randint"), count).astype(dtype)
        return jnp.asarray(minval).astype(dtype) + drawn

    def normal(key: Any, shape: Any = (), dtype: Any = float) -> Any:
        return _normals(step.take(shape, "normal"), dtype)

    def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
        shape = np.shape(p) if shape is None else shape
        return _units(step.take(shape, "bernoulli"), float) < p

    def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
        if independent:
            raise UserError("chance: jax.random.permutation has no stand-in with `independent`")
        values = jnp.arange(x) if np.ndim(x) == 0 else jnp.asarray(x)
        drawn = step.take(values.shape[axis], "permutation")
        return jnp.take(values, jnp.argsort(drawn, stable=True), axis)

    def choice(
        key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0
    ) -> Any:
        values = jnp.arange(a) if np.ndim(a) == 0 else jnp.asarray(a)
        many = values.shape[axis]
        if not replace:
            if p is not None:
                raise UserError("chance: choice with `p` and without `replace` has no stand-in")
            order = jnp.argsort(step.take(many, "choice"), stable=True)
            places = order[: math.prod(shape)].reshape(shape)
        elif p is not None:
            places = _chosen(step.take(shape, "choice"), jnp.asarray(p))
        else:
            places = _below(step.take(shape, "choice"), many).astype(jnp.int32)
        return jnp.take(values, places, axis)

    def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None, **more: Any) -> Any:
        weights = jax.nn.softmax(jnp.moveaxis(jnp.asarray(logits), axis, -1))
        shape = weights.shape[:-1] if shape is None else shape
        return _chosen(step.take(shape, "categorical"), weights)

    known = dict(locals())
    del known["step"]
    return known


def _refused(name: str) -> Any:
    def function(*args: Any, **more: Any) -> Any:
        raise UserError(f"chance: jax.random.{name} has no stand-in: place the state instead")

    return function


#: Functions of `jax.random` that draw nothing.
_KEPT = frozenset(
    ("PRNGKey", "key", "split", "fold_in", "clone")
    + ("key_data", "wrap_key_data", "key_impl", "default_prng_impl")
)


@contextmanager
def _replaced(step: Step) -> Iterator[None]:
    """Put the stand-ins into `jax.random`, and wherever one of its functions was imported to."""
    stand_ins = _functions(step)
    by_original = {}
    for name, function in vars(jax.random).items():
        if callable(function) and not name.startswith("_") and name not in _KEPT:
            by_original[function] = stand_ins.get(name) or _refused(name)
    undo = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        inside = isinstance(name, str) and name.startswith(("jax.", "jaxlib"))
        if inside and name != "jax.random":
            continue
        for symbol, value in list(getattr(module, "__dict__", {}).items()):
            try:
                found = by_original.get(value)
            except TypeError:  # no key of a dictionary
                continue
            if found is not None:
                undo.append((module, symbol, value))
                setattr(module, symbol, found)
    try:
        yield
    finally:
        for module, symbol, value in undo:
            setattr(module, symbol, value)
