"""The objects of a game: cards, Pokemon in play, players."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from twinstep.contracts.tcgjax.cards import Card

ASLEEP, PARALYZED, CONFUSED = "Asleep", "Paralyzed", "Confused"
BENCH = (1, 2, 3)


@dataclass(eq=False)
class Piece:
    """One card of a deck list. place: its place in the list."""

    card: Card
    owner: int
    place: int


@dataclass
class Effect:
    """R78: the amount, and the last turn of it."""

    until: int
    amount: int = 0


@dataclass(eq=False)
class Pokemon:
    """A Pokemon or fossil in play. stack: its cards from the bottom (R24). energy: letters.

    entered: the turn in which it came into play or evolved (R39).
    """

    stack: list[Piece]
    entered: int
    damage: int = 0
    energy: list[str] = field(default_factory=list)
    used: bool = False
    condition: str = ""
    poisoned: bool = False
    burned: bool = False
    effects: dict[str, Effect] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        """The card on top."""
        return self.stack[-1].card

    @property
    def falling(self) -> bool:
        """Return whether it is about to be knocked out (R69)."""
        return self.damage >= self.card.hp

    @property
    def immune(self) -> bool:
        """R80."""
        return "immune" in self.effects

    def has(self, ability: str) -> bool:
        """Return whether this is its ability."""
        return self.card.ability == ability

    def heal(self, amount: int) -> None:
        """R66."""
        self.damage = max(self.damage - amount, 0)

    def free(self) -> None:
        """R40, R48: end its conditions and the effects on it."""
        self.condition, self.poisoned, self.burned = "", False, False
        self.effects = {}

    def pays(self, cost: str) -> bool:
        """R52."""
        left = list(self.energy)
        for letter in cost.replace("C", ""):
            if letter not in left:
                return False
            left.remove(letter)
        return len(left) >= cost.count("C")


class Player:
    """One side. deck: its top first. slots: R21. types: letters of R10.

    no_supporters: the last turn of R79, or 0. peeked: R87. shown: R88.
    """

    def __init__(self, number: int, cards: list[Card], types: str) -> None:
        self.number = number
        self.list = [Piece(card, number, place) for place, card in enumerate(cards)]
        self.types = types
        self.deck: list[Piece] = list(self.list)
        self.hand: list[Piece] = []
        self.discards: list[Piece] = []
        self.slots: list[Pokemon | None] = [None] * 4
        self.current = ""
        self.next = ""
        self.spent: Counter[str] = Counter()
        self.points = 0
        self.no_supporters = 0
        self.peeked = 0
        self.shown: set[Piece] = set()

    @property
    def active(self) -> Pokemon:
        """The Active Pokemon, where there is one."""
        found = self.slots[0]
        assert found is not None
        return found

    def pokemon(self) -> list[tuple[int, Pokemon]]:
        """Return all in play with their slots."""
        return [(slot, one) for slot, one in enumerate(self.slots) if one is not None]

    def bench(self) -> list[tuple[int, Pokemon]]:
        """Return those on the Bench with their slots."""
        return [(slot, one) for slot, one in self.pokemon() if slot]

    def room(self) -> int | None:
        """Return the free Bench slot with the lowest number."""
        return next((slot for slot in BENCH if self.slots[slot] is None), None)

    def put(self, piece: Piece, turn: int) -> None:
        """R21: put a Basic or a fossil, which is nowhere now, on the Bench."""
        slot = self.room()
        assert slot is not None
        self.slots[slot] = Pokemon([piece], turn)

    def leave_hand(self, piece: Piece) -> None:
        """R22."""
        self.hand.remove(piece)
        self.shown.discard(piece)

    def toss(self, piece: Piece) -> None:
        """Discard a card of the hand."""
        self.leave_hand(piece)
        self.discards.append(piece)

    def strip(self, one: Pokemon, letters: list[str]) -> None:
        """Discard these energies."""
        for letter in letters:
            one.energy.remove(letter)
        self.spent.update(letters)

    def discard(self, slot: int) -> None:
        """R36."""
        one = self.slots[slot]
        assert one is not None
        self.discards += one.stack
        self.strip(one, list(one.energy))
        self.slots[slot] = None

    def swap(self, slot: int) -> None:
        """Exchange this Pokemon with the Active Pokemon, if there is one."""
        if self.slots[0] is not None:
            self.slots[0].free()  # R48
        self.slots[0], self.slots[slot] = self.slots[slot], self.slots[0]
