"""The consequences of a move: `AfterMove`, `AfterMoveSelf`, and Rage that builds."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.state import (
    ATTACK,
    BURN,
    NO_LOCK,
    NONE,
    POISONED,
    SLEEP,
    TOXIC,
    Fighter,
)
from twinstep.generated.pokejax.stats import boosted

Array = jax.Array


def rage_builds(fighter: Fighter, when: Array) -> None:
    """Raise the attack of a Pokemon in Rage that is still standing."""
    builds = when & (fighter.rage_accuracy > 0) & (fighter.hp > 0)
    stage, modified, _ = boosted(
        fighter.boosts[ATTACK],
        fighter.modified[ATTACK],
        fighter.stats[ATTACK],
        builds.astype(jnp.int32),
    )
    fighter.boosts[ATTACK], fighter.modified[ATTACK] = stage, modified


def trap(target: Fighter, by: Fighter, when: Array) -> None:
    """Bind a target that is standing, or renew its binding for two turns."""
    held = when & (target.hp > 0)
    new = held & (target.trapped_duration == 0)
    target.set(held, trapped_duration=2)
    target.set(new, trapped_source=by.slot, trapped_hidden=False)


def after_move(battle: Battle, me: Fighter, foe: Fighter, target_up: Array, when: Array) -> None:
    """Run the handlers of locking moves; those of one Pokemon tie with each other."""
    locks, recharges, rampages = me.lock_move > 0, me.recharge, me.locked_move > 0
    count = locks.astype(jnp.int32) + recharges.astype(jnp.int32) + rampages.astype(jnp.int32)
    battle.draws.skip(jnp.where(when, jnp.maximum(count - 1, 0), 0))

    calms = when & rampages & (me.locked_time <= 0)
    me.set(calms, locked_move=0, locked_time=0, locked_accuracy=0)
    me.recharge = me.recharge & ~(when & ~target_up)

    locks = when & locks
    ends = locks & target_up & (me.lock_duration == 1)
    goes_on = locks & target_up & ~ends
    # The foe must not learn that the binding is over, unless it lasted as long as it can.
    pretends = ends & (me.lock_total != 5)
    for one, other in ((me, foe), (foe, me)):
        one.set(pretends & (one.fake_duration == 0), fake_duration=2)
        one.set(pretends, fake_counterpart=other.slot)
    trap(foe, me, goes_on)
    foe.set(goes_on & (me.lock_total - me.lock_duration > 0), trapped_hidden=True)
    gone = locks & ~target_up
    me.set(gone, **NO_LOCK)


def after_move_self(me: Fighter, foe: Fighter, when: Array) -> None:
    """Count Toxic up, wake up, suffer from poison or burn, lose HP to Leech Seed: in this order."""
    poisoned = (me.status == POISONED) | (me.status == TOXIC)
    sick = when & (poisoned | (me.status == BURN))
    me.set(sick & me.residual, toxic_counter=me.toxic_counter + 1)
    wakes = when & (me.hp > 0) & (me.status == SLEEP) & (me.sleep <= 0)
    me.set(wakes, status=NONE, sleep=0, sleep_by_foe=False)

    unit = jnp.maximum(me.max_hp // 16, 1)
    times = jnp.where(me.residual, me.toxic_counter, 1)
    me.hp = jnp.where(sick, jnp.maximum(me.hp - unit * times, 0), me.hp)

    drains = when & me.leech_seed & (foe.hp > 0)
    me.set(drains & me.residual, toxic_counter=me.toxic_counter + 1)
    taken = unit * jnp.where(me.residual, me.toxic_counter, 1)
    me.hp = jnp.where(drains, jnp.maximum(me.hp - taken, 0), me.hp)
    # The seeder gets all of it, even if the foe had less HP left, or none.
    foe.hp = jnp.where(drains, jnp.minimum(foe.hp + taken, foe.max_hp), foe.hp)
