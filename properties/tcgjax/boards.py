"""Boards drawn for one effect: its card is Active, on the Bench or in the hand, and the things that
it refers to are present on some boards and absent on others.

They are laid out by the contract alone. Player `me` is in the middle of a turn.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from twinstep.contracts.tcgjax.cards import ENERGY, Card, cards
from twinstep.contracts.tcgjax.decks import PARTNERS
from twinstep.contracts.tcgjax.layout import ABILITY, ACTIONS_COUNT, ATTACK, DECK, PLAY, STATE, Zone
from twinstep.contracts.tcgjax.layout import RULES as VALUES

CONFUSED = 3
_STANDS = ("Pokemon", "Fossil")
_IN_PLAY = [card for card in cards() if card.kind in _STANDS]
#: Cards whose first attack does only damage, for effects that are always at work.
_PLAIN = [
    card for card in _IN_PLAY
    if card.attacks and card.attacks[0].damage >= 30 and not card.attacks[0].effect
]  # fmt: skip
#: Codes of abilities that nobody uses.
PASSIVE = ("ability-counter-20", "ability-no-supporters", "ability-shell-10", "ability-shell-20")
#: The types that an effect refers to.
_LETTERS = {
    "attach-bench-grass": "G", "coins3-attach-bench-fire": "R", "bench-lightning-times-30": "L",
    "erika": "G", "misty": "W", "search-grass-to-hand": "G", "ability-charge-active-psychic": "P",
}  # fmt: skip


@dataclass
class Stand:
    """A Pokemon in play."""

    card: Card
    energy: str = ""
    damage: int = 0


@dataclass
class Side:
    """One player's part of a board."""

    slots: list[Stand | None] = field(default_factory=lambda: [None] * 4)
    hand: list[Card] = field(default_factory=list)
    discards: list[Card] = field(default_factory=list)
    deck: list[Card] = field(default_factory=list)
    poisoned: bool = False

    @property
    def active(self) -> Stand:
        """Return the Active Pokemon."""
        found = self.slots[0]
        assert found is not None
        return found

    @property
    def bench(self) -> list[Stand]:
        """Return the Benched ones."""
        return [one for one in self.slots[1:] if one is not None]

    @property
    def all(self) -> list[Stand]:
        """Return all in play."""
        return [self.active, *self.bench]


@dataclass
class Board:
    """A board for a code. wanted: bool[128], the actions that use the effect."""

    code: str
    me: Side
    foe: Side
    wanted: np.ndarray
    confused: bool
    immune: bool
    place: int = 0


def draw(code: str, rng: random.Random) -> Board:
    """Draw a board for a code."""
    bearer = rng.choice(_bearing(code))
    me, foe = Side(), Side()
    board = Board(
        code, me, foe, np.zeros(ACTIONS_COUNT, bool), rng.random() < 0.1, rng.random() < 0.1
    )
    attacks = [n for n, attack in enumerate(bearer.attacks) if attack.effect == code]
    passive, slot = code in PASSIVE, rng.choice((0, 0, 1))
    me.slots[0] = _stand(rng.choice(_PLAIN), rng, paid=0)
    foe.slots[0] = _stand(rng.choice(_IN_PLAY), rng)
    _fill_benches(board, rng)
    _partner(board, rng)
    if code == "copy" and rng.random() < 0.3:
        fossils = [card for card in _IN_PLAY if card.kind == "Fossil"]
        foe.slots = [Stand(rng.choice(fossils)), None, None, None]
    if passive:
        foe.slots[slot] = _stand(bearer, rng)
        board.wanted[ATTACK] = True
    elif attacks:
        board.place = rng.choice(attacks)
        me.slots[0] = _stand(bearer, rng, paid=board.place)
        board.wanted[ATTACK + board.place] = True
    elif bearer.kind == "Pokemon":
        me.slots[slot] = _stand(bearer, rng)
        board.wanted[ABILITY + slot] = True
    _deal(board, rng)
    if bearer.kind != "Pokemon" or code == "ability-no-supporters":
        supporters = [card for card in cards() if card.kind == "Supporter"]
        at = rng.randrange(len(me.hand) + 1)
        me.hand.insert(at, rng.choice(supporters) if passive else bearer)
        board.wanted[ATTACK] = False
        board.wanted[PLAY + 5 * at : PLAY + 5 * at + 5] = True
    for side in (me, foe):
        _lists(side, rng)
    return board


def _bearing(code: str) -> list[Card]:
    return [
        card for card in cards()
        if card.ability == code or any(attack.effect == code for attack in card.attacks)
    ]  # fmt: skip


