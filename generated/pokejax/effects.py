"""Effects of moves other than damage: main effects and secondary ones."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.damage import STATUS, has_type
from twinstep.generated.pokejax.stage import stage
from twinstep.generated.pokejax.state import (
    ACCURACY,
    BURN,
    FREEZE,
    NONE,
    PARALYSIS,
    POISONED,
    SLEEP,
    TOXIC,
    Fighter,
    pick,
    put,
)
from twinstep.generated.pokejax.stats import boosted, drop_again, dropped, stat
from twinstep.generated.pokejax.status import catch, confuse
from twinstep.generated.pokejax.tables import (
    CANNOT_MOVE,
    COLUMNS,
    SECONDARY_VOLATILES,
    SPECIES,
    VOLATILES,
    Move,
    look_up,
)

Array = jax.Array

CONFUSES = SECONDARY_VOLATILES.index("confusion")
FLINCHES = SECONDARY_VOLATILES.index("flinch")
PP = COLUMNS["pp"]


def main(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    """Apply a move's main effect; return where the move fails because of it."""
    failed = when & move.is_a("mirrormove")

    def apply(part: Callable[..., Array], wanted: Array) -> None:
        nonlocal failed
        does = when & wanted
        failed = failed | stage(does, lambda b, m, f: part(b, m, f, move, does), battle, me, foe)

    apply(_screens, move.is_a("reflect", "lightscreen"))
    apply(_substitute, move.is_a("substitute"))
    apply(_recovers, move.is_a("rest", "recover", "softboiled"))
    apply(_disables, move.is_a("disable"))
    apply(_volatiles, (move.category == STATUS) | move.is_a("bide"))
    apply(_changes_stats, (move.boost_stats > 0) & (move.category == STATUS))
    apply(_catches, move.status > 0)
    apply(_mimics, move.is_a("mimic"))
    apply(_transforms, move.is_a("transform", "conversion"))
    apply(_haze, move.is_a("haze"))
    return failed


def secondary(
    battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array, behind: Array
) -> None:
    """Roll for a move's secondary effect. behind: where it may only confuse past a substitute."""
    has = move.secondary_chance > 0
    status = move.secondary_status
    # Moves cannot paralyse, burn or freeze a target of their own type, and then nothing is drawn.
    guarded = (status == PARALYSIS) | (status == BURN) | (status == FREEZE)
    guarded = guarded & has_type(foe, move.type)
    rolls = (when & has & ~guarded) | behind
    happens = rolls & (battle.draws.below(256, rolls) < move.secondary_chance)
    sick = happens & (status > 0) & (foe.status == NONE) & when
    takes = catch(battle, foe, status, jnp.ones_like(when), sick)
    foe.modified = _drop_new(foe, takes)
    confuse(battle, foe, happens & (move.secondary_volatile == CONFUSES))
    flinches = happens & (move.secondary_volatile == FLINCHES) & ~foe.flinch
    foe.flinch = foe.flinch | flinches
    foe.recharge = foe.recharge & ~flinches
    lowers = happens & (move.secondary_stats > 0)
    success = boost(foe, move.secondary_stats, move.secondary_amount, lowers)
    drop_again(foe, success)


def _drop_new(foe: Fighter, when: Array) -> list[Array]:
    return [
        jnp.where(when, new, old)
        for new, old in zip(dropped(foe.modified, foe.status), foe.modified, strict=True)
    ]


def boost(target: Fighter, stats: Array, amount: Array, when: Array) -> Array:
    """Change the stages of a bit mask; return whether any change counts."""
    success = jnp.zeros_like(when)
    for i in range(7):
        wanted = when & ((stats >> i & 1) == 1)
        change = jnp.where(wanted, amount, 0)
        if i >= ACCURACY:
            stage = target.boosts[i]
            after = jnp.clip(stage + change, -6, 6)
            target.boosts[i] = after
            counts = after != stage
        else:
            target.boosts[i], target.modified[i], counts = boosted(
                target.boosts[i], target.modified[i], target.stats[i], change
            )
        success = success | (wanted & counts)
    return success


