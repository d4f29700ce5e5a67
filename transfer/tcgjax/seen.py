"""Observations of a card game, read by the names of their values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinstep.contracts.tcgjax.cards import ATTACKS, ENERGY
from twinstep.contracts.tcgjax.layout import OBSERVATION, STACK
from twinstep.frames import Array
from twinstep.transfer.tcgjax import facts

_PLACE = {name: place for place, name in enumerate(OBSERVATION)}
_SLOTS = ("active", "bench1", "bench2", "bench3")


class Seen:
    """Observations [..., 267]; the values are i32. xp: the module of the arrays."""

    def __init__(self, obs: Array, xp: Any) -> None:
        self.obs, self.xp = obs, xp

    def one(self, name: str) -> Array:
        """Return one value, [...]."""
        return self.obs[..., _PLACE[name]].astype(np.int32)

    def many(self, *names: str) -> Array:
        """Return several values, [..., K]."""
        return self.obs[..., np.array([_PLACE[name] for name in names])].astype(np.int32)

    def slots(self, who: str, what: str) -> Array:
        """Return a value of each slot of `my` or `other`, [..., 4]."""
        return self.many(*(f"{who} {slot} {what}" for slot in _SLOTS))

    def energy(self, who: str) -> Array:
        """Return the energies of each slot, [..., 4, 8]."""
        rows = [self.many(*(f"{who} {slot} energy {e}" for e in ENERGY)) for slot in _SLOTS]
        return self.xp.stack(rows, -2)

    def stacks(self, who: str) -> Array:
        """Return the cards of each slot from the bottom, 0 past the top, [..., 4, 3]."""
        rows = [self.slots(who, f"card {n + 1}") for n in range(STACK)]
        return self.xp.stack(rows, -1)

    def table(self, values: np.ndarray, index: Array) -> Array:
        """Return the values at an index inside the array."""
        return self.xp.asarray(values)[index]


def row(values: Any, ndim: int) -> np.ndarray:
    """Return a row [K] of whole numbers as [1, ..., K], i32."""
    return np.asarray(values, np.int32).reshape((1,) * (ndim - 1) + (-1,))


class Team(NamedTuple):
    """The contents of one player's slots, i32[..., 4] except energy.

    card: the top card, 0 in an empty slot. left: HP minus damage. energy: i32[..., 4, 8].
    """

    card: Array
    there: Array
    left: Array
    energy: Array


def team(seen: Seen, who: str) -> Team:
    """Return the team of `my` or `other`."""
    stacks = seen.stacks(who)
    card = stacks[..., 0]
    for n in range(1, STACK):
        card = seen.xp.where(stacks[..., n] > 0, stacks[..., n], card)
    left = seen.table(facts.HP, card) - seen.slots(who, "damage")
    return Team(card, card > 0, left, seen.energy(who))


def lacks(seen: Seen, card: Array, energy: Array) -> Array:
    """Return i32[..., 4, 2]: the energies that each attack of top cards still lacks (R52)."""
    xp = seen.xp
    index = ATTACKS * card[..., None] + row(range(ATTACKS), card.ndim + 1)
    typed = xp.maximum(seen.table(facts.COST, index) - energy[..., None, :], 0).sum(
        -1, dtype=np.int32
    )
    count = energy.sum(-1, dtype=np.int32)[..., None]
    return xp.maximum(typed, seen.table(facts.LENGTH, index) - count)


def usual(seen: Seen, card: Array, target: Array) -> Array:
    """Return i32[..., K, 2]: the average effect of cards' attacks [..., K] on a card [...]."""
    xp = seen.xp
    index = ATTACKS * card[..., None] + row(range(ATTACKS), card.ndim + 1)
    does = seen.table(facts.USUAL, index)
    weak = seen.table(facts.WEAKNESS, target)[..., None] == seen.table(facts.TYPE, card)
    more = xp.where(weak & (card > 0), seen.one("rule weakness")[..., None], 0)
    return xp.where(does > 0, does + more[..., None], 0)


def ready(seen: Seen, own: Team, target: Array, energy: int = 0) -> Array:
    """Return i32[..., 4]: each slot's largest damage to a card with so much more energy."""
    paid = lacks(seen, own.card, own.energy) <= energy
    return seen.xp.where(paid, usual(seen, own.card, target), 0).max(-1)
