"""A player's observation and legal actions, from its own request and the battle's log only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.pokejax.damage import effectiveness
from twinstep.generated.pokejax.members import Team
from twinstep.generated.pokejax.requests import legal
from twinstep.generated.pokejax.state import (
    FAINTED,
    FLAGS,
    MOVE_REQUEST,
    SWITCH_REQUEST,
    Fighter,
    State,
)
from twinstep.generated.pokejax.tables import COLUMNS, Move, look_up

Array = jax.Array

#: `Math.ceil(hp / maxhp * 100)` for HP of a whole percentage: float64 rounds some of them up.
_WHOLE = np.array([math.ceil(k / 100 * 100) for k in range(101)], np.int32)
#: The plain accuracy of the move table, in hundredths; 0 cannot miss.
_ACCURACY = np.ceil(COLUMNS["accuracy"] * 100 / 255).astype(np.int32)


def percent(hp: Array, most: Array) -> Array:
    """Return HP in hundredths as the log shows them: rounded up, 100 only for all of them."""
    most = jnp.maximum(most, 1)
    whole = hp * 100 // most
    shown = jnp.where(hp * 100 % most == 0, look_up(_WHOLE, whole), whole + 1)
    return jnp.where((shown == 100) & (hp < most), 99, shown)


class Looks(NamedTuple):
    """Parts of an observation that need computing.

    legal: bool[10]. slots: i32[4, 7], the own moves. hundredths: i32[6], the members' HP as the
    foe sees them. revealed: i32[6, 4], the moves that the foe knows.
    """

    legal: Array
    slots: Array
    hundredths: Array
    revealed: Array


def looks(team: Team, me: Fighter, foe: Fighter, asked: Array) -> Looks:
    """Return one side's part of both observations."""
    present = [team.present(i) for i in range(6)]
    asks = (asked == MOVE_REQUEST, asked == SWITCH_REQUEST)
    allowed = legal(me, present, team.fainted, *asks)
    slots = [_slot(me.moves[i], me.move_pp[i], foe.types, allowed[i]) for i in range(4)]
    known = []
    for member, shown in zip(team.set_, team.revealed, strict=True):
        pairs = zip(member[2:6], shown, strict=True)
        known.append(_sorted([jnp.where(flag, move, 0) for move, flag in pairs]))
    hundredths = [percent(hp, stats[0]) for hp, stats in zip(team.hp, team.stats, strict=True)]
    return Looks(jnp.stack(allowed), _table(slots), jnp.stack(hundredths), _table(known))


def _table(table: list[list[Array]]) -> Array:
    return jnp.stack([jnp.stack([value.astype(jnp.int32) for value in row]) for row in table])


def observe(state: State, side: int, mine: Looks, theirs: Looks) -> Array:
    """Return one player's observation i16[D], a value for each name of the contract.

    Built from pieces of whole arrays: one value for each name takes much longer to compile.
    """
    foe = 1 - side
    own, other = _members(state, side), _members(state, foe)
    fights = state.order[foe, 0].astype(jnp.int32)
    of_foe = jnp.stack([other.level, theirs.hundredths, other.status])
    pieces = [
        _one(state.turn),
        state.request[side][None],
        _one(own.left),
        _one(other.left),
        *_body(state, side),
        _one((state.request[side] == MOVE_REQUEST) & _hard_locked(state, side) & ~_down(own)),
        mine.slots.reshape(28, *mine.slots.shape[2:]),
        _own_rows(state, side, own),
        *_body(state, foe)[:2],
        _picked(of_foe, fights),
        *_body(state, foe)[2:],
        state.disable_move[foe][None],
        _foe_rows(state, foe, other, theirs),
    ]
    return jnp.concatenate([piece.astype(jnp.int16) for piece in pieces])


def _one(value: Array) -> Array:
    return value[None]


class _Members(NamedTuple):
    """i32[6] or bool[6] of one side; left: i32[], the number of members that have not fainted."""

    level: Array
    status: Array
    fights: Array
    fainted: Array
    left: Array