def _stand(card: Card, rng: random.Random, paid: int | None = None) -> Stand:
    """Return a Pokemon in play. paid: the attack that its energy pays."""
    energy = rng.choice(("", "L", "RR", "PW", "FPL", "RRRP"))
    if paid is not None:
        cost = card.attacks[paid].cost.replace("C", rng.choice(ENERGY))
        energy = cost + rng.choice(("", "", "W", "WWW", "WWWW", "RRP"))
    damage = rng.choice((0, rng.randrange(max(card.hp // 10, 1)), max(card.hp // 10 - 1, 0)))
    return Stand(card, energy, 10 * damage)


def _fill_benches(board: Board, rng: random.Random) -> None:
    letter = _LETTERS.get(board.code, "")
    fitting = [card for card in _IN_PLAY if card.type == letter] or _IN_PLAY
    for side in (board.me, board.foe):
        many = rng.choice((0, 0, 1, 2, 3))
        for slot in rng.sample((1, 2, 3), many):
            pool = fitting if rng.random() < 0.3 else _IN_PLAY
            side.slots[slot] = _stand(rng.choice(pool), rng)
    if letter and rng.random() < 0.5:
        board.me.slots[0] = _stand(rng.choice(fitting), rng)


def _partner(board: Board, rng: random.Random) -> None:
    """Put the Pokemon that the effect names into play, Active or not, on half of the boards."""
    names, _ = PARTNERS.get(board.code, ((), ""))
    fitting = [card for card in _IN_PLAY if card.name in names]
    if fitting and rng.random() < 0.7:
        board.me.slots[rng.choice((0, 0, 1))] = _stand(rng.choice(fitting), rng)


def _deal(board: Board, rng: random.Random) -> None:
    """Deal the hands."""
    board.me.hand = rng.choices(cards(), k=rng.choice((0, 2, 5, 8)))
    board.foe.hand = rng.choices(cards(), k=rng.choice((0, 0, 1, 4, 9)))
    board.foe.poisoned = rng.random() < 0.4


def _lists(side: Side, rng: random.Random) -> None:
    """Put the rest of the twenty cards into the deck and the discard pile."""
    left = DECK - len(side.all) - len(side.hand)
    names = {"Nidoran♂"} if rng.random() < 0.5 else set()
    pool = [card for card in cards() if card.name in names] or list(cards())
    rest = [rng.choice(pool), *rng.choices(cards(), k=left - 1)]
    many = rng.choice((0, 1, left, left))
    side.deck, side.discards = rest[:many], rest[many:]
    rng.shuffle(side.deck)


def fields(board: Board, seed: Any, draws: int, rng: random.Random) -> dict[str, np.ndarray]:
    """Return the state of a board, whose next draw is number `draws` of `seed` u32[2]."""
    out = {f.name: np.zeros(f.shape, f.dtype) for f in STATE}
    me, turn = rng.randrange(2), rng.randrange(5, 28)
    single = {
        "seed": seed, "draws": draws, "turn": turn, "player": me, "asked": me,
        "first": me if turn % 2 else 1 - me, "rules": list(VALUES.values()),
        "bonus": rng.choice((0, 0, 10)), "types": [rng.randrange(1, 256) for _ in range(2)],
        "next": [rng.randrange(1, 9) for _ in range(2)],
        "points": [rng.randrange(2) for _ in range(2)],
    }  # fmt: skip
    for name, value in single.items():
        out[name][...] = value
    out["current"][me] = rng.randrange(9)
    out["condition"][me] = CONFUSED if board.confused else 0
    out["poisoned"][1 - me] = board.foe.poisoned
    out["immune"][1 - me] = turn if board.immune else 0
    for side, n in ((board.me, me), (board.foe, 1 - me)):
        stacks = [(Zone.STACKS + s, [one.card]) for s, one in enumerate(side.slots) if one]
        lists = [(Zone.DECK, side.deck), (Zone.HAND, side.hand), (Zone.DISCARD, side.discards)]
        at = 0
        for zone, held in [*stacks, *lists]:
            for place, card in enumerate(held):
                out["cards"][n, at] = card.number
                out["zone"][n, at], out["place"][n, at] = zone, place
                at += 1
        for slot, one in enumerate(side.slots):
            if one is not None:
                out["damage"][n, slot], out["entered"][n, slot] = one.damage, 1
                out["energy"][n, slot] = [one.energy.count(letter) for letter in ENERGY]
    return out


def _water(board: Board) -> bool:
    cost = board.me.active.card.attacks[board.place].cost
    return board.me.active.energy.count("W") - cost.count("W") >= int(board.code[12])


def _any(among: list[Stand], fits: Callable[[Stand], bool]) -> bool:
    return any(fits(one) for one in among)


def _names(board: Board, one: Stand) -> bool:
    return one.card.name in PARTNERS[board.code][0]


def _held(board: Board, letter: str) -> bool:
    return letter in board.me.active.energy


def _type(letter: str) -> Callable[[Stand], bool]:
    return lambda one: one.card.type == letter


_Speaks = Callable[[Board], bool]
_OWN_BENCH: _Speaks = lambda b: bool(b.me.bench)  # noqa: E731
_FOE_BENCH: _Speaks = lambda b: bool(b.foe.bench)  # noqa: E731
_FOE_HAND: _Speaks = lambda b: bool(b.foe.hand)  # noqa: E731
_OWN_DECK: _Speaks = lambda b: bool(b.me.deck)  # noqa: E731
_FOE_ENERGY: _Speaks = lambda b: bool(b.foe.active.energy)  # noqa: E731
_HURT: _Speaks = lambda b: b.me.active.damage > 0  # noqa: E731
_BEARS: _Speaks = lambda b: b.foe.active.card.ability == b.code  # noqa: E731
#: Code -> whether the things it refers to are present. Codes not listed need nothing.
TARGETS: dict[str, _Speaks] = {
    **dict.fromkeys(("bench-times-30", "hurt-own-bench-30", "switch-self"), _OWN_BENCH),
    **dict.fromkeys(
        ("push", "sabrina", "ability-push", "snipe-bench-30", "splash-bench-10"), _FOE_BENCH
    ),
    **dict.fromkeys(("coin-shuffle-foe", "random-4-times-50"), _FOE_BENCH),
    **dict.fromkeys(("snipe-30", "snipe-50", "ability-snipe-20"), _FOE_BENCH),
    **dict.fromkeys(("coin-discard-hand", "reveal-hand", "hand-scope", "red-card"), _FOE_HAND),
    **dict.fromkeys(("draw-1", "professors-research", "pokedex", "ability-peek"), _OWN_DECK),
    **dict.fromkeys(("discard-random-energy", "coin-discard-random-energy"), _FOE_ENERGY),
    **dict.fromkeys(("foe-energy-plus-20", "foe-energy-plus-30"), _FOE_ENERGY),
    **dict.fromkeys(("heal-self-10", "heal-self-30", "drain", "damaged-self-plus-60"), _HURT),
    **dict.fromkeys(PASSIVE, _BEARS),
    **dict.fromkeys(("extra-water-2-plus-60", "extra-water-3-plus-70"), _water),
    "attach-bench-grass": lambda b: _any(b.me.bench, _type("G")),
    "coins3-attach-bench-fire": lambda b: _any(b.me.bench, _type("R")),
    "bench-lightning-times-30": lambda b: _any(b.me.bench, _type("L")),
    "bench-nidoking-plus-50": lambda b: _any(b.me.bench, lambda one: _names(b, one)),
    "ability-pull-basic": lambda b: _any(b.foe.bench, lambda one: one.card.stage == "Basic"),
    "call-nidoran": lambda b: any(card.name == "Nidoran♂" for card in b.me.deck),
    "search-grass-to-hand": lambda b: any(
        card.kind == "Pokemon" and card.type == "G" for card in b.me.deck
    ),
    "poke-ball": lambda b: any(card.basic for card in b.me.deck),
    "damaged-foe-plus-60": lambda b: b.foe.active.damage > 0,
    "poisoned-foe-plus-50": lambda b: b.foe.poisoned,
    "potion": lambda b: _any(b.me.all, lambda one: one.damage > 0),
    "ability-heal-each-20": lambda b: _any(b.me.all, lambda one: one.damage > 0),
    "erika": lambda b: _any(b.me.all, lambda one: one.card.type == "G" and one.damage > 0),
    "misty": lambda b: _any(b.me.all, _type("W")),
    "koga": lambda b: _names(b, b.me.active) and bool(b.me.bench),
    "lt-surge": lambda b: _names(b, b.me.active) and _any(b.me.bench, lambda o: "L" in o.energy),
    "blaine": lambda b: _any(b.me.all, lambda one: _names(b, one)),
    "brock": lambda b: _any(b.me.all, lambda one: _names(b, one)),
    "ability-charge-active-psychic": lambda b: b.me.active.card.type == "P",
    "copy": lambda b: _any(b.foe.all, lambda o: any(a.effect != "copy" for a in o.card.attacks)),
    "fossil": lambda b: len(b.me.bench) < 3,
}
#: Codes whose use needs their TARGETS; the others are used without them, too.
NEEDS = (
    "ability-charge-active-psychic", "ability-heal-each-20", "ability-peek", "ability-pull-basic",
    "ability-push", "blaine", "brock", "erika", "fossil", "hand-scope", "koga", "lt-surge", "misty",
    "pokedex", "potion", "professors-research", "red-card", "sabrina",
)  # fmt: skip
#: Abilities that forbid the other player its `wanted` actions.
FORBIDS = ("ability-no-supporters",)
