"""Stages that XLA compiles separately, and batches whose lanes come last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from twinstep.generated.halfcheetah.state import Array


def apart(turn: Array, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function so that XLA does not mix its operations with the surrounding ones.

    XLA's fusion recomputes a shared value for each result that uses it: over a step's hundreds
    of results that made six times the work. A loop that runs once is a border that fusion does not
    cross. XLA cannot know that it runs once while `turn` is a loop's counter.
    """
    shapes = jax.eval_shape(function, *args)
    empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return jax.lax.fori_loop(turn, turn + 1, lambda _, __: function(*args), empty)


#: Lanes that a processor's caches hold at once: 32 and 256 are half as fast.
BLOCK = 64


def lanes_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, written for arrays [..., N], as one for a single lane under vmap.

    Nested vmaps make one batch. Numbers of one joint then lie side by side for all lanes, and
    loops that continue while any lane needs them have one counter.
    """

    @jax.custom_batching.custom_vmap
    def batch(*args: Any) -> Any:
        return _by_blocks(function, args) if jax.default_backend() == "cpu" else function(*args)

    @batch.def_vmap
    def _merge(size: int, batched: Any, *args: Any) -> Any:
        def merged(is_batched: bool, leaf: Array) -> Array:
            leaf = jnp.moveaxis(leaf, 0, -2) if is_batched else _repeated(leaf, size)
            return leaf.reshape(*leaf.shape[:-2], -1)

        def split(leaf: Array) -> Array:
            return jnp.moveaxis(leaf.reshape(*leaf.shape[:-1], size, -1), -2, 0)

        found = jax.tree.map(split, batch(*jax.tree.map(merged, tuple(batched), args)))
        return found, jax.tree.map(lambda _: True, found)

    def single(*args: Any) -> Any:
        found = batch(*jax.tree.map(lambda leaf: jnp.asarray(leaf)[..., None], args))
        return jax.tree.map(lambda leaf: leaf[..., 0], found)

    return single


def _by_blocks(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call on BLOCK lanes at a time, the last ones filled up with copies of the first.

    All lanes use one program, so a lane's result is the same in every batch.
    """
    lanes = jax.tree.leaves(args)[0].shape[-1]
    blocks = -(-lanes // BLOCK)
    order = jnp.arange(blocks * BLOCK) % lanes

    def cut(leaf: Array) -> Array:
        if lanes != blocks * BLOCK:
            leaf = leaf[..., order]
        return jnp.moveaxis(leaf.reshape(*leaf.shape[:-1], blocks, BLOCK), -2, 0)

    def join(leaf: Array) -> Array:
        leaf = jnp.moveaxis(leaf, 0, -2)
        return leaf.reshape(*leaf.shape[:-2], -1)[..., :lanes]

    parts = jax.tree.map(cut, args)
    return jax.tree.map(join, jax.lax.map(lambda part: function(*part), parts))


def _repeated(leaf: Array, size: int) -> Array:
    """Return [..., size, N] of an array [..., N] shared along a new axis."""
    return jnp.broadcast_to(leaf[..., None, :], (*leaf.shape[:-1], size, leaf.shape[-1]))
