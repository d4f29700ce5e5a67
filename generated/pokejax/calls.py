"""Choosing, paying and calling: from the selected move to the executed one."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.generated.pokejax.battle import Battle
from twinstep.generated.pokejax.lcg import Draws
from twinstep.generated.pokejax.state import Fighter, pick, put
from twinstep.generated.pokejax.tables import CALLED, Move, look_up, number

Array = jax.Array

METRONOME, MIRROR_MOVE = number("metronome"), number("mirrormove")


def pay(me: Fighter, amount: Array | int, when: Array) -> None:
    """Take PP from the slot selected last; below 0 it wraps to 63 (`deductPP`).

    A slot filled by Mimic shares its PP with the team's record, one filled by Transform does not.
    """
    pp = (pick(me.move_pp, me.selected_slot) - amount) & 63
    when = when & (pick(me.moves, me.selected_slot) != 0)
    me.move_pp = put(me.move_pp, me.selected_slot, pp, when)
    apart = pick(me.virtual, me.selected_slot) & me.transformed
    me.pp = put(me.pp, me.selected_slot, pp, when & ~apart)


def enter(me: Fighter, move: Move, called: Array, when: Array) -> None:
    """Record the use of a move. A called move of two turns refunds the caller's PP (gen 1)."""
    back = when & called
    pay(me, -1, back & move.two_turns)
    own = pick(me.own_moves, me.selected_slot) != 0
    record = (pick(me.pp, me.selected_slot) + 1) & 63
    me.pp = put(me.pp, me.selected_slot, record, back & me.transformed & own)
    used = when & (~move.two_turns | (me.charging > 0))
    me.last_move = jnp.where(used, move.number, me.last_move)


class _Chain(NamedTuple):
    move: Array
    called: Array
    draws: Draws
    last_damage: Array
    selected_move: Array
    last_move: Array
    move_pp: list[Array]
    pp: list[Array]


def called_move(
    battle: Battle, me: Fighter, foe: Fighter, move: Array, when: Array
) -> tuple[Array, Array]:
    """Follow Metronome and Mirror Move to the move that they call.

    Returns its number and whether it was called. A Mirror Move that finds nothing stays itself.
    """

    def calls(chain: _Chain) -> Array:
        mirrors = (foe.last_move != 0) & (foe.last_move != MIRROR_MOVE)
        found = (chain.move == METRONOME) | ((chain.move == MIRROR_MOVE) & mirrors)
        return when & found

    def follow(chain: _Chain) -> _Chain:
        does = calls(chain)
        _give(me, chain)
        enter(me, Move(chain.move), chain.called, does)
        drawn = does & (chain.move == METRONOME)
        place = chain.draws.below(len(CALLED), drawn)
        place = jnp.where(drawn, place, 0)
        found = jnp.where(drawn, look_up(CALLED, place), foe.last_move)
        return _Chain(
            jnp.where(does, found, chain.move),
            chain.called | does,
            chain.draws,
            jnp.where(does, 0, chain.last_damage),
            jnp.where(does, found, me.selected_move),
            me.last_move,
            me.move_pp,
            me.pp,
        )

    begin = _Chain(
        move,
        jnp.zeros_like(when),
        battle.draws,
        battle.last_damage,
        me.selected_move,
        me.last_move,
        me.move_pp,
        me.pp,
    )
    chain = lax.while_loop(lambda c: calls(c).any(), follow, begin)
    battle.draws, battle.last_damage = chain.draws, chain.last_damage
    _give(me, chain)
    return chain.move, chain.called


def _give(me: Fighter, chain: _Chain) -> None:
    me.selected_move, me.last_move = chain.selected_move, chain.last_move
    me.move_pp, me.pp = chain.move_pp, chain.pp
