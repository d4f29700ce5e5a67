"""One Pokemon's action: `runMove`, `useMove` and `tryMoveHit` of gen1/scripts.ts in one pass."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.after import after_move, after_move_self, rage_builds
from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.before import before_move
from twinstep.generated.pokejax.calls import called_move, enter, pay
from twinstep.generated.pokejax.damage import faster, has_type, immune
from twinstep.generated.pokejax.effects import main
from twinstep.generated.pokejax.hits import beside, force, strike
from twinstep.generated.pokejax.stage import stage
from twinstep.generated.pokejax.state import (
    ACCURACY,
    BURN,
    EVASION,
    FREEZE,
    NO_LOCK,
    SLEEP,
    Fighter,
    pick,
)
from twinstep.generated.pokejax.stats import scaled
from twinstep.generated.pokejax.status import cure
from twinstep.generated.pokejax.tables import (
    CANNOT_MOVE,
    GRASS,
    SELF_VOLATILES,
    Move,
    number,
)

Array = jax.Array

STRUGGLE = number("struggle")
RAMPAGE = SELF_VOLATILES.index("lockedmove")
BINDING = SELF_VOLATILES.index("partialtrappinglock")


def hard_locked(me: Fighter) -> Array:
    """Return whether the player has no choice, not even to switch."""
    return me.recharge | (me.rage_accuracy > 0) | (me.locked_move > 0) | (me.charging > 0)


def act(battle: Battle, me: Fighter, foe: Fighter, when: Array) -> None:
    """Carry out a Pokemon's action, with all its immediate consequences."""
    go = stage(when, lambda b, m, f: _begins(b, m, f, when), battle, me, foe)
    calls = go & Move(me.move).is_a("metronome", "mirrormove")
    found = stage(calls, lambda b, m, f: called_move(b, m, f, m.move, calls), battle, me, foe)
    number, called = jnp.where(calls, found[0], me.move), calls & found[1]
    move = Move(number)
    aim = stage(go, lambda b, m, f: _aims(b, m, f, move, called, go), battle, me, foe)
    given = stage(go, lambda b, m, f: force(b, m, f, move, aim.hits), battle, me, foe)
    blow = stage(go, lambda b, m, f: strike(b, m, f, move, given, aim.hits), battle, me, foe)
    failed = main(battle, me, foe, move, blow.direct)
    stage(go, lambda b, m, f: beside(b, m, f, move, blow, failed, aim.hits), battle, me, foe)
    failed = failed | blow.failed
    stage(when, lambda b, m, f: _ends(b, m, f, move, aim, failed, go, when), battle, me, foe)


def _begins(battle: Battle, me: Fighter, foe: Fighter, when: Array) -> Array:
    """Return where it moves at all, and make it pay (`runMove`)."""
    chosen = Move(me.move)
    at_self = chosen.at_self
    can = when & (me.move != CANNOT_MOVE)
    foe.sub_fainted = foe.sub_fainted & ~(can & ~at_self)
    me.sub_fainted = me.sub_fainted & ~(can & at_self)
    go = before_move(battle, me, foe, at_self, can)

    locked = hard_locked(me) | (me.lock_move > 0)
    struggles = me.move == STRUGGLE
    once = ~chosen.two_turns & ~locked
    pay(me, 1, go & ~struggles & (once | (me.charging > 0)))
    # Desync Clause Mod: the selected move is not the slot's move.
    go = go & (struggles | locked | (me.move == pick(me.moves, me.selected_slot)))
    own = go & ~locked & ~me.transformed
    me.revealed = [
        flag | (own & (move == me.move))
        for flag, move in zip(me.revealed, me.own_moves, strict=True)
    ]
    return go


class Aim(NamedTuple):
    """The outcome of aiming. tries: it is no preparation. misses: it never meets the target.

    aims: it has reached the accuracy roll. hits: it is on target.
    """

    tries: Array
    misses: Array
    aims: Array
    hits: Array


