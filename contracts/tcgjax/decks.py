"""Decks: read from a text file, checked against the rulings, or drawn from a seed.

A deck file has one line `energy: Grass, Water` and a line `2 A1 001` for each card, with its number
of copies and its printed id. Text after the id, and lines that begin with #, are comments.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twinstep.contracts import drawn
from twinstep.contracts.tcgjax.cards import COLORLESS, ENERGY, Card, cards, number_of
from twinstep.contracts.tcgjax.layout import DECK
from twinstep.errors import UserError

#: Names of the types of energy, in the order of ENERGY.
TYPES = ("Grass", "Fire", "Water", "Lightning", "Psychic", "Fighting", "Darkness", "Metal")
MOST_ALIKE, MOST_TYPES = 2, 3
#: Attempts of a drawn deck to find one more Pokemon: a small set has too few of some types.
_TRIES = 40
_LINE = re.compile(r"(\d+)\s+([A-Za-z][\w-]*)\s+(\d+)\b")
#: Trainers that help a deck of any types, by their codes.
_USEFUL = (
    "poke-ball", "professors-research", "potion", "x-speed", "giovanni", "sabrina", "red-card",
    "hand-scope", "pokedex",
)  # fmt: skip
#: Trainers that name Pokemon -> the names, and the energy that these need.
PARTNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "blaine": (("Ninetales", "Rapidash", "Magmar"), "R"),
    "koga": (("Muk", "Weezing"), "D"),
    "brock": (("Golem", "Onix"), "F"),
    "lt-surge": (("Raichu", "Electrode", "Electabuzz"), "L"),
    "bench-nidoking-plus-50": (("Nidoking",), "D"),
    "call-nidoran": (("Nidoran♂",), "D"),
}
#: Trainers that are useful with Pokemon of one type.
_OF_TYPE = {"erika": "G", "misty": "W"}


@dataclass(frozen=True)
class Deck:
    """cards: 20 numbers of cards, in the list's order. types: indices into ENERGY, ascending."""

    cards: tuple[int, ...]
    types: tuple[int, ...]

    def mask(self) -> int:
        """Return the types as bits."""
        return sum(1 << kind for kind in self.types)


def checked(deck: Deck, where: str) -> Deck:
    """Return a legal deck; UserError with the ruling and the fix otherwise."""
    listed = [cards()[number - 1] for number in deck.cards]
    if len(listed) != DECK:
        raise UserError(f"{where} has {len(listed)} cards: a deck has {DECK} (R7)")
    name, count = Counter(card.name for card in listed).most_common(1)[0]
    if count > MOST_ALIKE:
        raise UserError(f"{where} has {count} cards named {name}: at most {MOST_ALIKE} (R8)")
    if not any(card.basic for card in listed):
        raise UserError(f"{where} has no Basic Pokemon: it needs one to begin with (R9)")
    if not 1 <= len(deck.types) <= MOST_TYPES:
        raise UserError(f"{where} names {len(deck.types)} types of energy: 1 to {MOST_TYPES} (R10)")
    return deck


