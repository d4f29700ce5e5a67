"""Energy: attached, counted, discarded; the cost of a retreat (R45 to R47, R132, R133)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.tcgjax.effects import ALL
from twinstep.generated.tcgjax.state import Game, Side

Array = jax.Array


def kinds() -> Array:
    """Return i32[8]: the types of energy, 1 to 8."""
    return jnp.arange(1, 9, dtype=jnp.int32)


def attach(side: Side, slot: Array, kind: Array, count: Array) -> None:
    """Attach `count` energies i32[] of a type i32[] to the slots bool[4]."""
    one = slot[:, None] & (kinds() == kind)[None, :]
    side.energy = side.energy + jnp.where(one, count, 0)


def lose(side: Side, amounts: Array) -> None:
    """Discard these energies i32[8] of the Active Pokemon."""
    active = (jnp.arange(4, dtype=jnp.int32) == 0)[:, None]
    side.energy = side.energy - jnp.where(active, amounts[None, :], 0)
    side.discarded = side.discarded + amounts


def named(side: Side, kind: Array, count: Array) -> Array:
    """Return i32[8]: up to `count` energies of a type, or all for the type ALL (R132)."""
    have = side.energy[0]
    some = jnp.where(kinds() == kind, jnp.minimum(have, count), 0)
    return jnp.where(kind == ALL, have, some)


def picked(game: Game, side: Side, when: Array) -> Array:
    """Return i32[8]: one energy of the Active Pokemon, picked by type (R133); none if none."""
    have = side.energy[0]
    total = jnp.sum(have, dtype=jnp.int32)
    number = game.draws.pick(total, when)
    upto = jnp.cumsum(have, dtype=jnp.int32)
    one = (number < upto) & (number >= upto - have) & when & (total > 0)
    return one.astype(jnp.int32)


def retreat_cost(game: Game) -> Array:
    """Return i32[]: the present cost of the Active Pokemon's retreat (R46)."""
    return cheaper(game.me.fact("retreat")[0], game.quick)


def cheaper(cost: Array, quick: Array) -> Array:
    """Return i32[]: the cost i32[] of a retreat after so many X Speeds (R46)."""
    return jnp.maximum(cost - quick, 0)


def pay(game: Game, left: Array, when: Array) -> Array:
    """Discard forced ones of `left` energies i32[]; i32[]: the number still to choose (R47)."""
    have = game.me.energy[0]
    total = jnp.sum(have, dtype=jnp.int32)
    alike = jnp.sum(have > 0, dtype=jnp.int32) <= 1
    whole = total <= left
    amounts = jnp.where(whole, have, jnp.where(alike & (have > 0), left, 0))
    lose(game.me, jnp.where(when, amounts, 0))
    return jnp.where(when & ~(whole | alike), left, 0)