def _aims(battle: Battle, me: Fighter, foe: Fighter, move: Move, called: Array, when: Array) -> Aim:
    """Begin to use a move, called or not, up to its hit (`useMove`, `tryMoveHit`)."""
    enter(me, move, called, when)
    prepares = when & move.two_turns & (me.charging == 0)
    ready = when & move.two_turns & ~prepares
    me.set(ready, invulnerable=False)
    me.charging = jnp.where(prepares, move.number, jnp.where(ready, 0, me.charging))
    me.invulnerable = me.invulnerable | (prepares & move.is_a("dig", "fly"))
    tries = when & ~prepares & ~move.is_a("teleport")
    # A binding move ends the foe's recharging even if it misses (gen 1).
    foe.recharge = foe.recharge & ~(tries & (move.self_volatile == BINDING))
    clears = tries & ~move.keeps_last_damage
    battle.last_damage = jnp.where(clears, 0, battle.last_damage)

    _rampage(battle, me, move, tries)
    evades = foe.invulnerable & ~move.at_self & ~move.is_a("swift", "transform")
    misses = tries & (evades | immune(foe, move))
    useless = (move.is_a("dreameater") & ~((foe.status == SLEEP) & (foe.substitute == 0))) | (
        move.is_a("leechseed") & has_type(foe, GRASS)
    )
    useless = useless | (move.ohko & faster(foe, me))
    aims = tries & ~misses & ~useless
    hits = aims & _accurate(battle, me, foe, move, aims)
    battle.last_damage = jnp.where(aims & ~hits, 0, battle.last_damage)
    return Aim(tries, misses, aims, hits)


def _ends(
    battle: Battle,
    me: Fighter,
    foe: Fighter,
    move: Move,
    aim: Aim,
    failed: Array,
    used: Array,
    when: Array,
) -> None:
    """Draw the consequences: of the hit, of its failure, and of the action as a whole."""
    bursts = (aim.misses | (aim.aims & ~foe.sub_fainted)) & move.self_destructs
    me.hp = jnp.where(bursts, 0, me.hp)
    lost = aim.aims & (~aim.hits | failed)
    me.set(lost, **NO_LOCK)
    thaws = aim.hits & ~failed & (move.secondary_status == BURN)
    cure(foe, thaws & (foe.status == FREEZE))
    # Disable and exploding moves build Rage even where they miss or fail.
    rage_builds(foe, aim.tries & (move.self_destructs | move.is_a("disable")))
    fails = (aim.tries & ~aim.aims) | lost
    crashes = fails & move.is_a("jumpkick", "highjumpkick") & (me.hp > 0)
    battle.hurt_itself(me, foe, 1, crashes)

    me.side_last_move = jnp.where(used, move.number, me.side_last_move)
    target_up = jnp.where(move.at_self, me.hp, foe.hp) > 0
    after_move(battle, me, foe, target_up, used)
    after_move_self(me, foe, when & (~used | target_up))


def _rampage(battle: Battle, me: Fighter, move: Move, when: Array) -> None:
    """Begin or continue Thrash or Petal Dance; at its end confusion begins, or begins again."""
    rampages = when & (move.self_volatile == RAMPAGE)
    goes_on = rampages & (me.locked_move > 0)
    me.locked_time = jnp.where(goes_on, me.locked_time - 1, me.locked_time)
    tires = goes_on & (me.locked_time == 0)
    begins = rampages & ~goes_on
    turns = 2 + battle.draws.below(jnp.where(tires, 4, 2), tires | begins)
    me.set(tires, confusion=turns)
    me.set(begins, locked_move=move.number, locked_time=turns, locked_accuracy=255)


def _accurate(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    """Return whether the move is on target. All except few miss once in 256 (gen 1)."""
    sure = (move.accuracy == 0) | ((move.status == SLEEP) & foe.recharge)
    accuracy = jnp.where(me.locked_move > 0, me.locked_accuracy, move.accuracy)
    accuracy = jnp.where(me.rage_accuracy > 0, me.rage_accuracy, accuracy)
    accuracy = scaled(accuracy, me.boosts[ACCURACY])
    accuracy = jnp.clip(scaled(accuracy, -foe.boosts[EVASION]), 1, 255)
    # The locking moves keep the accuracy modified by the stages: the bug of Rage and Thrash.
    keeps = when & ~sure
    me.set(keeps & (me.locked_move > 0), locked_accuracy=accuracy)
    me.set(keeps & (me.rage_accuracy > 0), rage_accuracy=accuracy)
    holds = ~move.at_self & (foe.trapped_duration > 0) & (foe.trapped_source == me.slot)
    rolls = keeps & ~holds
    return ~rolls | (battle.draws.below(256, rolls) < accuracy)
