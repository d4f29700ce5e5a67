"""Conditions, effects on a Pokemon, and the checkup after a turn (R70 to R79)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.tcgjax.state import ASLEEP, PARALYZED, Game, Side, slots

Array = jax.Array

BURN = 20
#: Effects on the Active Pokemon (R78).
_EFFECTS = (
    "no_attack", "no_retreat", "weakened", "weakened_until", "guarded", "guarded_until", "immune",
)  # fmt: skip


def clear(side: Side, when: Array) -> None:
    """End conditions of and effects on the Active Pokemon where `when` (R40, R48)."""
    for name in ("condition", *_EFFECTS):
        setattr(side, name, jnp.where(when, 0, getattr(side, name)))
    side.poisoned = side.poisoned & ~when
    side.burned = side.burned & ~when


def expire(game: Game, when: Array) -> None:
    """End effects that last for this turn, where `when` (R75)."""
    me, foe = game.me, game.foe
    me.current = jnp.where(when, 0, me.current)
    for name in ("bonus", "blaze", "quick"):
        setattr(game, name, jnp.where(when, 0, getattr(game, name)))
    game.supporter = game.supporter & ~when
    game.retreated = game.retreated & ~when
    for side in (me, foe):
        side.used = side.used & ~when
        for name in ("no_attack", "no_retreat", "immune", "no_supporters"):
            last = getattr(side, name)
            setattr(side, name, jnp.where(when & (last == game.turn), 0, last))
        for name in ("weakened", "guarded"):
            ends = when & (getattr(side, f"{name}_until") == game.turn)
            for field in (name, f"{name}_until"):
                setattr(side, field, jnp.where(ends, 0, getattr(side, field)))


def checkup(game: Game, when: Array) -> None:
    """Apply conditions after a turn, where `when` (R72, R73)."""
    both = (game.me, game.foe)
    active = slots() == 0
    for side in both:
        poison = jnp.where(side.poisoned, game.rules["poison"], 0)
        hurt = jnp.where(when, poison + jnp.where(side.burned, BURN, 0), 0)
        side.damage = side.damage + jnp.where(active, hurt, 0)
    for side in both:
        flips = when & side.burned
        side.burned = side.burned & ~(flips & game.draws.coin(flips))
    for side in both:
        asleep = when & (side.condition == ASLEEP)
        side.condition = jnp.where(asleep & game.draws.coin(asleep), 0, side.condition)
    me = game.me
    me.condition = jnp.where(when & (me.condition == PARALYZED), 0, me.condition)
