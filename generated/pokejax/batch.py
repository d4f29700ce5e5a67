"""The rules for one battle, laid out for many: lanes come last inside, first outside.

`jax.vmap` puts lanes first, so XLA would read every value of a battle from another cache line.
These functions have a vmap rule of their own, which transposes the state once and then works on
rows of lanes; a conditional inside stays one. For a single battle they are the plain functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap


def lanes_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, whose arrays have any trailing axes, with a rule for vmap."""
    wrapped = custom_vmap(function)

    @wrapped.def_vmap
    def rule(size: int, batched: Any, *args: Any) -> tuple[Any, Any]:
        def turned(value: Any, has_lanes: bool) -> Any:
            if not has_lanes:
                return jnp.broadcast_to(value[..., None], (*value.shape, size))
            return jnp.moveaxis(value, 0, -1)

        out = function(*(jax.tree.map(turned, a, b) for a, b in zip(args, batched, strict=True)))
        out = jax.tree.map(lambda value: jnp.moveaxis(value, -1, 0), out)
        return out, jax.tree.map(lambda _: True, out)

    return wrapped
