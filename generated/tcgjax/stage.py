"""Parts of a step that are compiled separately.

XLA fuses element-wise code into its consumers and recomputes a shared value for each of
them. A conditional ends a fusion, and skips a part that no game of the batch needs. Under
`jax.vmap` a conditional of each game would become a selection; these have a vmap rule of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

Array = jax.Array


class Record:
    """An object whose attributes are trees of arrays, and which is a tree itself.

    A step writes to the attributes while it is traced.
    """

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __init_subclass__(cls) -> None:
        jax.tree_util.register_pytree_node(
            cls, _opened, lambda names, values: _made(cls, names, values)
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def _opened(record: Record) -> tuple[list[Any], tuple[str, ...]]:
    names = tuple(sorted(vars(record)))
    return [vars(record)[name] for name in names], names


def _made(cls: type[Record], names: tuple[str, ...], values: Any) -> Record:
    record = object.__new__(cls)
    record.__dict__.update(zip(names, values, strict=True))
    return record


#: The number of games of a large batch that are played at a time.
_PART = 1024
#: In batches of fewer games than this a rare part runs for all of them.
_SMALL = 128
#: The part of a batch that is gathered for a rare part at once.
_SHARE = 8


def stage(when: Array, part: Callable[..., Any], *given: Any, rare: bool = False) -> Any:
    """Run `part(*given)` where any game of the batch needs it; return its result.

    when: bool[], where it has an effect. given: trees of arrays, all the inputs of the part, which
    may write to the records among them. The result is zeros where the part does not run. In a
    batch it runs for all games or none, so it has to check itself where it has an effect.
    rare: few games of a batch need the part, which then runs for those alone, gathered.
    """
    leaves, shape = jax.tree.flatten(given)
    written: list[int] = []
    result: list[Any] = []

    def run(values: list[Array]) -> list[Array]:
        inside = jax.tree.unflatten(shape, values)
        out, result_shape = jax.tree.flatten(part(*inside))
        new = jax.tree.leaves(inside)
        written[:] = [i for i, (a, b) in enumerate(zip(values, new, strict=True)) if a is not b]
        result[:] = [result_shape]
        return [new[i] for i in written] + out

    shapes = jax.eval_shape(run, leaves)
    changed = list(written)

    @custom_vmap
    def call(needed: Array, values: list[Array]) -> list[Array]:
        return lax.cond(needed, lambda: run(values), lambda: skip(values, ()))

    def skip(values: list[Array], batch: tuple[int, ...]) -> list[Array]:
        blank = shapes[len(changed) :]
        zeros = [jnp.zeros(batch + each.shape, each.dtype) for each in blank]
        return [values[i] for i in changed] + zeros

    @call.def_vmap
    def rule(size: int, batched: Any, needed: Array, values: list[Array]) -> Any:
        def wide(value: Array, has_lanes: bool) -> Array:
            return value if has_lanes else jnp.broadcast_to(value, (size, *value.shape))

        lanes = [wide(*pair) for pair in zip(values, batched[1], strict=True)]
        if rare and size >= _SMALL:
            new = _gathered(jax.vmap(run), needed, lanes, skip(lanes, (size,)))
        else:
            new = lax.cond(
                jnp.any(needed), lambda: jax.vmap(run)(lanes), lambda: skip(lanes, (size,))
            )
        return new, [True] * len(new)

    values = call(when, leaves)
    for i, value in zip(changed, values, strict=False):
        leaves[i] = value
    for party, after in zip(given, jax.tree.unflatten(shape, leaves), strict=True):
        _write(party, after)
    return jax.tree.unflatten(result[0], values[len(changed) :])


def in_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, which plays a large batch one part after the other.

    Between two conditionals all results of a step's part lie in memory. Those of one part of a
    batch stay in the processor's cache.
    """
    wrapped = custom_vmap(function)

    @wrapped.def_vmap
    def rule(size: int, batched: Any, *args: Any) -> tuple[Any, Any]:
        run = jax.vmap(function, jax.tree.map(lambda lanes: 0 if lanes else None, batched))
        alike = all(jax.tree.leaves(batched))
        if size <= _PART or size % _PART or not alike:
            out = run(*args)
        else:
            parts = jax.tree.map(lambda value: value.reshape(-1, _PART, *value.shape[1:]), args)
            out = lax.map(lambda part: run(*part), parts)
            out = jax.tree.map(lambda value: value.reshape(size, *value.shape[2:]), out)
        return out, jax.tree.map(lambda _: True, out)

    return wrapped


def _gathered(
    run: Callable[[list[Array]], list[Array]],
    needed: Array,
    lanes: list[Array],
    blank: list[Array],
) -> list[Array]:
    """Return `blank` [N, ...] with the result of `run` in the lanes of bool[N]."""
    size = len(needed)
    few = size // _SHARE

    def some(carried: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        left, held = carried
        count = jnp.cumsum(left, dtype=jnp.int32)
        place = jnp.searchsorted(count, jnp.arange(1, few + 1, dtype=jnp.int32))
        place = jnp.minimum(place, size - 1)  # fewer than `few` are left: any game instead
        made = run([value[place] for value in lanes])
        taken = left & (count <= few)
        rank = jnp.clip(count - 1, 0, few - 1)

        def put(old: Array, new: Array) -> Array:
            return jnp.where(taken.reshape(-1, *[1] * (old.ndim - 1)), new[rank], old)

        return left & ~taken, [put(*pair) for pair in zip(held, made, strict=True)]

    return lax.while_loop(lambda carried: jnp.any(carried[0]), some, (needed, blank))[1]


def _write(record: Any, after: Any) -> None:
    """Write a part's changes to the record that it was given."""
    if isinstance(record, Record):
        for name, value in vars(after).items():
            old = vars(record)[name]
            if isinstance(old, Record):
                _write(old, value)
            else:
                setattr(record, name, value)