def read(path: Path) -> Deck:
    """Return the deck of a file; UserError with the line, or the ruling it breaks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the deck {path} cannot be read: {error}") from None
    listed: list[int] = []
    types: set[int] = set()
    for number, line in enumerate(map(str.strip, lines), 1):
        where = f"{path}, line {number}"
        if not line or line.startswith("#"):
            continue
        if line.lower().startswith("energy:"):
            types |= {_type(word.strip(), where) for word in line[len("energy:") :].split(",")}
            continue
        found = _LINE.match(line)
        if found is None:
            raise UserError(f"{where}: '{line}' is neither 'energy: ...' nor like '2 A1 001'")
        card = number_of(f"{found[2]} {int(found[3]):03d}")
        if card is None:
            raise UserError(
                f"{where}: no card {found[2]} {found[3]} is known (contracts/tcgjax/cards.csv)"
            )
        listed += [card] * int(found[1])
    return checked(Deck(tuple(listed), tuple(sorted(types))), str(path))


def _type(word: str, where: str) -> int:
    if word.capitalize() not in TYPES:
        raise UserError(f"{where}: '{word}' is no type of energy (R10: {', '.join(TYPES)})")
    return TYPES.index(word.capitalize())


def written(deck: Deck) -> str:
    """Return a deck as text that `read` accepts."""
    lines = ["energy: " + ", ".join(TYPES[kind] for kind in deck.types)]
    for number, count in Counter(deck.cards).items():
        card = cards()[number - 1]
        lines.append(f"{count} {card.id} {card.name}")
    return "\n".join(lines) + "\n"


class _Pool:
    """The cards of some sets, from which decks are drawn."""

    def __init__(self, sets: tuple[str, ...]) -> None:
        self.cards = [card for card in cards() if card.set in sets]
        self.fighters = [card for card in self.cards if card.kind == "Pokemon"]
        self.named: dict[str, list[Card]] = {}
        for card in self.cards:
            self.named.setdefault(card.name, []).append(card)
        self.bearing: dict[str, list[Card]] = {"": self.fighters}
        for card in self.cards:
            for code in {card.ability, *(attack.effect for attack in card.attacks)} - {""}:
                self.bearing.setdefault(code, []).append(card)

    def line(self, numbers: Iterator[int], card: Card) -> list[Card]:
        """Return a card and one of each card of its evolution line, the last one first."""
        found = [card]
        while found[-1].evolves_from:
            found.append(drawn.one_of(numbers, self.named[found[-1].evolves_from]))
        return found


@functools.cache
def _pool(sets: tuple[str, ...]) -> _Pool:
    return _Pool(sets)


class _Draft:
    """A deck under construction."""

    def __init__(self) -> None:
        self.listed: list[Card] = []

    def add(self, found: Sequence[Card], copies: int = MOST_ALIKE) -> None:
        """Add `copies` of each as far as names and room allow, or nothing if a line would break."""
        held = Counter(card.name for card in self.listed)
        copies = min([copies, *(MOST_ALIKE - held[card.name] for card in found)])
        if copies > 0 and len(self.listed) + copies * len(found) <= DECK:
            self.listed += [card for card in found for _ in range(copies)]


def themed(numbers: Iterator[int], sets: tuple[str, ...]) -> Deck:
    """Draw a legal deck around a drawn effect, so that all effects are equally frequent."""
    pool = _pool(sets)
    code = drawn.one_of(numbers, sorted(pool.bearing))
    theme = drawn.one_of(numbers, pool.bearing[code])
    draft = _Draft()
    names, kind = PARTNERS.get(code, ((), _OF_TYPE.get(code, "")))
    if theme.kind == "Pokemon":
        draft.add(pool.line(numbers, theme))
    else:
        draft.add([theme])
    wanted = [card for name in names for card in pool.named.get(name, [])]
    if wanted:
        draft.add(pool.line(numbers, drawn.one_of(numbers, wanted)))
    costs = "".join(attack.cost for card in draft.listed for attack in card.attacks) + kind
    types = sorted({ENERGY.index(letter) for letter in costs if letter != COLORLESS})[:MOST_TYPES]
    while not types or (len(types) < MOST_TYPES and next(numbers) % 4 == 0):
        types = sorted({*types, next(numbers) % len(ENERGY)})
    letters = {ENERGY[kind] for kind in types} | {COLORLESS}
    payable = [
        card for card in pool.fighters
        if all(set(attack.cost) <= letters for attack in card.attacks)
    ]  # fmt: skip
    fighters = 10 + next(numbers) % 7
    for _ in range(_TRIES):
        if len(draft.listed) < fighters:
            draft.add(pool.line(numbers, drawn.one_of(numbers, payable)), 1 + next(numbers) % 2)
    while not any(card.basic for card in draft.listed):
        draft.add(pool.line(numbers, drawn.one_of(numbers, payable)))
    trainers = [pool.bearing[code][0] for code in _USEFUL if code in pool.bearing]
    trainers += [
        pool.bearing[code][0] for code, letter in _OF_TYPE.items()
        if code in pool.bearing and letter in letters
    ]  # fmt: skip
    while len(draft.listed) < DECK:
        draft.add([drawn.one_of(numbers, trainers)], 1 + next(numbers) % 2)
        if next(numbers) % 8 == 0:
            draft.add(pool.line(numbers, drawn.one_of(numbers, payable)), 1)
    listed = sorted(draft.listed, key=lambda card: card.number)
    return checked(Deck(tuple(card.number for card in listed), tuple(types)), "a drawn deck")


def drawer(sets: tuple[str, ...]) -> Callable[[np.ndarray], tuple[Deck, Deck]]:
    """Return a maker of two decks of these sets from a seed u32[2]."""

    def make(seed: np.ndarray) -> tuple[Deck, Deck]:
        numbers = drawn.words(seed)
        return themed(numbers, sets), themed(numbers, sets)

    return make
