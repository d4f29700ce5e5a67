"""The damage of a hit (`getDamage` in gen1/scripts.ts)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.state import (
    ATTACK,
    DEFENSE,
    SPECIAL_ATTACK,
    SPECIAL_DEFENSE,
    SPEED,
    Fighter,
)
from twinstep.generated.pokejax.tables import (
    EFFECTIVENESS,
    GHOST,
    NO_TYPE,
    NORMAL,
    SELF_VOLATILES,
    SPECIES,
    Move,
    look_up,
)

Array = jax.Array

PHYSICAL, SPECIAL, STATUS = range(3)
OHKO_DAMAGE = 65535


class Damage(NamedTuple):
    """amount: i32[...], before the target's HP cap it. fails: the move says that it failed."""

    amount: Array
    fails: Array


def has_type(fighter: Fighter, kind: Array | int) -> Array:
    """Return whether it is of this type; type "none" is of none."""
    same = (fighter.types[0] == kind) | (fighter.types[1] == kind)
    return same & (kind != NO_TYPE)


def effectiveness(attacking: Array, defending: Array) -> Array:
    """Return 1 super effective, 0, -1 not very, -2 not at all."""
    return look_up(EFFECTIVENESS, attacking * 16 + defending)


def immune(foe: Fighter, move: Move) -> Array:
    """Return whether the target's types make it immune to the move (`runImmunity`)."""
    found = [effectiveness(move.type, kind) == -2 for kind in foe.types]
    return ~move.ignores_immunity & (found[0] | found[1])


def critical_chance(me: Fighter, move: Move) -> Array:
    """Return the numerator over 256: the species' base speed decides.

    Focus Energy divides by 4 where it should multiply; the 255 cap leaves a miss in 256.
    """
    half = look_up(SPECIES[5], me.own_species) // 2
    chance = jnp.where(me.focus_energy, half // 2, jnp.clip(half * 2, 1, 255))
    return jnp.where(move.high_critical, jnp.clip(chance * 4, 1, 255), chance // 2)


def formula(
    level: Array, power: Array, attack: Array, defense: Array, self_destructs: Array | bool
) -> Array:
    """Return the damage before types and the random factor.

    Stats from 256 on are divided by 4 and roll over at 1024. Self-destruction halves the defense
    after that.
    """
    large = (attack >= 256) | (defense >= 256)
    attack = jnp.where(large, jnp.maximum(attack // 4 % 256, 1), attack)
    defense = jnp.where(large, jnp.maximum(defense // 4 % 256, 1), defense)
    defense = jnp.where(self_destructs, jnp.maximum(defense // 2, 1), defense)
    raw = (level * 2 // 5 + 2) * power * attack // defense
    return jnp.minimum(raw // 50, 997) + 2


def typed(amount: Array, me: Fighter, foe: Fighter, kind: Array) -> Array:
    """Apply the bonus of the user's own type, then the target's types one after the other."""
    amount = amount + jnp.where(has_type(me, kind), amount // 2, 0)
    for target in foe.types:
        by = effectiveness(kind, target)
        amount = jnp.where(by > 0, amount * 2, jnp.where(by < 0, amount // 2, amount))
    return amount


def damage_of(battle: Battle, me: Fighter, foe: Fighter, move: Move, when: Array) -> Damage:
    """Return the move's damage to the foe, and make the draws for it."""
    draws = battle.draws
    binds = move.self_volatile == SELF_VOLATILES.index("partialtrappinglock")
    nothing = binds & (move.type == NORMAL) & has_type(foe, GHOST)
    bound = ~nothing & (me.lock_move > 0) & (me.lock_target == foe.slot)
    psywave, counter, fang = move.is_a("psywave"), move.is_a("counter"), move.is_a("superfang")
    fixed = move.fixed_damage != 0
    rolls = when & (move.power > 0) & ~(fixed | psywave | counter | fang | nothing | bound)

    chance = critical_chance(me, move)
    crit = (draws.below(256, rolls & (chance > 0)) < chance) & (chance > 0)
    special = move.category == SPECIAL
    attack = _either(special, me.modified, SPECIAL_ATTACK, ATTACK)
    defense = _either(special, foe.modified, SPECIAL_DEFENSE, DEFENSE)
    screened = jnp.where(special, foe.light_screen, foe.reflect)
    defense = jnp.where(screened, defense * 2, defense)
    # A critical hit ignores stages, drops and screens, and uses the user's own stats
    # when it is transformed.
    attack = jnp.where(crit, _either(special, me.own_stats, SPECIAL_ATTACK, ATTACK), attack)
    defense = jnp.where(crit, _either(special, foe.own_stats, SPECIAL_DEFENSE, DEFENSE), defense)
    level = jnp.where(crit, me.level * 2, me.level)
    boom = move.self_destructs & ~special
    amount = typed(formula(level, move.power, attack, defense, boom), me, foe, move.type)

    soft_lock = (me.level == 1) | (me.level == 171)
    varies = rolls & (amount > 1)
    lucky = when & psywave & ~soft_lock
    roll = draws.below(jnp.where(psywave, me.level * 3 // 2, 39), varies | lucky)
    amount = jnp.where(amount > 1, amount * (217 + roll) // 255, amount)

    answers = counterable(foe.side_last_move) & counterable(foe.selected_move)
    fails = (counter & ~(answers & (battle.last_damage > 0))) | (
        psywave & (soft_lock | (roll <= 0))
    )
    for case, value in (
        (bound, me.lock_damage),
        (nothing, 0),
        (fixed, jnp.where(move.fixed_damage < 0, me.level, move.fixed_damage)),
        (fang, jnp.maximum(foe.hp // 2, 1)),
        (psywave, roll),
        (counter, battle.last_damage * 2),
        (move.ohko, OHKO_DAMAGE),
    ):
        amount = jnp.where(case, value, amount)
    return Damage(amount, when & fails)


def counterable(number: Array) -> Array:
    """Return whether Counter answers this move."""
    return Move(number).counterable


def confusion_damage(me: Fighter) -> Array:
    """Return the self-inflicted damage of confusion: 40 power, no roll-over, no screens."""
    raw = (me.level * 2 // 5 + 2) * me.modified[ATTACK] * 40 // me.modified[DEFENSE]
    return raw // 50 + 2


def faster(foe: Fighter, me: Fighter) -> Array:
    """Return whether the foe outruns the user of a one-hit KO move."""
    return foe.modified[SPEED] > me.modified[SPEED]


def _either(special: Array, stats: list[Array], if_special: int, otherwise: int) -> Array:
    return jnp.where(special, stats[if_special], stats[otherwise])
