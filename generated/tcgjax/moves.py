"""The meaning of an action, and its part before any effect: cards played, energy, retreats."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax import layout
from twinstep.generated.tcgjax import cards, deck, energy
from twinstep.generated.tcgjax.cards import FOSSIL, SUPPORTER
from twinstep.generated.tcgjax.names import Ask, Zone
from twinstep.generated.tcgjax.state import Game, slots

Array = jax.Array


class Move(NamedTuple):
    """A legal action: its kind, bool[] each, and its place, i32[].

    slot: the slot played on, attached to, retreated for, used or discarded. option: the choice.
    """

    ends: Array
    plays: Array
    attaches: Array
    retreats: Array
    uses: Array
    attacks: Array
    scraps: Array
    hand: Array
    slot: Array
    attack: Array
    option: Array


class Retreat(NamedTuple):
    """The outcome of a retreat.

    goes: bool[], the Active Pokemon goes now. slot: i32[], its replacement's slot, now or when all
    is paid. left: i32[], the number of energies still to choose.
    """

    goes: Array
    slot: Array
    left: Array


def meant(action: Array) -> Move:
    """Return the meaning of the action i32[]."""

    def within(first: int, count: int) -> Array:
        return (action >= first) & (action < first + count)

    plays = within(layout.PLAY, layout.HAND * 5)
    card = action - layout.PLAY
    slot = card % 5 - 1
    ranges = {
        "attaches": (layout.ATTACH, 4, 0),
        "retreats": (layout.RETREAT, 3, 1),
        "uses": (layout.ABILITY, 4, 0),
        "scraps": (layout.SCRAP, 4, 0),
    }
    kinds: dict[str, Array] = {}
    for name, (first, count, offset) in ranges.items():
        kinds[name] = within(first, count)
        slot = jnp.where(kinds[name], action - first + offset, slot)
    return Move(
        ends=action == layout.END,
        plays=plays,
        attacks=within(layout.ATTACK, 3),
        hand=card // 5,
        slot=slot,
        attack=action - layout.ATTACK,
        option=action - layout.CHOOSE,
        **kinds,
    )


def play_card(game: Game, move: Move) -> tuple[Array, Array]:
    """Play a card of the hand: i32[] the code of a trainer's effect, bool[] whether it is one."""
    me = game.me
    card = (me.zone == Zone.HAND) & (me.place == move.hand) & move.plays
    words = (deck.chosen(me.cards[0], card), deck.chosen(me.cards[1], card))
    kind, stage = cards.fact("kind", words), cards.fact("stage", words)
    trainer = move.plays & (kind > FOSSIL)
    slot = jnp.where(game.ask == Ask.ACTIVE, 0, first_free(me.size))
    slot = jnp.where(stage > 0, move.slot, slot)
    onto = deck.at(slot, move.plays & ~trainer)
    zone = jnp.where(trainer, Zone.DISCARD, Zone.STACKS + slot)
    place = jnp.where(trainer, me.count(Zone.DISCARD), deck.chosen(me.size, onto))
    deck.take(me, card, zone, place)  # R42
    deck.place_stack(me, onto, words, game.turn)
    game.supporter = game.supporter | (trainer & (kind == SUPPORTER))
    return cards.fact("code", words), trainer


def first_free(size: Array) -> Array:
    """Return i32[]: the free slot of the Bench with the lowest number (R21); 4 if there is none."""
    free = jnp.where((size == 0) & (slots() > 0), slots(), 4)
    return jnp.min(free)


def attach(game: Game, move: Move) -> None:
    """Attach the turn's energy (R30)."""
    me = game.me
    energy.attach(me, deck.at(move.slot, move.attaches), me.current, jnp.int32(1))
    me.current = jnp.where(move.attaches, 0, me.current)


def retreat(game: Game, move: Move) -> Retreat:
    """Begin a retreat or continue to pay it (R45 to R47)."""
    me = game.me
    pays = game.ask == Ask.PAY
    one = (energy.kinds() == move.option + 1) & pays
    energy.lose(me, one.astype(jnp.int32))
    cost = jnp.where(pays, game.left - 1, energy.retreat_cost(game))
    left = energy.pay(game, cost, (move.retreats | pays) & (cost > 0))
    slot = jnp.where(pays, game.arg, move.slot)
    game.retreated = game.retreated | move.retreats
    return Retreat((move.retreats | pays) & (left == 0), slot, left)
