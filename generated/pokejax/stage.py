"""Parts of a step that are compiled separately.

XLA fuses element-wise code into its consumers, and recomputes a shared value for each of them:
the step as one piece becomes many times as many instructions. A conditional ends a
fusion, and skips the part where no battle of the batch needs it.

Between parts a list of values is one array, so that it is one result and not many; inside it is a
list. `DEPTHS` of a party's class names these attributes, with the depths of their lists.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun

Array = jax.Array


def stage(when: Array, part: Callable[..., Any], *parties: Any) -> Any:
    """Run `part(*parties)` where any battle of the batch needs it; return its result.

    when: bool[...], where it has an effect. parties: the objects that it writes to in place; both
    these and the result (arrays, zeros or False where it does not run) are trees.
    """
    leaves, shape = jax.tree.flatten(parties)
    written: list[int] = []
    result: list[Any] = []

    def run(given: list[Array]) -> tuple[list[Array], list[Array]]:
        before = jax.tree.unflatten(shape, given)
        inside = [opened(party) for party in before]
        # Lists may be written to element by element.
        kept = [{k: _copied(v) for k, v in vars(party).items()} for party in inside]
        out, result_shape = jax.tree.flatten(part(*inside))
        after = [closed(*three) for three in zip(inside, kept, before, strict=True)]
        new = jax.tree.leaves(after)
        changed = [i for i, (a, b) in enumerate(zip(given, new, strict=True)) if a is not b]
        written[:] = changed
        result[:] = [result_shape]
        return [new[i] for i in changed], out

    # Traced once; a branch then takes only those values that it reads.
    traced, (_, outs) = jax.make_jaxpr(run, return_shape=True)(leaves)
    changed = list(written)

    def skip() -> list[Array]:
        blank = [jnp.zeros(out.shape, out.dtype) for out in outs]
        return [leaves[i] for i in changed] + blank

    values = lax.cond(when.any(), lambda: jaxpr_as_fun(traced)(*leaves), skip)
    new, out = values[: len(changed)], values[len(changed) :]
    for i, value in zip(changed, new, strict=True):
        leaves[i] = value
    for party, after in zip(parties, jax.tree.unflatten(shape, leaves), strict=True):
        vars(party).update(vars(after))
    return jax.tree.unflatten(result[0], out)


def opened(party: Any) -> Any:
    """Return a copy whose arrays of DEPTHS are lists of values, whole numbers as i32."""
    found = copy.copy(party)
    for name, depth in getattr(party, "DEPTHS", {}).items():
        setattr(found, name, _listed(getattr(party, name), depth))
    return found


def closed(inside: Any, kept: dict[str, Any], before: Any) -> Any:
    """Return the party with its lists as arrays; unwritten ones are the previous arrays.

    kept: the attributes as `opened` made them.
    """
    found = copy.copy(inside)
    for name in getattr(inside, "DEPTHS", {}):
        array, value = getattr(before, name), getattr(inside, name)
        same = _same(kept[name], value)
        setattr(found, name, array if same else _stacked(value, array.dtype))
    return found


def _listed(array: Array, depth: int) -> Any:
    if not depth:
        return array if array.dtype == jnp.bool_ else array.astype(jnp.int32)
    return [_listed(array[i], depth - 1) for i in range(array.shape[0])]


def _copied(value: Any) -> Any:
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _stacked(value: Any, dtype: Any) -> Array:
    if isinstance(value, list | tuple):
        return jnp.stack([_stacked(each, dtype) for each in value])
    return value.astype(dtype)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b
