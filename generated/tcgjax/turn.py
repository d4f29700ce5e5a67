"""The course of a step: an action, its consequences, knock-outs, the end of a turn, the next."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.cards import ENERGY
from twinstep.generated.tcgjax import deck, energy, moves, status
from twinstep.generated.tcgjax.apply import affect, felled
from twinstep.generated.tcgjax.attack import Strike, do_damage, strike
from twinstep.generated.tcgjax.effects import SNIPE
from twinstep.generated.tcgjax.energy import kinds
from twinstep.generated.tcgjax.names import ASKED, Ask, Then
from twinstep.generated.tcgjax.stage import stage
from twinstep.generated.tcgjax.state import Game
from twinstep.generated.tcgjax.threefry import Draws

Array = jax.Array

_TIE = 3


class Plan(NamedTuple):
    """The part of a step after the effect of an action.

    pushes, switches: bool[], the foe's, the own Active Pokemon changes places. slot: i32[], with
    which slot. look: bool[], check for knock-outs. scrapped: bool[4], fossils to discard.
    settles: bool[], the board is settled: no choice is open. then: i32[], a Then. next:
    bool[], the first turn begins.
    """

    pushes: Array
    switches: Array
    slot: Array
    look: Array
    scrapped: Array
    settles: Array
    then: Array
    next: Array


def play(game: Game, action: Array) -> None:
    """Play a legal action i32[] of a game that is not over."""
    move = moves.meant(action)
    always = game.winner == 0
    code, begins, retreat = stage(always, _act, game, move)
    plan = take_effect(game, move, code, begins, retreat)
    stage(always, _settle, game, plan)
    ends = plan.settles & ~game.open & (plan.then == Then.CHECKUP) & (game.winner == 0)
    stage(ends, _end_turn, game, ends)
    goes_on = plan.settles & ~game.open & (game.winner == 0) & (plan.then != Then.TURN)
    starts = goes_on | plan.next
    stage(starts, next_turn, game, starts)


def take_effect(
    game: Game, move: moves.Move, code: Array, begins: Array, retreat: moves.Retreat
) -> Plan:
    """Apply an attack, a trainer card or an ability, up to the choice that it may open.

    code: i32[], the effect other than an attack's, where bool[] `begins`.
    """
    always = game.winner == 0
    hit = stage(always, strike, game, move, code, begins)
    given = stage(hit.resolves, do_damage, game, move, hit, rare=True)
    asks, count = stage(hit.resolves | hit.begins, affect, game, move, hit, given)
    return stage(always, _plan, game, move, hit, retreat, asks, count)


def ask(
    game: Game, when: Array, what: Array | int, foe: Array | bool = False, **more: Array | int
) -> None:
    """Open this choice where `when`; more: values of left, arg, attack, then."""
    game.ask = jnp.where(when, what, game.ask)
    game.asks_foe = jnp.where(when, foe, game.asks_foe)
    for name, value in more.items():
        setattr(game, name, jnp.where(when, value, getattr(game, name)))
    game.open = game.open | when


def _act(game: Game, move: moves.Move) -> tuple[Array, Array, moves.Retreat]:
    """Play the action's part before any effect.

    Returns the code i32[] of a trainer's effect or an ability, bool[] whether one begins, and the
    outcome of a retreat.
    """
    me = game.me
    code, trainer = moves.play_card(game, move)
    moves.attach(game, move)
    retreat = moves.retreat(game, move)
    user = deck.at(move.slot, move.uses)
    me.used = me.used | user  # R76
    code = jnp.where(move.uses, deck.chosen(me.fact("code"), user), code)
    return code, trainer | move.uses, retreat


def _plan(
    game: Game, move: moves.Move, hit: Strike, retreat: moves.Retreat, asks: Array, count: Array
) -> Plan:
    """Apply choices that begin no attack; find the consequences and the next choice."""
    foe = game.foe
    chose = {asked: game.ask == asked for asked in ASKED}
    energy.attach(game.me, deck.at(move.option, chose[Ask.ATTACH]), hit.row.attach, jnp.int32(1))
    sniped = deck.at(move.option - 4, chose[Ask.SNIPE])
    foe.damage = foe.damage + jnp.where(sniped, SNIPE, 0)  # R108

    promotes, by_foe = chose[Ask.PROMOTE], game.asks_foe
    placed_all = chose[Ask.BENCH] & move.ends
    other_places = placed_all & game.first
    again = chose[Ask.ATTACH] & (game.left > 1)
    finished = chose[Ask.SWITCH] | chose[Ask.PUSHED] | (chose[Ask.ATTACH] & ~again)
    over = hit.fails | (hit.resolves & (asks == 0)) | (finished & (game.attack > 0))  # R58
    then = jnp.where(over | (move.ends & chose[Ask.TURN]), Then.CHECKUP, Then.TURN)
    then = jnp.where(promotes, game.then, then)
    left, attack = game.left, game.attack

    for name in ("ask", "left", "arg", "attack", "then"):
        setattr(game, name, jnp.int32(0))
    game.asks_foe = jnp.bool_(False)
    ask(game, chose[Ask.ACTIVE] | (chose[Ask.BENCH] & ~move.ends), Ask.BENCH)
    ask(game, other_places, Ask.ACTIVE, True)
    ask(game, retreat.left > 0, Ask.PAY, left=retreat.left, arg=retreat.slot)
    ask(game, again, Ask.ATTACH, left=left - 1, attack=attack)
    ask(game, hit.copies, Ask.COPY, attack=hit.number)
    ask(game, hit.aims, Ask.DAMAGE, attack=hit.number)
    ask(game, asks > 0, asks, asks == Ask.PUSHED, left=count, attack=hit.number)
    game.passes = other_places
    return Plan(
        pushes=chose[Ask.PUSHED] | chose[Ask.PULL] | (promotes & by_foe),
        switches=retreat.goes | chose[Ask.SWITCH] | (promotes & ~by_foe),
        slot=jnp.where(retreat.goes, retreat.slot, move.option % 4),
        look=over | chose[Ask.SNIPE],
        scrapped=deck.at(move.slot, move.scraps),
        settles=~game.open & ~placed_all,
        then=then,
        next=placed_all & ~other_places,
    )


def _settle(game: Game, plan: Plan) -> None:
    """Exchange Active Pokemon and check for knock-outs (R58, R81 to R83)."""
    deck.swap(game.me, plan.slot, plan.switches)
    deck.swap(game.foe, plan.slot, plan.pushes)
    knock_out(game, plan.look, plan.scrapped)
    promote(game, plan.settles, plan.then)


def knock_out(game: Game, look: Array, scrapped: Array | None = None) -> None:
    """Knock out every Pokemon that is due, where `look`, and judge who has won (R81, R82).

    scrapped: bool[4], the own fossils discarded without a point (R35).
    """
    sides = (game.me, game.foe)
    for side, other in (sides, sides[::-1]):
        gone = felled(side) & look
        points = jnp.sum(jnp.where(gone, side.fact("points"), 0), dtype=jnp.int32)
        other.points = other.points + points
        also = scrapped if scrapped is not None and side is game.me else False
        deck.discard_slots(side, gone | also)
    wins = [
        look & ((side.points >= game.rules["points"]) | ~jnp.any(other.there))
        for side, other in (sides, sides[::-1])
    ]
    first, second = (win.astype(jnp.int32) for win in wins)
    game.winner = game.winner + first + 2 * second


def promote(game: Game, when: Array, then: Array | int) -> None:
    """Ask a player without an Active Pokemon for one, the foe first (R83)."""
    me, foe = game.me.lacks_active, game.foe.lacks_active
    ask(game, when & (game.winner == 0) & (me | foe), Ask.PROMOTE, foe, then=then)


def _end_turn(game: Game, ends: Array) -> None:
    """End the turn where `ends` (R72 to R75, R84)."""
    status.expire(game, ends)
    status.checkup(game, ends)
    knock_out(game, ends)
    close(game, ends)
    promote(game, ends, Then.NEXT)


def close(game: Game, when: Array) -> None:
    """Where `when` a turn is over, end the game in a tie if that was the last (R84)."""
    late = when & (game.winner == 0) & (game.turn >= game.rules["turns"])
    game.winner = jnp.where(late, _TIE, game.winner)


def next_turn(game: Game, when: Array) -> None:
    """Begin the other player's turn where `when` (R27 to R29)."""
    foe = game.foe
    game.turn = game.turn + when.astype(jnp.int32)
    deck.draw(game, foe, when.astype(jnp.int32))
    charges = when & (game.turn > 1)
    foe.current = jnp.where(charges, foe.next, foe.current)
    kind = pick_energy(game.draws, foe.types, charges)
    foe.next = jnp.where(charges, kind, foe.next)
    game.asks_foe = game.asks_foe | when
    game.passes = game.passes | when


def pick_energy(draws: Draws, types: Array, when: Array) -> Array:
    """Pick the number i32[] of a type of energy among a deck's types, as bits i32[] (R37)."""
    has = types >> jnp.arange(len(ENERGY), dtype=jnp.int32) & 1
    number = draws.pick(jnp.sum(has, dtype=jnp.int32), when)
    rank = jnp.cumsum(has, dtype=jnp.int32) - has
    return deck.chosen(kinds(), (has == 1) & (rank == number))
