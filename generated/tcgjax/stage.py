"""Parts of a step that are compiled apart.

XLA fuses element-wise code into whatever follows and computes what several results need anew for
each of them. A conditional ends a fusion, and skips a part that no game of the batch needs. Under
`jax.vmap` a conditional of each game would become a selection; these have a rule of their own.
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


def stage(when: Array, part: Callable[..., Any], *given: Any) -> Any:
    """Run `part(*given)` where any game of the batch needs it; returns what it returns.

    when: bool[], where it has an effect. given: trees of arrays, all that the part looks at; it
    may write to the records among them. The result is zeros where the part does not run. In a
    batch it runs for all games or none, so it has to look itself at where it has an effect.
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
        new = lax.cond(jnp.any(needed), lambda: jax.vmap(run)(lanes), lambda: skip(lanes, (size,)))
        return new, [True] * len(new)

    values = call(when, leaves)
    for i, value in zip(changed, values, strict=False):
        leaves[i] = value
    for party, after in zip(given, jax.tree.unflatten(shape, leaves), strict=True):
        _write(party, after)
    return jax.tree.unflatten(result[0], values[len(changed) :])


def _write(record: Any, after: Any) -> None:
    """Write what a part has changed to the record that it was given."""
    if isinstance(record, Record):
        for name, value in vars(after).items():
            old = vars(record)[name]
            if isinstance(old, Record):
                _write(old, value)
            else:
                setattr(record, name, value)
