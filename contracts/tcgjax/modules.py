"""Parts of a step that both sides can call alone.

Most take a board: the fields of BOARD, with no choice open, which the reference's `places` fills.
If a part needs an Active Pokemon of both players, or more that its `doc` names, and the board
lacks them, nothing happens and the result is 0. A part's outputs are the whole state after it,
with the open choice if it leaves one; `asked` is 0 if it leaves none.
"""

from __future__ import annotations

import dataclasses

from twinstep.contract import Field, Module
from twinstep.contracts.tcgjax.cards import ENERGY, cards
from twinstep.contracts.tcgjax.layout import (
    ACTIONS_COUNT,
    DECK,
    HAND,
    OBSERVATION,
    PLAYERS,
    SLOTS,
    START,
    STATE,
)

_FIELDS = {field.name: field for field in STATE}
#: Fields that say which choice is open, and that the game is over.
CHOICE = ("ask", "asked", "left", "arg", "attack", "then")
_FIXED = (*(field.name for field in START), "seed")
BOARD: tuple[Field, ...] = tuple(f for f in STATE if f.name not in (*CHOICE, "winner"))
#: A board, and the choice that is open.
_OPEN = tuple(field for field in STATE if field.name != "winner")
#: A part's outputs on a board.
_RESULT = tuple(
    Field(field.name, field.dtype, field.shape, names=field.names)
    for field in STATE
    if field.name not in _FIXED
)
#: The largest number of energies that `cost` attaches.
MANY = 5
#: The largest number of coins that an effect flips, except flips until tails.
COINS = 4
#: The largest number of draws in a step before the one that counts.
BEFORE = 11
_MOST = len(cards())


def names(text: str) -> tuple[str, ...]:
    """Return the names that a text lists."""
    return tuple(text.split())


def _whole(
    name: str, dtype: str, low: int, high: int, shape: tuple[int, ...] = (), step: int = 1
) -> Field:
    return Field(name, dtype, shape, low=low, high=high, step=step)


def _found(name: str, dtype: str, shape: tuple[int, ...] = (), doc: str = "") -> Field:
    return Field(name, dtype, shape, doc=doc)


_DRAW = (_FIELDS["seed"], _FIELDS["draws"], _whole("before", "uint8", 0, BEFORE))
_AFTER = _found("count", "uint32", doc="draws so far, after this one")