def _members(state: State, side: int) -> _Members:
    level = state.team[side, :, 1].astype(jnp.int32)
    fainted = state.fainted[side]
    six = jnp.arange(6, dtype=jnp.uint8).reshape(6, *[1] * (level.ndim - 1))
    fights = (state.order[side, :1] == six) & (level > 0)
    status = jnp.where(fainted, FAINTED, state.status[side].astype(jnp.int32))
    left = ((level > 0) & ~fainted).astype(jnp.int32).sum(0)
    return _Members(level, status, fights, fainted, left)


def _down(members: _Members) -> Array:
    return (members.fights & members.fainted).any(0)


def _hard_locked(state: State, side: int) -> Array:
    rages, locks = state.rage_accuracy[side] > 0, state.locked_move[side] > 0
    recharges = state.flags[side, FLAGS.index("recharge")]
    return recharges | rages | locks | (state.charging[side] > 0)


def _picked(columns: Array, index: Array) -> Array:
    """Return i32[K] of i32[K, 6] at an index i32[]."""
    six = jnp.arange(6).reshape(1, 6, *[1] * index.ndim)
    return jnp.where(index[None, None] == six, columns, 0).sum(1)


def _body(state: State, side: int) -> tuple[Array, ...]:
    """Return species, types, and the visible state of the fighting Pokemon."""

    def flags(*names: str) -> Array:
        return state.flags[side][jnp.array([FLAGS.index(name) for name in names])]

    shown = [
        state.boosts[side],
        (state.substitute[side] > 0)[None],
        flags("reflect", "light_screen", "leech_seed", "mist", "focus_energy"),
        (state.confusion[side] > 0)[None],
        flags("invulnerable", "recharge"),
        (state.bide_time[side] > 0)[None],
        (state.rage_accuracy[side] > 0)[None],
        state.transformed[side][None],
        state.charging[side][None],
    ]
    both = jnp.concatenate([each.astype(jnp.int16) for each in shown])
    return state.species[side][None], state.types[side], both


def _own_rows(state: State, side: int, members: _Members) -> Array:
    """Return i32[120]: twenty values for each of six."""
    set_, stats = state.team[side], state.base_stats[side]
    columns = [
        set_[:, :2],
        state.hp[side][:, None],
        stats[:, :1],
        members.status[:, None],
        members.fights[:, None],
        members.fainted[:, None],
        stats[:, 1:],
        set_[:, 2:6],
        state.pp[side],
    ]
    table = jnp.concatenate([column.astype(jnp.int32) for column in columns], 1)
    table = jnp.where((members.level > 0)[:, None], table, 0)
    return table.reshape(120, *table.shape[2:])


def _foe_rows(state: State, side: int, members: _Members, theirs: Looks) -> Array:
    """Return i32[60]: ten values for each place of arrival; zeros in a free one."""
    columns = [
        state.team[side, :, :2],
        theirs.hundredths[:, None],
        members.status[:, None],
        members.fights[:, None],
        members.fainted[:, None],
        theirs.revealed,
    ]
    table = jnp.concatenate([column.astype(jnp.int32) for column in columns], 1)
    seen = state.seen[side].astype(jnp.int32)[None, :, None]
    place = jnp.arange(1, 7).reshape(6, *[1] * (table.ndim))
    rows = jnp.where(seen == place, table[None], 0).sum(1)
    return rows.reshape(60, *rows.shape[2:])


def _slot(number: Array, pp: Array, against: list[Array], usable: Array) -> list[Array]:
    move = Move(number)
    by = [effectiveness(move.type, kind) for kind in against]
    total = jnp.where((by[0] == -2) | (by[1] == -2), -3, by[0] + by[1])
    return [number, pp, move.type, move.power, look_up(_ACCURACY, number), total, usable]


def _sorted(values: Iterable[Array]) -> list[Array]:
    """Sort four values, lowest first."""
    found = list(values)
    for a, b in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        low, high = jnp.minimum(found[a], found[b]), jnp.maximum(found[a], found[b])
        found[a], found[b] = low, high
    return found
