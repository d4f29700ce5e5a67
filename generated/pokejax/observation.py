"""What a player sees and may do: only what its own request and the battle's log tell it."""

from __future__ import annotations

import math
from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.pokejax.damage import effectiveness
from twinstep.generated.pokejax.members import Team
from twinstep.generated.pokejax.moves import hard_locked
from twinstep.generated.pokejax.requests import legal
from twinstep.generated.pokejax.state import (
    FAINTED,
    MOVE_REQUEST,
    SWITCH_REQUEST,
    Fighter,
    pick,
)
from twinstep.generated.pokejax.tables import COLUMNS, Move, look_up

Array = jax.Array

#: `Math.ceil(hp / maxhp * 100)` where that is a whole number: float64 rounds some of them up.
_WHOLE = np.array([math.ceil(k / 100 * 100) for k in range(101)], np.int32)
#: The plain accuracy of the move table, in hundredths; 0 cannot miss.
_ACCURACY = np.ceil(COLUMNS["accuracy"] * 100 / 255).astype(np.int32)


def percent(hp: Array, most: Array) -> Array:
    """Return HP in hundredths as the log shows them: rounded up, 100 only for all of them."""
    most = jnp.maximum(most, 1)
    whole = hp * 100 // most
    shown = jnp.where(hp * 100 % most == 0, look_up(_WHOLE, whole), whole + 1)
    return jnp.where((shown == 100) & (hp < most), 99, shown)


def allowed(team: Team, fighter: Fighter, asked: Array) -> list[Array]:
    """Return bool[...] for each of a player's ten actions."""
    present = [team.present(i) for i in range(6)]
    return legal(fighter, present, team.fainted, asked == MOVE_REQUEST, asked == SWITCH_REQUEST)


def observe(
    turn: Array,
    asked: Array,
    own: Team,
    me: Fighter,
    their: Team,
    foe: Fighter,
    actions: list[Array],
) -> list[Array]:
    """Return one player's observation, a value i32[...] for each name of the contract.

    own, their: with what the fighters are as members written back. actions: what it may do.
    """
    fainted = pick(own.fainted, me.slot)
    found = [turn, asked, _left(own), _left(their)]
    found += [me.species, *me.types, *_shown(me)]
    found.append((asked == MOVE_REQUEST) & hard_locked(me) & ~fainted)
    for i in range(4):
        found += _slot(me.moves[i], me.move_pp[i], foe.types, actions[i])
    for i in range(6):
        found += _own_member(own, i, me.slot)
    status = jnp.where(pick(their.fainted, foe.slot), FAINTED, pick(their.status, foe.slot))
    hp = percent(pick(their.hp, foe.slot), foe.max_hp)
    found += [foe.species, *foe.types, foe.level, hp, status, *_shown(foe), foe.disable_move]
    members = [_foe_member(their, i, foe.slot) for i in range(6)]
    for rank in range(1, 7):
        for column in range(len(members[0])):
            value = jnp.zeros_like(turn)
            for i, member in enumerate(members):
                value = jnp.where(their.seen[i] == rank, member[column].astype(jnp.int32), value)
            found.append(value)
    return [value.astype(jnp.int32) for value in found]


def _left(team: Team) -> Array:
    up = [team.present(i) & ~team.fainted[i] for i in range(6)]
    return jnp.stack(up).astype(jnp.int32).sum(0)


def _shown(fighter: Fighter) -> list[Array]:
    return [
        *fighter.boosts,
        fighter.substitute > 0,
        fighter.reflect,
        fighter.light_screen,
        fighter.leech_seed,
        fighter.mist,
        fighter.focus_energy,
        fighter.confusion > 0,
        fighter.invulnerable,
        fighter.recharge,
        fighter.bide_time > 0,
        fighter.rage_accuracy > 0,
        fighter.transformed,
        fighter.charging,
    ]


def _slot(number: Array, pp: Array, against: list[Array], usable: Array) -> list[Array]:
    move = Move(number)
    by = [effectiveness(move.type, kind) for kind in against]
    total = jnp.where((by[0] == -2) | (by[1] == -2), -3, by[0] + by[1])
    return [number, pp, move.type, move.power, look_up(_ACCURACY, number), total, usable]


def _own_member(team: Team, i: int, fights: Array) -> list[Array]:
    there = team.present(i)
    values = [
        team.set_[i][0],
        team.set_[i][1],
        team.hp[i],
        team.stats[i][0],
        jnp.where(team.fainted[i], FAINTED, team.status[i]),
        fights == i,
        team.fainted[i],
        *team.stats[i][1:],
        *team.set_[i][2:6],
        *team.pp[i],
    ]
    return [jnp.where(there, value.astype(jnp.int32), 0) for value in values]


def _foe_member(team: Team, i: int, fights: Array) -> list[Array]:
    revealed = zip(team.set_[i][2:6], team.revealed[i], strict=True)
    return [
        team.set_[i][0],
        team.set_[i][1],
        percent(team.hp[i], team.stats[i][0]),
        jnp.where(team.fainted[i], FAINTED, team.status[i]),
        fights == i,
        team.fainted[i],
        *_sorted([jnp.where(shown, move, 0) for move, shown in revealed]),
    ]


def _sorted(values: Iterable[Array]) -> list[Array]:
    """Sort four values, lowest first."""
    found = list(values)
    for a, b in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        low, high = jnp.minimum(found[a], found[b]), jnp.maximum(found[a], found[b])
        found[a], found[b] = low, high
    return found