CALLED: tuple[Module, ...] = (
    Module(
        "coins",
        (*_DRAW, _whole("heads_are", "int8", 0, 2), _whole("flips", "uint8", 1, COINS)),
        (
            _found("heads", "int8", doc="among as many flips as asked for"),
            _found("run", "int8", doc="heads before the first tails (R13)"),
            _AFTER,
        ),
        source="R11 to R13; draws.py: coins, until_tails",
        owns=(),
        doc="Flips coins. heads_are 2: no bit is a head.",
    ),
    Module(
        "pick",
        (*_DRAW, _whole("among", "uint8", 1, 40)),
        (_found("picked", "int32"), _AFTER),
        source="R14; draws.py: pick",
        owns=(),
        doc="Picks one of some things.",
    ),
    Module(
        "shuffle",
        (*_DRAW, _whole("cards_in", "uint8", 0, DECK)),
        (_found("order", "int8", (DECK,), "what lies at each place, -1 past the end"), _AFTER),
        source="R15; draws.py: shuffle",
        owns=("draws",),
        doc="Shuffles the cards 0 to cards_in - 1.",
    ),
    Module(
        "cost",
        (
            _whole("card", "int16", 1, _MOST),
            _whole("energies", "uint8", 0, len(ENERGY), (MANY,)),
            _whole("most", "uint8", 0, MANY),
            _whole("fast", "int8", 0, 3),
        ),
        (_found("pays", "bool", (2,)), _found("retreat", "int8")),
        source="R46, R52; objects.py: pays; options.py: retreat_cost",
        owns=(),
        doc="Tells which attacks of a card so many energies pay, and what its retreat costs after "
        "`fast` X Speeds. energies: 0 is none; those from `most` on do not count.",
    ),
    Module(
        "damage",
        (*BOARD, _whole("amount", "int16", 0, 150, (SLOTS,), 10)),
        (*(f for f in _RESULT if f.name == "damage"), _found("dealt", "int16")),
        source="R60 to R62, R80; attack.py: hit_active, hit_bench",
        owns=("damage",),
        doc="Does an attack's damage to the other player's Pokemon. dealt: to the Active one.",
    ),
    Module(
        "attack",
        (*BOARD, _whole("nth", "uint8", 0, 1)),
        _RESULT,
        source="R54 to R69, R117 to R139; attack.py: begun",
        owns=names(
            "no_attack no_retreat weakened weakened_until guarded guarded_until immune "
            "no_supporters shown attack left"
        ),
        doc="Uses an attack of the Active Pokemon, paid or not, up to its first choice or its end; "
        "knock-outs are not looked at.",
    ),
    Module(
        "play",
        (*BOARD, _whole("held", "uint8", 0, HAND - 1), _whole("onto", "uint8", 0, SLOTS - 1)),
        _RESULT,
        source="R21, R22, R24, R32, R33, R38, R40; options.py: bench, evolve",
        owns=names("zone place entered"),
        doc="Puts a Pokemon or fossil of the hand into play: on the Bench if a slot is free, or as "
        "an evolution onto a stack of one or two cards, whatever they are.",
    ),
    Module(
        "retreat",
        (*BOARD, _whole("to", "uint8", 1, SLOTS - 1)),
        _RESULT,
        source="R45 to R48; options.py: retreat, pay",
        owns=names("energy retreated arg"),
        doc="Retreats for a Pokemon of the Bench, if there is one and the energies are enough, up "
        "to the first choice or the change.",
    ),
    Module(
        "checkup",
        BOARD,
        _RESULT,
        source="R72, R73, R75; game.py: expire, checkup",
        owns=names("condition poisoned burned used supporter bonus blaze quick"),
        doc="Ends what ends with a turn; then conditions do what they do after it.",
    ),
    Module(
        "knockouts",
        (
            *BOARD,
            _whole("harm", "int16", 0, 100, (PLAYERS, SLOTS), 10),
            _whole("follows", "uint8", 0, 2),
        ),
        _RESULT,
        source="R81 to R84; game.py: knock_outs",
        owns=names("points winner discarded then"),
        doc="Knocks out who has to be after more damage, and sees who has won and who promotes. "
        "follows: Then.",
    ),
    Module(
        "turn",
        BOARD,
        _RESULT,
        source="R25, R27 to R29, R37; game.py: after, begin_turn",
        owns=names("turn player current next peeked"),
        doc="Begins the other player's turn: a card and an energy.",
    ),
    Module(
        "legal",
        _OPEN,
        (_found("legal", "bool", (ACTIONS_COUNT,)),),
        source="R30 to R52, R76, R90 to R115; options.py: of_turn",
        owns=("legal",),
        doc="Tells what the player who is asked may do.",
    ),
    Module(
        "observation",
        _OPEN,
        (Field("obs", "int16", (PLAYERS, len(OBSERVATION)), names=OBSERVATION),),
        source="R20, R37, R86 to R88; observing.py: observed",
        owns=("obs",),
        doc="Tells what both players see.",
    ),
    Module(
        "reset",
        (*START, _FIELDS["seed"]),
        _RESULT,
        source="R16 to R19; game.py: begin",
        owns=("first",),
        doc="Begins a game, of decks that have a Basic Pokemon.",
    ),
)
#: Events that only whole steps show.
_SEEN = (Module("flow", (), (), owns=names("ask asked acting reward terminated")),)


def modules(called: bool) -> tuple[Module, ...]:
    """Return the modules of a variant. called: whether this variant calls them alone."""
    alone = CALLED if called else (dataclasses.replace(m, inputs=(), outputs=()) for m in CALLED)
    return (*alone, *_SEEN)
