"""Layout of states, observations and actions of tcgjax-v0.

The rulings (R1 and so on) are in oracles/tcgjax/RULES.md. Players are 0 and 1, slots 0 (the Active
Spot) to 3 (R21), cards of a deck 0 to 19 in the order of its list. Turns count from 1, and 0 means
"none". Numbers of cards: cards.py. A single energy is a number from 1 to 8 in the order of ENERGY;
several are counts in that order.
"""

from __future__ import annotations

from enum import IntEnum

from twinstep.contract import Field
from twinstep.contracts.tcgjax.cards import ENERGY, cards

PLAYERS, SLOTS, DECK, HAND, BASICS = 2, 4, 20, 10, len(ENERGY)
#: Cards on top of the own deck that a player may know (R87).
PEEKED = 3
#: The largest number of cards in a stack: a Basic or a fossil, stage 1, stage 2.
STACK = 3


class Ask(IntEnum):
    """The choice open to the player who acts."""

    TURN = 0  # anything of R31
    ACTIVE = 1  # R19: a Basic of the hand for the Active Spot
    BENCH = 2  # R19: further ones for the Bench, or the end of it
    PROMOTE = 3  # a new Active Pokemon: R35, R83, R100
    PAY = 4  # R47: the type of an energy to discard, `left` to go, `arg` the slot to change with
    DAMAGE = 5  # R56: what the attack does its chosen damage to
    ATTACH = 6  # R134: where to attach, `left` to go
    SWITCH = 7  # R135: an own Benched Pokemon to change places with
    PUSHED = 8  # R103: the other player's choice of a new Active one
    PULL = 9  # R107: one of the other's Benched Basics
    SNIPE = 10  # R108: one of the other's Pokemon
    COPY = 11  # R139: an attack


class Then(IntEnum):
    """The continuation after the open choice of PROMOTE."""

    TURN = 0  # the turn goes on
    CHECKUP = 1  # the turn ends: R75, R72
    NEXT = 2  # the next turn begins: R28


class Zone(IntEnum):
    """A card's place. From STACKS on: in the stack of slot 0, 1, 2, 3."""

    DECK = 0
    HAND = 1
    DISCARD = 2
    STACKS = 3


#: Kind of action -> its first index.
END, PLAY, ATTACH, RETREAT = 0, 1, 51, 55
ABILITY, ATTACK, STADIUM, SCRAP, CHOOSE = 58, 62, 65, 66, 70
ACTIONS_COUNT = 128
_WHERE = ("", " on Active", " on Bench 1", " on Bench 2", " on Bench 3")
_SLOTS = ("Active", "Bench 1", "Bench 2", "Bench 3")
#: Meaning of the actions. PLAY + 5 hand + target: target 0 for a card that is played on nothing (a
#: Basic, a fossil: the Bench), 1 to 4 for the own slot that it is played on; in ACTIVE, target 1.
#: ATTACH + slot. RETREAT + Bench slot - 1. ABILITY + slot. ATTACK + the attack's place on the card.
#: STADIUM: no set so far has one. SCRAP + slot: R35. CHOOSE + choice: a slot of the choosing player
#: (0 to 3) or of the other one (4 to 7); in PAY a type of energy from 0; in COPY the other's slot
#: times 2 plus the attack's place.
ACTIONS: tuple[str, ...] = (
    "end",
    *(f"play hand {hand}{where}" for hand in range(HAND) for where in _WHERE),
    *(f"attach to {slot}" for slot in _SLOTS),
    *(f"retreat for {slot}" for slot in _SLOTS[1:]),
    *(f"ability of {slot}" for slot in _SLOTS),
    *(f"attack {n}" for n in range(1, 4)),
    "stadium",
    *(f"discard fossil {slot}" for slot in _SLOTS),
    *(f"choose {n}" for n in range(32)),
    *(f"unused {n}" for n in range(102, ACTIONS_COUNT)),
)
assert len(ACTIONS) == ACTIONS_COUNT

#: Names of the parameters of R1 to R6, with the app's values.
RULES: dict[str, int] = {
    "weakness": 20, "hand": 10, "poison": 10, "heads": 1, "turns": 30, "points": 3,
}  # fmt: skip

