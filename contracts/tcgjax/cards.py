"""The cards of tcgjax-v0 as facts: the contents of the CSV files in this folder, numbered.

A card's number is its place, from 1, among the cards that differ in more than their id. A reprint
has the number of its first printing. Later sets get later numbers.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

#: Letters of the types of energy, in the order of an energy's number 1 to 8 (R37).
ENERGY = "GRWLPFDM"
#: Letters of the other types: Dragon, and Colorless, which any energy pays.
DRAGON, COLORLESS = "N", "C"
#: Every table, in the order in which its cards are numbered.
TABLES = ("cards.csv", "invented.csv")
STAGES = ("Basic", "Stage1", "Stage2")
KINDS = ("Pokemon", "Fossil", "Item", "Supporter")
#: The largest number of attacks of a card.
ATTACKS = 2


@dataclass(frozen=True)
class Attack:
    """One attack. cost: a letter per energy. damage, sign: as on the card, "+", "x" or "".

    effect: its code, or "".
    """

    cost: str
    damage: int
    sign: str
    effect: str


@dataclass(frozen=True)
class Card:
    """Facts of one card; numbers are 0 and texts empty for facts that the card lacks.

    number: from 1; 0 is no card. set: `A1`. kind: one of KINDS. stage: one of STAGES. points: those
    of its knock-out. ability: the code of a Pokemon's ability, or of a trainer's effect.
    """

    number: int
    id: str
    name: str
    kind: str
    stage: str
    evolves_from: str
    type: str
    hp: int
    weakness: str
    retreat: int
    points: int
    ability: str
    attacks: tuple[Attack, ...]

    @property
    def set(self) -> str:
        """Return the set of its first printing."""
        return self.id.rpartition(" ")[0]

    @property
    def basic(self) -> bool:
        """Return whether it is a Basic Pokemon; a fossil is not (R9)."""
        return self.kind == "Pokemon" and self.stage == "Basic"


def _read(number: int, row: dict[str, str]) -> Card:
    attacks = tuple(
        Attack(
            row[f"cost{n}"].replace("0", ""),
            int(row[f"damage{n}"]),
            row[f"sign{n}"],
            row[f"effect{n}"],
        )
        for n in range(1, ATTACKS + 1)
        if row[f"cost{n}"]
    )
    return Card(
        number,
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        stage=row["stage"],
        evolves_from=row["evolves_from"],
        type=row["type"],
        hp=int(row["hp"] or 0),
        weakness=row["weakness"],
        retreat=int(row["retreat"] or 0),
        points=int(row["points"] or 0),
        ability=row["ability"],
        attacks=attacks,
    )


@functools.cache
def _tables() -> tuple[tuple[Card, ...], dict[str, int]]:
    cards: list[Card] = []
    known: dict[tuple[str, ...], int] = {}
    numbers: dict[str, int] = {}
    for name in TABLES:
        with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                facts = tuple(value for column, value in row.items() if column != "id")
                if facts not in known:
                    known[facts] = len(cards) + 1
                    cards.append(_read(len(cards) + 1, row))
                numbers[row["id"]] = known[facts]
    return tuple(cards), numbers


def cards() -> tuple[Card, ...]:
    """Return all cards; number n is at n - 1."""
    return _tables()[0]


def number_of(printed: str) -> int | None:
    """Return the number of the card with a printed id such as `A1 001`; None if there is none."""
    return _tables()[1].get(printed)


@functools.cache
def codes() -> tuple[str, ...]:
    """Return the codes of all effects of cards, sorted."""
    found = {card.ability for card in cards()}
    found |= {attack.effect for card in cards() for attack in card.attacks}
    return tuple(sorted(found - {""}))
