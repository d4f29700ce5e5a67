"""Moving cards: decks, hands, discard piles, stacks in play (R21 to R25, R36).

Masks of cards are bool[20], of slots bool[4]. All functions change a side in place, and do nothing
where their masks are False.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.tcgjax import status
from twinstep.generated.tcgjax.names import Zone
from twinstep.generated.tcgjax.stage import stage
from twinstep.generated.tcgjax.state import Game, Side, slots
from twinstep.generated.tcgjax.threefry import Draws

Array = jax.Array


def at(slot: Array, when: Array | bool = True) -> Array:
    """Return bool[4]: the slot i32[], where `when`."""
    return (slots() == slot) & when


def chosen(values: Array, mask: Array) -> Array:
    """Return the one value i32[] that a mask of the same shape names; 0 if none."""
    return jnp.sum(jnp.where(mask, values, 0), dtype=jnp.int32)


def take(side: Side, card: Array, zone: Array | int, place: Array) -> None:
    """Move one card; the cards behind it in its list move up (R22)."""
    was_zone, was_place = chosen(side.zone, card), chosen(side.place, card)
    behind = jnp.any(card) & (side.zone == was_zone) & (side.place > was_place)
    side.place = jnp.where(card, place, side.place - behind.astype(jnp.int32))
    side.zone = jnp.where(card, zone, side.zone)
    side.shown = side.shown & ~card


def draw(game: Game, side: Side, count: Array) -> None:
    """Draw up to `count` i32[] cards, one at a time (R25)."""
    deck, hand = side.count(Zone.DECK), side.count(Zone.HAND)
    room = jnp.maximum(game.rules["hand"] - hand, 0)
    drawn = jnp.minimum(jnp.minimum(count, deck), room)
    in_deck = side.zone == Zone.DECK
    comes = in_deck & (side.place < drawn)
    moved = jnp.where(comes, hand, jnp.where(in_deck, -drawn, 0))
    side.place = side.place + moved
    side.zone = jnp.where(comes, Zone.HAND, side.zone)
    side.peeked = jnp.maximum(side.peeked - drawn, 0)  # R87


def pick_card(game: Game, side: Side, among: Array, when: Array) -> Array:
    """Pick one of these cards in the order of their places (R14); bool[20], none if none."""
    number = game.draws.pick(jnp.sum(among, dtype=jnp.int32), when)
    before = among[None, :] & (side.place[None, :] < side.place[:, None])
    rank = jnp.sum(before, axis=1, dtype=jnp.int32)
    return among & when & (rank == number)


def under(side: Side, cards: Array, when: Array) -> None:
    """Put these cards of one list, in its order, under the deck; it is not shuffled here."""
    moves = cards & when
    side.place = side.place + jnp.where(moves, side.count(Zone.DECK), 0)
    side.zone = jnp.where(moves, Zone.DECK, side.zone)
    side.shown = side.shown & ~moves


def shuffle(game: Game, mine: Array, others: Array) -> None:
    """Shuffle my deck where `mine`, else the other's where `others` (R15)."""
    me, foe = game.me, game.foe
    words = stage(mine | others, Draws.shuffle, game.draws, mine | others)
    zone = jnp.where(others, foe.zone, me.zone)
    place = jnp.where(others, foe.place, me.place)
    in_deck = zone == Zone.DECK
    new = jnp.where(in_deck, shuffled(words, place, in_deck), place)
    me.place = jnp.where(mine, new, me.place)
    foe.place = jnp.where(others, new, foe.place)
    me.peeked = jnp.where(mine, 0, me.peeked)  # R87
    foe.peeked = jnp.where(others, 0, foe.peeked)


def shuffled(words: Array, place: Array, among: Array) -> Array:
    """Return the new places i32[20] of the cards in bool[20] `among`, by words u32[20] (R15)."""
    numbers = jnp.arange(20, dtype=jnp.int32)
    mine = jnp.where(place[:, None] == numbers[None, :], words[None, :], jnp.uint32(0))
    word = jnp.sum(mine, axis=1, dtype=jnp.uint32)
    alike = (word[None, :] == word[:, None]) & (place[None, :] < place[:, None])
    before = among[None, :] & ((word[None, :] < word[:, None]) | alike)
    return jnp.sum(before, axis=1, dtype=jnp.int32)


def of_slots(side: Side, mask: Array) -> Array:
    """Return bool[20]: the cards in the stacks of these slots."""
    in_slot = side.zone[:, None] == slots()[None, :] + Zone.STACKS
    return jnp.any(in_slot & mask[None, :], axis=1)


def place_stack(side: Side, slot: Array, words: tuple[Array, Array], turn: Array) -> None:
    """Record a card that has come onto the slots bool[4], at most one, and is now on top there."""
    first, second = (jnp.where(slot, word, top) for word, top in zip(words, side.top, strict=True))
    side.top = (first, second)
    side.size = side.size + slot.astype(jnp.int32)
    side.entered = jnp.where(slot, turn, side.entered)  # R39
    side.used = side.used & ~slot  # R40
    status.clear(side, slot[0])  # R40


def vacate(side: Side, gone: Array) -> None:
    """Empty the slots bool[4], whose cards have left: their energy is discarded (R36)."""
    side.discarded = side.discarded + jnp.sum(
        jnp.where(gone[:, None], side.energy, 0), axis=0, dtype=jnp.int32
    )
    side.energy = jnp.where(gone[:, None], 0, side.energy)
    first, second = (jnp.where(gone, 0, word) for word in side.top)
    side.top = (first, second)
    for name in ("damage", "entered", "size"):
        setattr(side, name, jnp.where(gone, 0, getattr(side, name)))
    side.used = side.used & ~gone
    status.clear(side, gone[0])


def discard_slots(side: Side, gone: Array) -> None:
    """Discard the contents of the slots bool[4], by slot, each from the bottom up (R36)."""
    size = jnp.where(gone, side.size, 0)
    onto = side.count(Zone.DISCARD) + jnp.cumsum(size, dtype=jnp.int32) - size  # [4]
    here = (side.zone[:, None] == slots()[None, :] + Zone.STACKS) & gone[None, :]
    side.place = side.place + jnp.sum(jnp.where(here, onto[None, :], 0), axis=1, dtype=jnp.int32)
    side.zone = jnp.where(jnp.any(here, axis=1), Zone.DISCARD, side.zone)
    vacate(side, gone)


def swap(side: Side, slot: Array, when: Array) -> None:
    """Exchange the Active Spot and a slot of the Bench (R21, R48)."""
    when = when & (slot > 0)
    there, front = at(slot, when), at(jnp.int32(0), when)

    def turned(values: Array) -> Array:
        wide = (lambda m: m[:, None]) if values.ndim == 2 else (lambda m: m)
        coming = jnp.sum(jnp.where(wide(there), values, 0), axis=0, keepdims=True)
        coming = coming.astype(values.dtype)
        return jnp.where(wide(front), coming, jnp.where(wide(there), values[:1], values))

    for name in ("damage", "energy", "entered", "size"):
        setattr(side, name, turned(getattr(side, name)))
    side.used = turned(side.used.astype(jnp.int32)) == 1
    first, second = (turned(word) for word in side.top)
    side.top = (first, second)
    first, other = Zone.STACKS, slot + Zone.STACKS
    zone = jnp.where(side.zone == first, other, jnp.where(side.zone == other, first, side.zone))
    side.zone = jnp.where(when, zone, side.zone)
    status.clear(side, when)