_MOST = len(cards())
_TWO, _ALL = (PLAYERS,), (PLAYERS, DECK)
START: tuple[Field, ...] = (
    Field("rules", "int16", (len(RULES),), 0, 100, 1, names=tuple(RULES)),
    Field("cards", "int16", _ALL, 1, _MOST, 1, doc="the deck lists"),
    Field("types", "uint8", _TWO, 1, 255, 1, doc="bit t: the deck has energy t + 1 (R10)"),
)
STATE: tuple[Field, ...] = (
    *START,
    Field("seed", "uint32", (2,), 0, 2**32 - 1, 1),
    Field("draws", "uint32", (), 0, 4096, 1, doc="draws so far (R11)"),
    Field("zone", "int8", _ALL, 0, 6, 1, doc="of each card of the list: Zone"),
    Field(
        "place", "int8", _ALL, 0, 19, 1,
        doc="its place there from 0: from the top of the deck, in the hand, in the discard pile, "
        "from the bottom of a stack",
    ),
    Field("shown", "bool", _ALL, 0, 1, doc="in the hand and known to the other player (R88)"),
    Field("peeked", "int8", _TWO, 0, PEEKED, 1, doc="cards that the owner knows on top (R87)"),
    Field("damage", "int16", (PLAYERS, SLOTS), 0, 1000, 1),
    Field("energy", "int8", (PLAYERS, SLOTS, BASICS), 0, 100, 1, names=tuple(ENERGY)),
    Field(
        "entered", "int8", (PLAYERS, SLOTS), 0, 100, 1,
        doc="the turn that R39 speaks of; 0 at the beginning, 0 of an empty slot",
    ),
    Field("used", "bool", (PLAYERS, SLOTS), 0, 1, doc="its ability was used this turn (R76)"),
    Field("condition", "int8", _TWO, 0, 3, 1, doc="1 Asleep, 2 Paralyzed, 3 Confused"),
    Field("poisoned", "bool", _TWO, 0, 1),
    Field("burned", "bool", _TWO, 0, 1),
    Field("no_attack", "int8", _TWO, 0, 100, 1, doc="last turn of this effect on the Active (R78)"),
    Field("no_retreat", "int8", _TWO, 0, 100, 1, doc="the same"),
    Field("weakened", "int8", _TWO, 0, 100, 1, doc="by how much; ends with turn weakened_until"),
    Field("weakened_until", "int8", _TWO, 0, 100, 1),
    Field("guarded", "int8", _TWO, 0, 100, 1, doc="by how much; ends with turn guarded_until"),
    Field("guarded_until", "int8", _TWO, 0, 100, 1),
    Field("immune", "int8", _TWO, 0, 100, 1, doc="last turn of it"),
    Field("no_supporters", "int8", _TWO, 0, 100, 1, doc="last turn of it, for the player (R79)"),
    Field("current", "int8", _TWO, 0, BASICS, 1, doc="the energy to attach"),
    Field("next", "int8", _TWO, 0, BASICS, 1),
    Field("discarded", "int16", (PLAYERS, BASICS), 0, 1000, 1, doc="energies discarded so far"),
    Field("points", "int8", _TWO, 0, 16, 1),
    Field("supporter", "bool", (), 0, 1, doc="played this turn"),
    Field("retreated", "bool", (), 0, 1),
    Field("bonus", "int8", (), 0, 100, 1, doc="of `giovanni`, this turn"),
    Field("blaze", "int8", (), 0, 100, 1, doc="of `blaine`, this turn"),
    Field("quick", "int8", (), 0, 20, 1, doc="X Speeds this turn"),
    Field("first", "int8", (), 0, 1, 1, doc="who goes first"),
    Field("player", "int8", (), 0, 1, 1, doc="whose turn it is; before turn 1, who places"),
    Field("turn", "int8", (), 0, 100, 1, doc="0 before the first"),
    Field("ask", "int8", (), 0, 11, 1, doc="Ask; 0 when the game is over"),
    Field("asked", "int8", (), 0, 1, 1, doc="who acts; 0 when the game is over"),
    Field("left", "int8", (), 0, 32, 1, doc="choices of PAY, ATTACH still to make; else 0"),
    Field("arg", "int8", (), 0, 3, 1, doc="the Bench slot of PAY; else 0"),
    Field(
        "attack", "int16", (), 0, 2 * _MOST + 2, 1,
        doc="the attack under way while it asks for choices: 2 times the card's number plus the "
        "attack's place there, of the attacker's own or, once chosen, the copied one; else 0",
    ),
    Field("then", "int8", (), 0, 2, 1, doc="Then, while PROMOTE is asked; else 0"),
    Field("winner", "int8", (), 0, 3, 1, doc="1 player 0, 2 player 1, 3 a tie"),
)  # fmt: skip

_ENERGIES = tuple(f"energy {letter}" for letter in ENERGY)


def _side(who: str) -> tuple[str, ...]:
    slots = tuple(
        f"{who} {slot} {what}"
        for slot in ("active", "bench1", "bench2", "bench3")
        for what in ("card 1", "card 2", "card 3", "damage", *_ENERGIES, "entered", "used")
    )
    rest = (
        "points", "deck", "hand", "discards", "current", "next", "no supporters",
        *(f"hand {n}" for n in range(HAND)),
        *(f"discard {n}" for n in range(DECK)),
        *(f"discarded {name}" for name in _ENERGIES),
        "condition", "poisoned", "burned",
        "no attack", "no retreat", "weakened", "guarded", "immune",
    )  # fmt: skip
    return (*(f"{who} {what}" for what in rest), *slots)


#: An observation as numbers. `my` is the observing player, `other` the opponent; before turn 1
#: all of the other's part is 0 (R20). deck, hand, discards: numbers of cards. hand n, discard n:
#: cards' numbers, 0 past the end; the other's hand has the shown ones (R88) in their places. no
#: supporters, no attack, no retreat, immune: 1 if the effect holds now or will in its turn. card 1
#: to 3: the stack from the bottom. entered: 1 if it came into play or evolved this turn, which is
#: never before turn 1. top n: the own deck's known cards (R87), list n: the own deck list.
OBSERVATION: tuple[str, ...] = (
    "turn", "my turn", "I went first", "I act", "ask", "left", "attack",
    "supporter", "retreated", "bonus", "blaze", "quick",
    *_side("my"),
    *_side("other"),
    *(f"top {n}" for n in range(PEEKED)),
    *(f"list {n}" for n in range(DECK)),
    *(f"type {letter}" for letter in ENERGY),
    *(f"rule {name}" for name in RULES),
)  # fmt: skip