def _changes_stats(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    """Raise the user's or lower the foe's stats; return where nothing could be changed.

    A paralysed or burnt Pokemon that is not moving suffers the drop once more (gen 1).
    """
    wanted = when & (move.boost_stats > 0) & (move.category == STATUS)
    own = wanted & move.at_self
    theirs = wanted & ~move.at_self
    raised = boost(me, move.boost_stats, move.boost_amount, own)
    lowered = boost(foe, move.boost_stats, move.boost_amount, theirs & ~foe.mist)
    drop_again(foe, raised | lowered)
    me.minimize = me.minimize | (raised & (move.volatile == VOLATILES.index("minimize")))
    me.defense_curl = me.defense_curl | (raised & (move.volatile == VOLATILES.index("defensecurl")))
    return wanted & ~(raised | lowered)


def _screens(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    reflect, light = when & move.is_a("reflect"), when & move.is_a("lightscreen")
    failed = (reflect & me.reflect) | (light & me.light_screen)
    me.reflect = me.reflect | reflect
    me.light_screen = me.light_screen | light
    return failed


def _substitute(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    tries = when & move.is_a("substitute")
    failed = tries & ((me.substitute > 0) | (me.hp * 4 < me.max_hp))
    makes = tries & ~failed
    quarter = me.max_hp // 4
    me.set(makes, substitute=quarter + 1, trapped_duration=0, trapped_hidden=False)
    me.set(makes, trapped_source=0)
    # At exactly a quarter the user faints; up to 3 HP it costs nothing.
    cost = jnp.where(me.max_hp > 3, quarter, 0)
    me.hp = jnp.where(makes, jnp.maximum(me.hp - cost, 0), me.hp)
    return failed


def _recovers(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    rests = when & move.is_a("rest")
    tries = rests | (when & move.is_a("recover", "softboiled"))
    missing = me.max_hp - me.hp
    # The cartridge's subtraction looks at one byte only.
    glitch = ((missing == 255) | (missing == 511)) & (me.hp % 256 != 0)
    failed = tries & ((missing == 0) | glitch)
    sleeps = catch(
        battle, me, jnp.full_like(me.status, SLEEP), jnp.zeros_like(when), rests & ~failed
    )
    failed = failed | (rests & ~sleeps)
    me.set(sleeps, sleep=2)
    heals = tries & ~failed
    gain = jnp.where(rests, me.max_hp, me.max_hp // 2)
    me.hp = jnp.where(heals, jnp.minimum(me.hp + gain, me.max_hp), me.hp)
    return failed


def _disables(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    tries = when & move.is_a("disable")
    ready = [(slot > 0) & (pp > 0) for slot, pp in zip(foe.moves, foe.move_pp, strict=True)]
    count = sum(each.astype(jnp.int32) for each in ready)
    failed = tries & (count == 0)
    new = tries & ~failed & (foe.disable_time == 0)
    rank = battle.draws.below(jnp.maximum(count, 1), new)
    turns = 1 + battle.draws.below(8, new)
    before = jnp.zeros_like(rank)
    slot = jnp.zeros_like(rank)
    for i, each in enumerate(ready):
        slot = jnp.where(each & (before == rank), i, slot)
        before = before + each.astype(jnp.int32)
    foe.set(new, disable_time=turns, disable_slot=slot, disable_move=pick(foe.moves, slot))
    return failed


def _volatiles(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    def gives(name: str) -> Array:
        return when & (move.volatile == VOLATILES.index(name))

    confuse(battle, foe, gives("confusion"))
    foe.leech_seed = foe.leech_seed | gives("leechseed")
    me.mist = me.mist | gives("mist")
    me.focus_energy = me.focus_energy | gives("focusenergy")
    bides = gives("bide") & (me.bide_time == 0)
    me.set(bides, bide_time=2 + battle.draws.below(2, bides), bide_damage=0)
    return jnp.zeros_like(when)


def _catches(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    """Inflict the move's status on the foe; sleep replaces another one while the foe recharges."""
    tries = when & (move.status > 0)
    resting = tries & (move.status == SLEEP) & foe.recharge
    clear = tries & ~resting & (foe.status == NONE)
    takes = catch(battle, foe, move.status, jnp.ones_like(when), resting | clear)
    foe.recharge = foe.recharge & ~(resting & takes)
    foe.modified = _drop_new(foe, takes & clear)
    return jnp.zeros_like(when)


def _mimics(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    mimics = when & move.is_a("mimic")
    count = sum((slot > 0).astype(jnp.int32) for slot in foe.moves)
    place = battle.draws.below(jnp.maximum(count, 1), mimics)
    found = pick(foe.moves, place)
    me.moves = put(me.moves, me.selected_slot, found, mimics)
    me.virtual = put(me.virtual, me.selected_slot, True, mimics)
    return jnp.zeros_like(when)


def _transforms(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    copies = when & move.is_a("conversion")
    me.types = [jnp.where(copies, new, old) for new, old in zip(foe.types, me.types, strict=True)]
    when = when & move.is_a("transform")
    # Until it is renewed, its speed in ties is that of the new species with its own genes.
    base = look_up(SPECIES[5], foe.species)
    me.set(when, speed=stat(base, me.speed_genes, me.level), transformed=True, species=foe.species)

    def take(mine: list[Array], theirs: list[Array]) -> list[Array]:
        return [jnp.where(when, b, a) for a, b in zip(mine, theirs, strict=True)]

    me.types = take(me.types, foe.types)
    me.stats = take(me.stats, foe.stats)
    me.modified = take(me.modified, foe.modified)
    me.boosts = take(me.boosts, foe.boosts)
    me.moves = take(me.moves, foe.moves)
    five = [jnp.where(slot > 0, jnp.minimum(look_up(PP, slot), 5), 0) for slot in foe.moves]
    me.move_pp = take(me.move_pp, five)
    me.virtual = [
        jnp.where(when, slot > 0, old) for slot, old in zip(foe.moves, me.virtual, strict=True)
    ]
    return jnp.zeros_like(when)


def _haze(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Array:
    """Clear stages and volatile conditions; the foe's status too, which may soft-lock it."""
    stopped = when & ((foe.status == FREEZE) | (foe.status == SLEEP))
    foe.set(stopped, selected_move=CANNOT_MOVE)
    foe.set(stopped & foe.acts, move=CANNOT_MOVE)
    foe.set(when, status=NONE, sleep=0, sleep_by_foe=False)
    milder = when & (me.status == TOXIC)
    battle.draws.skip((milder & battle.clauses).astype(jnp.int32))
    me.set(milder, status=POISONED)
    for fighter in (me, foe):
        fighter.boosts = [jnp.where(when, 0, stage) for stage in fighter.boosts]
        fighter.modified = [
            jnp.where(when, stored, now)
            for stored, now in zip(fighter.stats, fighter.modified, strict=True)
        ]
        fighter.set(when, speed=fighter.modified[4], toxic_counter=0, confusion=0)
        fighter.set(when, disable_time=0, disable_slot=0, disable_move=0)
        for name in ("mist", "focus_energy", "leech_seed", "light_screen", "reflect", "residual"):
            fighter.set(when, **{name: False})
    return jnp.zeros_like(when)
