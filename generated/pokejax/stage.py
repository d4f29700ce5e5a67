"""Parts of a step that are compiled apart.

XLA fuses element-wise code into whatever follows, and computes what several results need anew for
each of them: the step as one piece becomes seventeen times as many instructions. A conditional ends
a fusion, and skips the part where no battle of the batch needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Array = jax.Array


def stage(when: Array, part: Callable[..., Any], *parties: Any) -> Any:
    """Run `part(*parties)` where any battle of the batch needs it; returns what it returns.

    when: bool[...], where it has an effect. parties: what it writes to in place; both these and
    the result (arrays, zeros or False where it does not run) are trees.
    """
    leaves, shape = jax.tree.flatten(parties)
    written: list[int] = []
    result: list[Any] = []

    def run(given: list[Array]) -> tuple[list[Array], list[Array]]:
        mine = jax.tree.unflatten(shape, given)
        out, result_shape = jax.tree.flatten(part(*mine))
        after = jax.tree.leaves(mine)
        changed = [i for i, (a, b) in enumerate(zip(given, after, strict=True)) if a is not b]
        written[:] = changed
        result[:] = [result_shape]
        return [after[i] for i in changed], out

    _, outs = jax.eval_shape(run, leaves)
    changed = list(written)

    def skip(given: list[Array]) -> tuple[list[Array], list[Array]]:
        blank = [jnp.zeros(out.shape, out.dtype) for out in outs]
        return [given[i] for i in changed], blank

    # Without operands: a branch then takes only those values that it looks at.
    new, out = lax.cond(when.any(), lambda: run(leaves), lambda: skip(leaves))
    for i, value in zip(changed, new, strict=True):
        leaves[i] = value
    for party, after in zip(parties, jax.tree.unflatten(shape, leaves), strict=True):
        vars(party).update(vars(after))
    return jax.tree.unflatten(result[0], out)
