"""Statuses and confusion: how a Pokemon gets them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.damage import has_type
from twinstep.generated.pokejax.state import (
    FREEZE,
    NONE,
    POISONED,
    SLEEP,
    TOXIC,
    Fighter,
)
from twinstep.generated.pokejax.tables import POISON

Array = jax.Array


def catch(battle: Battle, target: Fighter, status: Array, by_foe: Array, when: Array) -> Array:
    """Inflict a status that replaces any other; return where it took (`setStatus`).

    The Sleep and the Freeze Clause tie with each other, which costs a draw whatever the status is.
    """
    poison = (status == POISONED) | (status == TOXIC)
    asks = when & (target.hp > 0) & (target.status != status)
    asks = asks & ~(poison & has_type(target, POISON))
    battle.draws.skip((asks & battle.clauses).astype(jnp.int32))
    barred = (status == SLEEP) & target.asleep_by_foe | (status == FREEZE) & target.frozen
    takes = asks & ~(barred & by_foe & battle.clauses)
    nap = takes & (status == SLEEP)
    turns = 1 + battle.draws.below(7, nap)
    bad = takes & (status == TOXIC)
    target.set(takes, status=status, sleep=jnp.where(nap, turns, 0), sleep_by_foe=nap & by_foe)
    target.set(bad, residual=True, toxic_counter=0)
    return takes


def cure(fighter: Fighter, when: Array) -> None:
    """Take the status away; the dropped stat stays dropped."""
    fighter.set(when & (fighter.hp > 0), status=NONE, sleep=0, sleep_by_foe=False)


def confuse(battle: Battle, target: Fighter, when: Array) -> None:
    """Confuse a Pokemon that is not confused yet for 2 to 5 turns."""
    new = when & (target.hp > 0) & (target.confusion == 0)
    target.set(new, confusion=2 + battle.draws.below(4, new))
