"""One lane of a traceable environment, as pure functions for vmap, scan and other libraries."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from twinstep.env.make import Env
from twinstep.env.timestep import TimeStep
from twinstep.errors import UserError
from twinstep.frames import Array


class Lane:
    """`init(seed) -> (state, TimeStep)` and `step(state, action) -> (state, TimeStep)`.

    seed: u32[2]. action: [...], with more than one player [P, ...]. No array has the batch axis.
    Raises UserError for a backend that is no JAX program.
    """

    def __init__(self, env: Env) -> None:
        if not env.traceable:
            raise UserError(
                f"backend '{env.backend}' of {env.id} cannot stand inside jit and vmap: make it "
                "with a JAX backend"
            )
        self.env = env

    def init(self, seed: Array) -> tuple[Any, TimeStep]:
        """Begin the episode of this seed."""
        return _first(self.env.reset(jnp.asarray(seed, jnp.uint32)[None]))

    def step(self, state: Any, action: Array) -> tuple[Any, TimeStep]:
        """Apply one action."""
        batched = jax.tree.map(lambda leaf: leaf[None], state)
        return _first(self.env.step(batched, jnp.asarray(action)[None]))


def seed_of(key: Array) -> Array:
    """Return the seed u32[2] of a JAX key, raw or typed: the key's two words."""
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    return jnp.asarray(key, jnp.uint32)[:2]


def _first(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[0], tree)
