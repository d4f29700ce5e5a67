"""A game consistent with an observation: hidden information is made up.

It depends on the observation and on a seed, and on nothing else. The observing player is its player
0. Everything that no player can know is drawn: the order of the own deck, the other's deck and the
hidden part of the hand, future draws. Hidden cards of the other player are copies of those that it
has shown, or of one's own if it has shown none.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contracts.tcgjax.cards import ENERGY
from twinstep.contracts.tcgjax.layout import DECK, HAND, PEEKED, RULES, SLOTS, STACK, STATE, Zone
from twinstep.generated.tcgjax import State
from twinstep.generated.tcgjax.threefry import block
from twinstep.transfer.tcgjax.seen import Seen

Array = jax.Array

_ME, _FOE = ("my", "other")
#: Kinds of this file's draws, apart from the game's, which continue from 0 under the same seed.
_ORDER, _CARDS = 1 << 20, 1 << 21


def imagined(obs: Array, seed: Array) -> State:
    """Return a game consistent with an observation i16[267]; seed: u32[2].

    For a player who acts after both have placed their Pokemon. Two values that an observation
    lacks are 0: the retreat being paid, and the continuation after a promotion.
    """
    seen = Seen(obs, jnp)
    sides = [_side(seen, who, _deck(seen, who, seed)) for who in (_ME, _FOE)]
    both = {name: jnp.stack([side[name] for side in sides]) for name in sides[0]}
    listed = ("turn", "ask", "left", "attack", "supporter", "retreated", "bonus", "blaze", "quick")
    fields = both | {name: seen.one(name) for name in listed}
    fields |= {
        "rules": seen.many(*(f"rule {name}" for name in RULES)),
        "seed": seed,
        "first": 1 - seen.one("I went first"),
        "player": 1 - seen.one("my turn"),
    }
    typed = {}
    for field in STATE:
        value = fields.get(field.name, jnp.zeros(field.shape, jnp.int32))
        typed[field.name] = value.astype(field.dtype)
    return State(**typed)


def _words(seed: Array, kind: int, count: int) -> Array:
    """Return pseudo-random u32[count]; kinds never meet."""
    numbers = jnp.arange(count, dtype=jnp.uint32)
    return block((seed[0], seed[1]), (numbers, jnp.full(count, kind, jnp.uint32)))[0]


def _deck(seen: Seen, who: str, seed: Array) -> tuple[Array, Array]:
    """Return i32[10] the hand and i32[20] the deck from the top, 0 past the end."""
    hand = seen.many(*(f"{who} hand {n}" for n in range(HAND)))
    count = seen.one(f"{who} deck")
    places = jnp.arange(DECK, dtype=jnp.int32)
    shown = jnp.concatenate([_discards(seen, who), seen.stacks(who).reshape(-1), hand])
    if who == _FOE:
        known = jnp.concatenate([shown, _list(seen)])
        # One's own are taken only where nothing of the other is known.
        among = (known > 0) & ((jnp.arange(len(known)) < len(shown)) | ~(shown > 0).any())
        cards = _any_of(known, among, _words(seed, _CARDS, HAND + DECK))
        guess = jnp.arange(HAND, dtype=jnp.int32) < seen.one(f"{who} hand")
        hand = jnp.where(guess & (hand == 0), cards[:HAND], hand)
        return hand, jnp.where(places < count, cards[HAND:], 0)
    top = seen.many(*(f"top {n}" for n in range(PEEKED)))
    peeked = (top > 0).sum(dtype=jnp.int32)
    shown = jnp.concatenate([shown, top])
    listed = _list(seen)
    alike = listed[:, None] == listed[None, :]
    rank = (alike & (places[None, :] < places[:, None])).sum(1, dtype=jnp.int32)
    seen_of = (listed[:, None] == shown[None, :]).sum(1, dtype=jnp.int32)
    words = jnp.where(rank >= seen_of, _words(seed, _ORDER, DECK) >> 1, jnp.uint32(2**32 - 1))
    rest = listed[jnp.argsort(words)]
    below = rest[jnp.clip(places - peeked, 0, DECK - 1)]
    deck = jnp.where(places < peeked, jnp.pad(top, (0, DECK - PEEKED)), below)
    return hand, jnp.where(places < count, deck, 0)


def _any_of(cards: Array, among: Array, words: Array) -> Array:
    """Return i32[K]: for each word one of the cards [J] that are among bool[J]."""
    count = among.sum(dtype=jnp.uint32)
    number = ((words >> 16) % jnp.maximum(count, jnp.uint32(1))).astype(jnp.int32)
    rank = jnp.cumsum(among, dtype=jnp.int32) - 1
    chosen = among[None, :] & (rank[None, :] == number[:, None])
    return jnp.where(chosen, cards[None, :], 0).sum(1, dtype=jnp.int32)


def _list(seen: Seen) -> Array:
    return seen.many(*(f"list {n}" for n in range(DECK)))


def _discards(seen: Seen, who: str) -> Array:
    return seen.many(*(f"{who} discard {n}" for n in range(DECK)))


#: The places of a side's cards, in the order in which `_side` lists them.
_ZONES = np.repeat(
    [Zone.HAND, Zone.DECK, Zone.DISCARD, *(Zone.STACKS + slot for slot in range(SLOTS))],
    [HAND, DECK, DECK, *[STACK] * SLOTS],
).astype(np.int32)
_PLACES = np.concatenate([range(n) for n in (HAND, DECK, DECK, *[STACK] * SLOTS)]).astype(np.int32)


def _side(seen: Seen, who: str, held: tuple[Array, Array]) -> dict[str, Array]:
    """Return one side's fields, without the axis of players."""
    hand, deck = held
    laid = jnp.concatenate([hand, deck, _discards(seen, who), seen.stacks(who).reshape(-1)])
    there = laid > 0
    rank = jnp.where(there, jnp.cumsum(there, dtype=jnp.int32) - 1, DECK)
    listed = {
        name: jnp.zeros(DECK, jnp.int32).at[rank].set(jnp.asarray(values), mode="drop")
        for name, values in (("cards", laid), ("zone", _ZONES), ("place", _PLACES))
    }
    turn = seen.one("turn")
    # "in its turn": this one, or the next one.
    own = turn + (seen.one("my turn") == int(who == _FOE)).astype(jnp.int32)
    others = 2 * turn + 1 - own
    last = {
        name: jnp.where(seen.one(f"{who} {name.replace('_', ' ')}") > 0, until, 0)
        for name, until in (
            ("no_attack", own),
            ("no_retreat", own),
            ("no_supporters", own),
            ("immune", others),
        )
    }
    amounts = {name: seen.one(f"{who} {name}") for name in ("weakened", "guarded")}
    until = {"weakened_until": own, "guarded_until": others}
    until = {name: jnp.where(amounts[name[:-6]] > 0, v, 0) for name, v in until.items()}
    energy = seen.energy(who)
    discarded = seen.many(*(f"{who} discarded energy {e}" for e in ENERGY))
    current, following = seen.one(f"{who} current"), seen.one(f"{who} next")
    same = ("points", "condition", "poisoned", "burned")
    return {
        **listed,
        **last,
        **amounts,
        **until,
        **{name: seen.one(f"{who} {name}") for name in same},
        "types": _types(seen, who, energy, current, following),
        "shown": _shown(seen, who, rank),
        "peeked": _peeked(seen, who),
        "damage": seen.slots(who, "damage"),
        "energy": energy,
        "entered": seen.slots(who, "entered") * turn,
        "used": seen.slots(who, "used"),
        "current": current,
        "next": following,
        "discarded": discarded,
    }


