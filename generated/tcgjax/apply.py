"""Effects other than damage: on Pokemon, energy, hands and decks (R90 to R138)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.generated.tcgjax import cards, deck, energy, legal
from twinstep.generated.tcgjax.attack import Strike
from twinstep.generated.tcgjax.cards import POKEMON
from twinstep.generated.tcgjax.effects import ASKS, PILES, SEARCHES, TARGETS
from twinstep.generated.tcgjax.moves import Move, first_free
from twinstep.generated.tcgjax.names import Ask, Zone
from twinstep.generated.tcgjax.stage import stage
from twinstep.generated.tcgjax.state import Game, Side, slots

Array = jax.Array

_TO_BENCH = 2


def felled(side: Side) -> Array:
    """Return bool[4]: the Pokemon about to be knocked out (R69)."""
    return side.there & (side.damage >= cards.hp(side.top))


def affect(game: Game, move: Move, hit: Strike, given: Array) -> tuple[Array, Array]:
    """Apply what follows the damage; i32[]: the choice it opens, an Ask or 0, and how often.

    given: i32[], the damage that the other's Active Pokemon took.
    """
    me, foe = game.me, game.foe
    immune = foe.immune >= game.turn
    # R69, R80: effects other than damage spare Pokemon about to be knocked out, or immune.
    me_open = hit.works & ~(hit.resolves & felled(me)[0])
    foe_open = hit.works & ~(hit.resolves & (felled(foe)[0] | immune))
    target = jnp.where(hit.resolves, 0, move.slot)
    _heal(me, hit, target, given, me_open)
    _change_energy(game, hit, target, me_open, foe_open)
    _afflict(game, hit, me_open, foe_open)
    asks = _asked(game, hit, me_open, foe_open)
    row = hit.row
    moves_cards = row.peek + row.reveal + row.discard_hand + row.pile + row.search
    moves_cards = moves_cards + row.draw + row.foe_draw
    stage(hit.works & (moves_cards > 0), _move_cards, game, hit, foe_open, rare=True)
    return asks


def _heal(me: Side, hit: Strike, target: Array, given: Array, me_open: Array) -> None:
    """Heal (R66, R90, R97, R106, R127)."""
    whom = (slots() == target) | (hit.row.each > 0)
    amount = jnp.where(hit.row.drain > 0, given, hit.row.heal)
    amount = jnp.where(whom & me_open, amount, 0)
    me.damage = jnp.maximum(me.damage - amount, 0)


def _change_energy(game: Game, hit: Strike, target: Array, me_open: Array, foe_open: Array) -> None:
    """Discard energy and attach it (R98, R102, R104, R109, R110, R132 to R134)."""
    me, foe, row = game.me, game.foe, hit.row
    gone = energy.named(me, row.discard, row.discards)
    energy.lose(me, jnp.where(me_open, gone, 0))
    energy.lose(foe, energy.picked(game, foe, foe_open & (row.discard_foe > 0)))
    onto = jnp.where(row.attach_to == TARGETS.index("active"), 0, target)
    attaches = me_open & (row.attach > 0) & (row.attach_to != TARGETS.index("choice"))
    count = jnp.where(row.per_heads > 0, hit.heads, 1)
    energy.attach(me, deck.at(onto, attaches), row.attach, count)
    gathers = hit.works & (row.pile == PILES.index("gather"))
    kind = energy.kinds()[None, :] == cards.LIGHTNING
    moved = jnp.where(kind & gathers, me.energy, 0)
    total = jnp.sum(moved, axis=0, keepdims=True, dtype=jnp.int32)
    me.energy = me.energy - moved + jnp.where(slots()[:, None] == 0, total, 0)


def _afflict(game: Game, hit: Strike, me_open: Array, foe_open: Array) -> None:
    """Set conditions, effects on a Pokemon or a player, and what holds for this turn."""
    me, foe, row = game.me, game.foe, hit.row
    foe.condition = jnp.where(foe_open & (row.condition > 0), row.condition, foe.condition)  # R70
    foe.poisoned = foe.poisoned | (foe_open & (row.poison > 0))
    until = game.turn + 1  # R77

    def last(side: Side, field: str, when: Array) -> None:
        setattr(side, field, jnp.where(when, until, getattr(side, field)))

    last(foe, "no_attack", foe_open & (row.no_attack > 0))
    last(foe, "no_retreat", foe_open & (row.no_retreat > 0))
    last(foe, "weakened_until", foe_open & (row.weaken > 0))
    last(me, "guarded_until", me_open & (row.guard > 0))
    last(me, "immune", me_open & (row.immune > 0))
    last(foe, "no_supporters", hit.works & (row.no_supporters > 0))  # R79
    foe.weakened = jnp.where(foe_open & (row.weaken > 0), row.weaken, foe.weakened)
    me.guarded = jnp.where(me_open & (row.guard > 0), row.guard, me.guarded)
    for name in ("quick", "bonus", "blaze"):
        added = jnp.where(hit.works, getattr(row, name), 0)
        setattr(game, name, getattr(game, name) + added)


def _move_cards(game: Game, hit: Strike, foe_open: Array) -> None:
    """Reveal, discard, shuffle, search and draw."""
    me, foe, row = game.me, game.foe, hit.row
    in_hand = foe.zone == Zone.HAND
    foe.shown = foe.shown | (in_hand & hit.works & (row.reveal > 0))  # R88, R92
    known = jnp.minimum(row.peek, me.count(Zone.DECK))
    me.peeked = jnp.where(hit.works, jnp.maximum(me.peeked, known), me.peeked)  # R93, R114
    dropped = deck.pick_card(game, foe, in_hand, hit.works & (row.discard_hand > 0))  # R136
    deck.take(foe, dropped, Zone.DISCARD, foe.count(Zone.DISCARD))

    active = slots() == 0
    returns = hit.works & (row.pile == PILES.index("hand-under"))  # R95
    leaves = foe_open & (row.pile == PILES.index("foe-under"))  # R138
    moved = jnp.where(leaves, deck.of_slots(foe, active), in_hand & returns)
    deck.under(foe, moved, returns | leaves)
    deck.vacate(foe, active & leaves)
    deck.shuffle(game, _search(game, hit), returns | leaves)
    deck.draw(game, me, jnp.where(hit.works, row.draw, 0))
    deck.draw(game, foe, jnp.where(hit.works, row.foe_draw, 0))
    _take_back(game, hit.works & (row.pile == PILES.index("take-back")))


def _search(game: Game, hit: Strike) -> Array:
    """Take a Pokemon out of the deck; bool[]: whether the deck is then shuffled (R94, R137)."""
    me, row = game.me, hit.row
    slot = first_free(me.size)
    to_bench = row.search_to == _TO_BENCH
    room = jnp.where(to_bench, slot < 4, me.count(Zone.HAND) < game.rules["hand"])
    when = hit.works & (row.search > 0) & room
    pokemon = cards.fact("kind", me.cards) == POKEMON
    wanted = jnp.zeros_like(pokemon)
    for name, fits in {
        "basic": cards.fact("stage", me.cards) == 0,
        "grass": cards.fact("type", me.cards) == cards.GRASS,
        "names": cards.fact("group", me.cards) == row.names,
    }.items():
        wanted = wanted | (fits & (row.search == SEARCHES.index(name)))
    card = deck.pick_card(game, me, wanted & pokemon & (me.zone == Zone.DECK), when)
    words = (deck.chosen(me.cards[0], card), deck.chosen(me.cards[1], card))
    zone = jnp.where(to_bench, Zone.STACKS + slot, Zone.HAND)
    place = jnp.where(to_bench, 0, me.count(Zone.HAND))
    deck.take(me, card, zone, place)
    deck.place_stack(me, deck.at(slot, jnp.any(card) & to_bench), words, game.turn)
    return when


def _take_back(game: Game, when: Array) -> None:
    """Return the own Active Pokemon's cards to the hand (R100)."""
    me = game.me
    active = slots() == 0
    cards_ = deck.of_slots(me, active) & when
    hand, discards = me.count(Zone.HAND), me.count(Zone.DISCARD)
    room = jnp.maximum(game.rules["hand"] - hand, 0)
    fits = me.place < room
    place = me.place + jnp.where(fits, hand, discards - room)
    me.place = jnp.where(cards_, place, me.place)
    zone = jnp.where(fits, Zone.HAND, Zone.DISCARD)
    me.zone = jnp.where(cards_, zone, me.zone)
    me.shown = me.shown | (cards_ & fits)  # R88
    deck.vacate(me, active & when)


def _asked(game: Game, hit: Strike, me_open: Array, foe_open: Array) -> tuple[Array, Array]:
    """Return i32[] the choice open after the effect, an Ask or 0, and i32[] how often."""
    me, foe, row = game.me, game.foe, hit.row
    pulls = foe.benched & (foe.fact("stage") == 0)
    when = {
        "switch": (Ask.SWITCH, me_open & jnp.any(me.benched)),
        "push": (Ask.PUSHED, foe_open & jnp.any(foe.benched)),
        "pull": (Ask.PULL, foe_open & jnp.any(pulls)),
        "snipe": (Ask.SNIPE, hit.works),
    }
    ask = jnp.int32(0)
    for name, (asked, holds) in when.items():
        ask = jnp.where(holds & (row.ask == ASKS.index(name)), int(asked), ask)
    count = jnp.where(row.per_heads > 0, hit.heads, 1)
    chooses = hit.works & (row.attach_to == TARGETS.index("choice")) & (count > 0)
    chooses = chooses & jnp.any(legal.attachable(me, row.attach))
    return jnp.where(chooses, Ask.ATTACH, ask), jnp.where(chooses, count, 0)
