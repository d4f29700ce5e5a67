"""Stats: initial values, stages, and the drops of paralysis and burn."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.state import ATTACK, BURN, PARALYSIS, SPEED, Fighter
from twinstep.generated.pokejax.tables import STAGES, look_up

Array = jax.Array


def stat(base: Array, genes: Array, level: Array) -> Array:
    """Return a stat other than HP (`statModify` in sim/battle.ts). genes: IV + EV / 4."""
    return (2 * base + genes) * level // 100 + 5


def hit_points(base: Array, genes: Array, level: Array) -> Array:
    """Return the maximum HP (`statModify`)."""
    return (2 * base + genes + 100) * level // 100 + 10


def scaled(value: Array, stage: Array) -> Array:
    """Return floor(value * ratio) of a stage -6 to 6, as stats and accuracy do."""
    return value * look_up(STAGES, stage + 6) // 100


def drop(value: Array, divisor: int, when: Array) -> Array:
    """Return `modifyStat` by 1 / divisor where `when`: never below 1."""
    return jnp.where(when, jnp.maximum(value // divisor, 1), value)


def dropped(stats: Sequence[Array], status: Array) -> list[Array]:
    """Return stats with a paralysed one's speed quartered and a burnt one's attack halved."""
    found = list(stats)
    found[SPEED] = drop(found[SPEED], 4, status == PARALYSIS)
    found[ATTACK] = drop(found[ATTACK], 2, status == BURN)
    return found


def drop_again(fighter: Fighter, when: Array) -> None:
    """Apply the status' drop once more: it adds to the earlier ones (gen 1)."""
    speed = drop(fighter.modified[SPEED], 4, when & (fighter.status == PARALYSIS))
    attack = drop(fighter.modified[ATTACK], 2, when & (fighter.status == BURN))
    fighter.modified[SPEED], fighter.modified[ATTACK] = speed, attack


def boosted(
    stage: Array, modified: Array, stored: Array, amount: Array
) -> tuple[Array, Array, Array]:
    """Raise or lower one of the five stats (`boostBy` in gen1/scripts.ts).

    Returns stage and modified stat, and whether the change counts. At 999, or at 1 downwards, the
    stage changes by one less and the stat stays, which counts as a failure.
    """
    up, down = amount > 0, amount < 0
    moves = (up & (stage < 6)) | (down & (stage > -6))
    stuck = moves & jnp.where(up, modified == 999, modified == 1)
    after = jnp.clip(stage + amount, -6, 6)
    new = jnp.maximum(scaled(stored, after), 1)
    new = jnp.where(up, jnp.minimum(new, 999), new)
    after = jnp.where(stuck, after - jnp.sign(amount), after)
    counts = moves & ~stuck
    return (
        jnp.where(moves, after, stage),
        jnp.where(counts, new, modified),
        counts,
    )
