"""Both players' observations (R20, R37, R86 to R89)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from twinstep.contracts.tcgjax.layout import DECK, HAND, PEEKED, SLOTS, STACK
from twinstep.generated.tcgjax.names import Zone
from twinstep.generated.tcgjax.state import State

Array = jax.Array

#: Added to the number of a card that the other player knows.
_SHOWN = 1024
#: The number of visible places of each zone.
_COUNTS = {Zone.DECK: PEEKED, Zone.HAND: HAND, Zone.DISCARD: DECK} | {
    Zone.STACKS + slot: STACK for slot in range(SLOTS)
}
_PLACES = sum(_COUNTS.values())


def observe(state: State) -> Array:
    """Return the observations i16[2, 267] of both players."""
    laid = _laid(state)
    own, other = _sides(state, laid)
    head, tail = _head(state), _tail(state, laid[Zone.DECK])
    begun = state.turn > 0
    rows = [
        jnp.concatenate([head[p], own[p], jnp.where(begun, other[1 - p], 0), tail[p]])
        for p in (0, 1)
    ]
    return jnp.stack(rows).astype(jnp.int16)


def _numbers(*values: Array) -> Array:
    return jnp.stack([value.astype(jnp.int32) for value in values])


def _head(state: State) -> list[Array]:
    """Return the part that is not of a side, i32[12] for each player."""
    goes_on = state.winner == 0
    return [
        _numbers(
            state.turn,
            state.player == p,
            state.first == p,
            (state.asked == p) & goes_on,
            state.ask,
            state.left,
            state.attack,
            state.supporter,
            state.retreated,
            state.bonus,
            state.blaze,
            state.quick,
        )
        for p in (0, 1)
    ]


def _laid(state: State) -> dict[int, Array]:
    """Return the cards of every zone in their order, i32[2, places]; 0 past the end.

    A card that the other player knows has _SHOWN added to its number.
    """
    number = state.cards.astype(jnp.int32) + state.shown.astype(jnp.int32) * _SHOWN
    place = state.place.astype(jnp.int32)
    index = jnp.full_like(place, _PLACES)
    begins: dict[int, int] = {}
    for zone, count in _COUNTS.items():
        begins[zone] = sum(_COUNTS[before] for before in begins)
        here = (state.zone == zone) & (place < count)
        index = jnp.where(here, begins[zone] + place, index)
    empty = jnp.zeros(_PLACES, jnp.int32)
    rows = [empty.at[index[side]].set(number[side], mode="drop") for side in (0, 1)]
    laid = jnp.stack(rows)
    return {zone: laid[:, first : first + _COUNTS[zone]] for zone, first in begins.items()}


def _sides(state: State, laid: dict[int, Array]) -> tuple[Array, Array]:
    """Return each side as its owner and as the other player see it, i32[2, 109] both."""

    def count(zone: int) -> Array:
        return jnp.sum(state.zone == zone, axis=1, dtype=jnp.int32)

    def holds(last: Array) -> Array:
        return ((last > 0) & (last >= state.turn)).astype(jnp.int32)

    def column(*values: Array) -> Array:
        return jnp.stack([value.astype(jnp.int32) for value in values], axis=1)

    first = column(
        state.points,
        count(Zone.DECK),
        count(Zone.HAND),
        count(Zone.DISCARD),
        state.current,
        state.next,
        holds(state.no_supporters),
    )
    hand = laid[Zone.HAND]
    known = jnp.where(hand >= _SHOWN, hand - _SHOWN, 0)  # R88
    rest = jnp.concatenate(
        [
            laid[Zone.DISCARD],
            state.discarded.astype(jnp.int32),
            column(
                state.condition,
                state.poisoned,
                state.burned,
                holds(state.no_attack),
                holds(state.no_retreat),
                state.weakened,
                state.guarded,
                holds(state.immune),
            ),
            _slots(state, laid),
        ],
        axis=1,
    )
    own = jnp.concatenate([first, hand % _SHOWN, rest], axis=1)
    return own, jnp.concatenate([first, known, rest], axis=1)


def _slots(state: State, laid: dict[int, Array]) -> Array:
    """Return i32[2, 56]: the contents of the slots."""
    stacks = [laid[Zone.STACKS + slot] for slot in range(SLOTS)]
    entered = (state.entered == state.turn) & (state.turn > 0)
    parts = [
        jnp.stack(stacks, axis=1) % _SHOWN,
        state.damage.astype(jnp.int32)[:, :, None],
        state.energy.astype(jnp.int32),
        entered.astype(jnp.int32)[:, :, None],
        state.used.astype(jnp.int32)[:, :, None],
    ]
    return jnp.concatenate(parts, axis=2).reshape(2, -1)


def _tail(state: State, deck: Array) -> Array:
    """Return the deck's known top, out of i32[2, 3], its list, types and the rules: i32[2, 37]."""
    numbers = jnp.arange(PEEKED, dtype=jnp.int8)[None, :]
    known = jnp.where(numbers < state.peeked[:, None], deck, 0)  # R87
    shifts = jnp.arange(8, dtype=jnp.int32)[None, :]
    types = state.types.astype(jnp.int32)[:, None] >> shifts & 1
    rules = jnp.broadcast_to(state.rules.astype(jnp.int32)[None, :], (2, state.rules.shape[0]))
    return jnp.concatenate([known, state.cards.astype(jnp.int32), types, rules], axis=1)
