"""Make a library's state the same type after a reset as after a step, as a scan demands.

Libraries begin an episode with Python's numbers (`time=0`, `fallen=False`) and go on with arrays,
even of shape [1].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from twinstep.errors import UserError

#: Rounds until the types must have settled: a step may pass a type on from one field to the next.
_ROUNDS = 8
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def settled(begin: Callable[[], Any], step: Callable[[Any], Any], title: str) -> Any:
    """Return the dtypes and shapes that the state has after steps, in the state's structure.

    begin() -> state and step(state) -> state are traced only. UserError names the field that a
    step changes in a way that no cast at the reset mends.
    """
    before = jax.eval_shape(begin)
    for _ in range(_ROUNDS):
        after = jax.eval_shape(step, before)
        _require_alike(before, after, title)
        if all(
            (one.dtype, one.shape) == (other.dtype, other.shape)
            for one, other in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
        ):
            return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), after)
        before = after
    raise UserError(f"{title}: the dtypes of its state change in every step: cast them in the port")


def cast(state: Any, types: Any) -> Any:
    """Return the state in these types."""
    return jax.tree.map(_cast, state, types)


def widened(state: Any) -> Any:
    """Return the state with its floating-point leaves in float64."""
    return jax.tree.map(
        lambda leaf: (
            jnp.asarray(leaf, jnp.float64) if jnp.result_type(leaf) == jnp.float32 else leaf
        ),
        state,
    )


def _cast(leaf: Any, wanted: Any) -> Any:
    if jnp.issubdtype(wanted.dtype, jax.dtypes.extended):  # typed keys
        return leaf
    return jnp.asarray(leaf, wanted.dtype).reshape(wanted.shape)


def _require_alike(before: Any, after: Any, title: str) -> None:
    old, structure = jax.tree_util.tree_flatten_with_path(before)
    new, other = jax.tree_util.tree_flatten_with_path(after)
    if structure != other:
        gone = {jax.tree_util.keystr(path) for path, _ in old}
        come = {jax.tree_util.keystr(path) for path, _ in new}
        what = ", ".join(f"`{path.lstrip('.')}`" for path in sorted(gone ^ come)[:4])
        raise UserError(
            f"{title}: a step changes the structure of the state"
            f"{f' at {what}' if what else ''}: let reset return the same"
        )
    for (path, one), (_, two) in zip(old, new, strict=True):
        name = jax.tree_util.keystr(path).lstrip(".") or "the state"
        if one.shape != two.shape and not one.size == two.size == 1:
            raise UserError(
                f"{title}: a step changes `{name}` from shape {list(one.shape)} to "
                f"{list(two.shape)}: let reset return the same"
            )
        if one.dtype != two.dtype and not _keeps(one.dtype, two.dtype):
            raise UserError(
                f"{title}: a step changes `{name}` from {one.dtype} to {two.dtype}, which would "
                "lose fractions: let reset return the same"
            )


def _keeps(old: Any, new: Any) -> bool:
    """Return whether a cast keeps the values of a reset; 0 and 1 are truth values."""
    if any(jnp.issubdtype(dtype, jax.dtypes.extended) for dtype in (old, new)):
        return False
    ranks = [_RANK.get(jnp.dtype(dtype).kind, 2) for dtype in (old, new)]
    return ranks[0] < 2 or ranks[0] <= ranks[1]
