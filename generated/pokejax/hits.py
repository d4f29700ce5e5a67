"""A hit: damage, substitutes, several hits, and the move's other effects (`moveHit`)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax import effects
from twinstep.generated.pokejax.after import rage_builds, trap
from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.damage import STATUS, Damage, damage_of
from twinstep.generated.pokejax.state import POISONED, TOXIC, Fighter
from twinstep.generated.pokejax.tables import (
    HITS,
    SECONDARY_VOLATILES,
    SELF_VOLATILES,
    VOLATILES,
    Move,
    look_up,
)

Array = jax.Array

BINDING = SELF_VOLATILES.index("partialtrappinglock")
CONFUSION = VOLATILES.index("confusion")
CONFUSES = SECONDARY_VOLATILES.index("confusion")


class Blow(NamedTuple):
    """failed: where the move failed after all. direct: it met the target, not its substitute.

    last: whether the hits reached the drawn number. keeps_self: the move's effect on its user
    happens; a substitute that broke prevents it.
    """

    failed: Array
    direct: Array
    last: Array
    keeps_self: Array


def beside(
    battle: Battle,
    me: Fighter,
    foe: Fighter,
    move: Move,
    blow: Blow,
    failed: Array,
    when: Array,
) -> None:
    """Apply the effects of a move that hit on its user and on the foe, other than damage."""
    _bind(battle, me, foe, move, when & ~blow.failed, blow)
    _lock_itself(me, move, when & ~blow.failed & blow.keeps_self)
    roll = blow.direct & ~failed & blow.last & (foe.hp > 0)
    effects.secondary(battle, me, foe, move, roll, _confuses_behind(foe, move, when, blow))


class Force(NamedTuple):
    """A move's drawn values: hits in all, hits left, and damage."""

    drawn: Array
    hits: Array
    damage: Damage


def force(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Force:
    """Draw a move's number of hits, and its damage, which all hits share (gen 1)."""
    drawn, hits = _hits(battle, foe, move, when)
    hurts = when & (move.category != STATUS) & ~move.at_self
    return Force(drawn, hits, damage_of(battle, me, foe, move, hurts))


def strike(
    battle: Battle, me: Fighter, foe: Fighter, move: Move, given: Force, when: Array
) -> Blow:
    """Apply the damage of a move that is on target, to the foe or to its substitute."""
    drawn, hits, (amount, fails) = given
    behind = when & ~move.at_self & (foe.substitute > 0)
    hurts = (move.category != STATUS) & ~move.at_self
    blocked = behind & ~hurts & _blocked(move)
    strikes = when & hurts & ~fails
    absorbed = strikes & behind
    met = strikes & ~behind
    first = jnp.minimum(amount, foe.hp)

    battle.last_damage = jnp.where(absorbed, amount, battle.last_damage)
    battle.last_damage = jnp.where(met, first, battle.last_damage)
    done = jnp.zeros_like(drawn)
    for i in range(5):
        wanted = i < hits
        to_sub = absorbed & wanted & (foe.substitute > 0)
        to_foe = met & wanted & (foe.hp > 0)
        taken = jnp.minimum(first, foe.hp)
        battle.hit_substitute(foe, amount, to_sub)
        battle.last_damage = jnp.where(to_foe, taken, battle.last_damage)
        foe.hp = jnp.where(to_foe, foe.hp - taken, foe.hp)
        if i == 0:
            lasting = to_sub & (foe.substitute > 0)
            _recoil_and_drain(battle, me, move, amount, lasting)
            _recoil_and_drain(battle, me, move, taken, to_foe & (taken > 0))
        rage_builds(foe, to_foe & ~move.self_destructs)
        done = done + (to_sub | to_foe).astype(jnp.int32)
    stands = foe.substitute > 0
    return Blow(
        failed=blocked | fails,
        direct=when & ~fails & ~blocked & ~absorbed,
        last=(move.hits == 1) | (done == drawn),
        keeps_self=~behind | stands,
    )


def _hits(battle: Battle, foe: Fighter, move: Move, when: Array) -> tuple[Array, Array]:
    """Return the number of hits drawn, and the number left by the note of a broken substitute.

    The note ends the hits after the first. It may be an old one: a called move does not clear
    it (gen 1).
    """
    several = when & (move.hits > 2)
    place = battle.draws.below(8, several)
    drawn = jnp.where(several, look_up(HITS, jnp.where(several, place, 0)), move.hits)
    return drawn, jnp.where(foe.sub_fainted, 1, drawn)


def _blocked(move: Move) -> Array:
    """Return whether a substitute blocks a status move: poison, confusion, lowered stats only."""
    poison = (move.status == POISONED) | (move.status == TOXIC)
    return poison | (move.boost_stats > 0) | (move.volatile == CONFUSION)


def _recoil_and_drain(battle: Battle, me: Fighter, move: Move, amount: Array, when: Array) -> None:
    recoil = jnp.maximum(amount // jnp.maximum(move.recoil, 1), 1)
    me.hp = jnp.where(when & (move.recoil > 0), jnp.maximum(me.hp - recoil, 0), me.hp)
    drained = jnp.maximum(amount // 2, 1)
    drains = when & move.drains
    battle.last_damage = jnp.where(drains, drained, battle.last_damage)
    me.hp = jnp.where(drains, jnp.minimum(me.hp + drained, me.max_hp), me.hp)


def _bind(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array, blow: Blow) -> None:
    binds = when & (move.self_volatile == BINDING)
    trap(foe, me, binds & blow.direct)
    new = binds & (me.lock_move == 0) & (me.hp > 0)
    place = battle.draws.below(8, new)
    turns = look_up(HITS, jnp.where(new, place, 0))
    me.set(
        new,
        lock_move=move.number,
        lock_duration=turns,
        lock_total=turns,
        lock_damage=battle.last_damage,
        lock_target=foe.slot,
    )
    trap(foe, me, new)


def _lock_itself(me: Fighter, move: Move, when: Array) -> None:
    up = when & (me.hp > 0)
    rages = up & (move.self_volatile == SELF_VOLATILES.index("rage"))
    me.set(rages & (me.rage_accuracy == 0), rage_accuracy=255)
    tires = up & (move.self_volatile == SELF_VOLATILES.index("mustrecharge"))
    me.recharge = me.recharge | tires


def _confuses_behind(foe: Fighter, move: Move, when: Array, blow: Blow) -> Array:
    """Let a confusing move act through a substitute that it leaves standing."""
    left = when & ~blow.failed & ~blow.direct & (foe.substitute > 0)
    return left & (move.secondary_volatile == CONFUSES)