def _peeked(seen: Seen, who: str) -> Array:
    top = seen.many(*(f"top {n}" for n in range(PEEKED)))
    return (top > 0).sum(dtype=jnp.int32) * int(who == _ME)


def _shown(seen: Seen, who: str, rank: Array) -> Array:
    """Return i32[20]: 1 for the visible cards of the other's hand."""
    hand = seen.many(*(f"{who} hand {n}" for n in range(HAND)))
    flags = ((hand > 0) & (who == _FOE)).astype(jnp.int32)
    return jnp.zeros(DECK, jnp.int32).at[rank[:HAND]].set(flags, mode="drop")


def _types(seen: Seen, who: str, energy: Array, current: Array, following: Array) -> Array:
    """Return i32[]: the deck's types as bits; of the other one those seen so far."""
    bits = jnp.int32(1) << jnp.arange(len(ENERGY), dtype=jnp.int32)
    if who == _ME:
        return (seen.many(*(f"type {e}" for e in ENERGY)) * bits).sum(dtype=jnp.int32)
    kinds = jnp.arange(1, len(ENERGY) + 1, dtype=jnp.int32)
    has = (energy.sum(0, dtype=jnp.int32) > 0) | (kinds == current) | (kinds == following)
    return jnp.maximum((has.astype(jnp.int32) * bits).sum(dtype=jnp.int32), 1)
