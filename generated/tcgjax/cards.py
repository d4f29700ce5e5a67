"""The cards' facts as two words each, and their attacks' as two, gathered by number.

A step looks up both words of the forty cards once, and afterwards selects among them with masks.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contracts.tcgjax.cards import (
    ATTACKS,
    COLORLESS,
    DRAGON,
    ENERGY,
    KINDS,
    STAGES,
    Attack,
    Card,
    cards,
)
from twinstep.generated.tcgjax.effects import EFFECTS, GROUPS, NUMBERS
from twinstep.generated.tcgjax.stage import Record

Array = jax.Array

#: Types of Pokemon from 1; 0 is none. The first ones are those of energy (R37).
TYPES = ENERGY + DRAGON + COLORLESS
GRASS, WATER, LIGHTNING, PSYCHIC = (TYPES.index(letter) + 1 for letter in "GWLP")
POKEMON, FOSSIL, ITEM, SUPPORTER = range(len(KINDS))
#: Names that some card evolves from, numbered from 1.
_FORMER = sorted({card.evolves_from for card in cards()} - {""})
#: The facts of the first word and of the second: names and widths in bits, lowest first. usable:
#: bit n: attack n can be copied. code: of the ability or the trainer's effect. name: the name's
#: number if some card evolves from it. where: the place where the code's effect may be used.
_FIRST = (
    ("type", 4), ("weakness", 4), ("tens", 5), ("retreat", 3), ("points", 2), ("stage", 2),
    ("kind", 2), ("code", 7), ("usable", 2),
)  # fmt: skip
_SECOND = (("name", 7), ("evolves", 7), ("number", 9), ("group", 3), ("where", 4))
_PLACES = {
    name: (word, sum(width for _, width in layout[:index]), layout[index][1])
    for word, layout in enumerate((_FIRST, _SECOND))
    for index, (name, _) in enumerate(layout)
}


def _facts(card: Card) -> dict[str, int]:
    copies = [EFFECTS[a.effect]["copy"] if a.effect else 0 for a in card.attacks]
    return {
        "type": TYPES.index(card.type) + 1 if card.type else 0,
        "weakness": TYPES.index(card.weakness) + 1 if card.weakness else 0,
        "tens": card.hp // 10,
        "retreat": card.retreat,
        "points": card.points,
        "stage": STAGES.index(card.stage) if card.stage else 0,
        "kind": KINDS.index(card.kind),
        "code": NUMBERS[card.ability],
        "usable": sum(1 << n for n, copy in enumerate(copies) if not copy),
        "name": _FORMER.index(card.name) + 1 if card.name in _FORMER else 0,
        "evolves": _FORMER.index(card.evolves_from) + 1 if card.evolves_from else 0,
        "number": card.number,
        "group": next((n for n, names in enumerate(GROUPS, 1) if card.name in names), 0),
        "where": EFFECTS[card.ability]["where"] if card.ability else 0,
    }


def _words() -> np.ndarray:
    table = np.zeros((2, len(cards()) + 1), np.int32)
    for card in cards():
        for name, value in _facts(card).items():
            word, shift, width = _PLACES[name]
            assert 0 <= value < 1 << width, (card, name)
            table[word, card.number] |= value << shift
    return table


def _cost(attack: Attack) -> int:
    counts = sum(attack.cost.count(letter) << 3 * n for n, letter in enumerate(ENERGY))
    return counts | len(attack.cost) << 24 | 1 << 27


def _attacks() -> np.ndarray:
    table = np.zeros((2, (len(cards()) + 1) * ATTACKS), np.int32)
    for card in cards():
        for place, attack in enumerate(card.attacks):
            index = ATTACKS * card.number + place
            table[:, index] = _cost(attack), attack.damage | NUMBERS[attack.effect] << 9
    return table


_WORDS, _ATTACKS = _words(), _attacks()


def words(numbers: Array) -> tuple[Array, Array]:
    """Return both words i32[...] of cards i16[...] or i32[...]."""
    first, second = (jnp.asarray(row)[numbers.astype(jnp.int32)] for row in _WORDS)
    return first, second


def fact(name: str, words: tuple[Array, Array]) -> Array:
    """Return i32[...]: one fact from both words."""
    word, shift, width = _PLACES[name]
    return words[word] >> shift & (1 << width) - 1


def hp(words: tuple[Array, Array]) -> Array:
    """Return i32[...]: the HP; 0 of trainer cards and of no card."""
    return fact("tens", words) * 10


class Attacks(Record):
    """Attacks i32[...], 2 times the card's number plus the place: their costs and effects.

    cost: i32[..., 8]; length: of the cost; there: whether there is such an attack; damage, code.
    """

    def __init__(self, index: Array) -> None:
        cost, rest = (jnp.asarray(row)[index] for row in _ATTACKS)
        shifts = jnp.arange(0, 3 * len(ENERGY), 3, dtype=jnp.int32)
        self.cost = jnp.expand_dims(cost, -1) >> _like(shifts, cost.ndim) & 7
        self.length = cost >> 24 & 7
        self.there = cost >> 27 == 1
        self.damage = rest & 511
        self.code = rest >> 9

    def paid(self, energy: Array) -> Array:
        """Return bool[...]: whether energy i32[8] pays the cost (R52)."""
        typed = jnp.all(_like(energy, self.length.ndim) >= self.cost, axis=-1)
        return self.there & typed & (jnp.sum(energy) >= self.length)


def _like(row: Array, ndim: int) -> Array:
    return row.reshape((1,) * ndim + row.shape)
