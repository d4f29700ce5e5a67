"""Handlers that may keep a Pokemon from moving: `BeforeMove`, by priority."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.after import rage_builds
from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.damage import confusion_damage
from twinstep.generated.pokejax.state import FREEZE, NO_LOCK, PARALYSIS, SLEEP, Fighter
from twinstep.generated.pokejax.tables import number

Array = jax.Array

BIDE = number("bide")


def before_move(battle: Battle, me: Fighter, foe: Fighter, at_self: Array, when: Array) -> Array:
    """Run the handlers in turn; return where the move continues."""
    go = when
    frozen = go & (me.status == FREEZE)
    go = go & ~frozen
    asleep = go & (me.status == SLEEP)
    me.sleep = jnp.where(asleep, me.sleep - 1, me.sleep)
    me.set(frozen | asleep, last_move=0)
    go = go & ~asleep
    go = go & ~(me.trapped_duration > 0)
    go = go & ~me.flinch
    rests = go & me.recharge
    me.recharge = me.recharge & ~rests
    go = go & ~rests
    go = go & ~_disabled(me, go)
    go = go & ~_confused(battle, me, foe, go)
    go = go & ~_paralysed(battle, me, go)
    go = go & ~_bides(battle, me, foe, go)
    # A binding move lets go of a target that is no longer there.
    lost = go & (me.lock_move > 0) & (at_self | (me.lock_target != foe.slot))
    me.set(lost, **NO_LOCK)
    return go


NO_RAMPAGE = {"locked_move": 0, "locked_time": 0, "locked_accuracy": 0}
NO_DISABLE = {"disable_time": 0, "disable_slot": 0, "disable_move": 0}
NO_BIDE = {"bide_time": 0, "bide_damage": 0}


def _disabled(me: Fighter, go: Array) -> Array:
    has = go & (me.disable_time > 0)
    me.disable_time = jnp.where(has, me.disable_time - 1, me.disable_time)
    over = has & (me.disable_time == 0)
    meant = jnp.where(me.bide_time > 0, BIDE, me.move)
    stops = has & ~over & (meant == me.disable_move)
    me.set(over, **NO_DISABLE)
    me.set(stops, charging=0)
    return stops


def _confused(battle: Battle, me: Fighter, foe: Fighter, go: Array) -> Array:
    has = go & (me.confusion > 0)
    me.confusion = jnp.where(has, me.confusion - 1, me.confusion)
    acts = has & (me.confusion > 0)
    hits = acts & (battle.draws.below(256, acts) >= 128)
    battle.hurt_itself(me, foe, confusion_damage(me), hits)
    # A Pokemon without HP keeps its conditions until it faints (`removeVolatile`).
    ends = hits & (me.hp > 0)
    me.set(ends, charging=0, invulnerable=False, **NO_BIDE, **NO_LOCK, **NO_RAMPAGE)
    return hits


def _paralysed(battle: Battle, me: Fighter, go: Array) -> Array:
    has = go & (me.status == PARALYSIS)
    stops = has & (battle.draws.below(256, has) < 63)
    # Invulnerability stays: the glitch of Dig and Fly.
    me.set(stops, charging=0, **NO_BIDE, **NO_LOCK, **NO_RAMPAGE)
    return stops


def _bides(battle: Battle, me: Fighter, foe: Fighter, go: Array) -> Array:
    """Store the last damage; at the end return it twofold, past every defence."""
    bides = go & (me.bide_time > 0)
    me.bide_damage = jnp.where(bides, me.bide_damage + battle.last_damage, me.bide_damage)
    me.bide_time = jnp.where(bides, me.bide_time - 1, me.bide_time)
    over = bides & (me.bide_time == 0)
    amount = me.bide_damage * 2
    strikes = over & (amount > 0)
    behind = foe.substitute > 0
    taken = jnp.minimum(amount, foe.hp)
    battle.last_damage = jnp.where(strikes, jnp.where(behind, amount, taken), battle.last_damage)
    battle.hit_substitute(foe, amount, strikes & behind)
    foe.hp = jnp.where(strikes & ~behind, foe.hp - taken, foe.hp)
    rage_builds(foe, strikes & ~behind)
    me.set(over, **NO_BIDE)
    return bides
