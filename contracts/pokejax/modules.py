"""Parts of a turn that both sides can call alone, and the scene in which they are called.

A scene is two Pokemon that face each other, with one more member behind each, given by the fields
of SCENE. Fields that are no input of a module have their default. Player 1's Pokemon, at place 0
of each pair, is the one that acts. Only the lasting conditions named by `conditions` are present,
whatever the other fields say, two for each side at most: a state with every condition at once
would hide most effects. A badly poisoned one always has `residualdmg`. A binding one does not bide:
Bide's target is its own user, which ends a binding before the move, and a biding one uses no other
move. The move that player 1's Pokemon is about to use is the one that locks it, if any does (Rage,
Thrash, a charged one, a binding one), or else that of its selected slot.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from twinstep.contract import Field, Module
from twinstep.contracts.pokejax.layout import BOOSTS, FLAGS, SET, STATE, STATS

#: By number, from 1.
CONDITIONS = (
    *FLAGS,
    "bide",
    "confusion",
    "disable",
    "lockedmove",
    "rage",
    "partiallytrapped",
    "fakepartiallytrapped",
    "partialtrappinglock",
    "substitute",
    "twoturnmove",
)
_PAIR = (2,)
#: Moves that can lock their user; these fields hold the move's place in the list, from 0.
LOCKING = {
    "locked_move": (37, 80),
    "lock_move": (20, 35, 83, 128),
    "charging": (13, 19, 76, 91, 130, 143),
}
RAGE = 99


def _field(
    name: str, dtype: str, shape: tuple[int, ...], low: int, high: int, default: int, doc: str = ""
) -> tuple[Field, int]:
    return Field(name, dtype, shape, low=low, high=high, step=1, doc=doc), default


_PLACED: tuple[tuple[Field, int], ...] = (
    _field("seed", "uint32", _PAIR, 0, 2**32 - 1, 1),
    _field("last_damage", "int32", (), 0, 999, 0),
    _field("clauses", "bool", (), 0, 1, 0, "whether the Sleep and the Freeze Clause hold"),
    _field("hp", "int16", _PAIR, 1, 703, 300),
    _field("missing", "int16", _PAIR, 0, 703, 0, "the most HP it may have, less those it has"),
    _field("level", "uint8", _PAIR, 1, 255, 100),
    _field("own_species", "uint8", _PAIR, 1, 151, 151, "what it is, copy or not"),
    _field("own_stats", "int16", (2, 5), 1, 999, 200, "without any change"),
    _field("own_moves", "uint8", (2, 4), 1, 164, 33, "its four moves, copied ones aside"),
    _field("pp", "uint8", (2, 4), 0, 63, 20),
    _field("status", "uint8", _PAIR, 0, 6, 0),
    _field("sleep", "int8", _PAIR, 1, 7, 1),
    _field("sleep_by_foe", "bool", _PAIR, 0, 1, 0),
    _field("sub_fainted", "bool", _PAIR, 0, 1, 0),
    _field("bench_status", "uint8", _PAIR, 0, 6, 0, "of the member behind"),
    _field("bench_by_foe", "bool", _PAIR, 0, 1, 0, "whether the Sleep Clause counts that one"),
    _field("bench_fainted", "bool", _PAIR, 0, 1, 0),
    _field("species", "uint8", _PAIR, 1, 151, 151, "what it looks like"),
    _field("types", "uint8", (2, 2), 0, 14, 10),
    _field("single", "bool", _PAIR, 0, 1, 1, "whether the second type is none"),
    _field("stats", "int16", (2, 5), 1, 999, 200),
    _field("modified", "int16", (2, 5), 1, 999, 200),
    _field("boosts", "int8", (2, 7), -6, 6, 0),
    _field("speed", "int16", _PAIR, 1, 5, 1),
    _field("transformed", "bool", _PAIR, 0, 1, 0),
    _field("virtual", "bool", (2, 4), 0, 1, 0, "slots that Mimic made; a copy's are all made"),
    _field("virtual_moves", "uint8", (2, 4), 1, 165, 33, "what such slots hold"),
    _field("virtual_pp", "uint8", (2, 4), 0, 63, 5),
    _field("disabled", "bool", (2, 4), 0, 1, 0),
    _field("maybe_locked", "bool", _PAIR, 0, 1, 0),
    _field("last_move", "uint8", _PAIR, 0, 165, 0),
    _field("side_last_move", "uint8", _PAIR, 0, 165, 0),
    _field("selected_move", "uint8", _PAIR, 0, 165, 0),
    _field("selected_slot", "uint8", _PAIR, 0, 3, 0),
    _field("conditions", "uint8", (2, 2), 0, len(CONDITIONS), 0, "by number; 0 is none"),
    _field("bide_time", "uint8", _PAIR, 1, 3, 1),
    _field("bide_damage", "int32", _PAIR, 0, 999, 0),
    _field("confusion", "uint8", _PAIR, 1, 5, 1),
    _field("disable_time", "uint8", _PAIR, 1, 8, 1),
    _field("disable_slot", "uint8", _PAIR, 0, 3, 0),
    _field("locked_move", "uint8", _PAIR, 0, 1, 0),
    _field("locked_time", "int8", _PAIR, -1, 3, 1),
    _field("locked_accuracy", "uint8", _PAIR, 1, 255, 255),
    _field("rage_accuracy", "uint8", _PAIR, 1, 255, 255),
    _field("trapped_duration", "uint8", _PAIR, 1, 2, 1),
    _field("trapped_hidden", "bool", _PAIR, 0, 1, 0),
    _field("trapped_source", "uint8", _PAIR, 0, 1, 0),
    _field("fake_duration", "uint8", _PAIR, 1, 2, 1),
    _field("fake_counterpart", "uint8", _PAIR, 0, 1, 0),
    _field("lock_move", "uint8", _PAIR, 0, 3, 0),
    _field("lock_duration", "uint8", _PAIR, 1, 5, 1),
    _field("lock_total", "uint8", _PAIR, 1, 5, 5),
    _field("lock_damage", "int32", _PAIR, 0, 999, 1),
    _field("lock_target", "uint8", _PAIR, 0, 1, 0),
    _field("toxic_counter", "int16", _PAIR, 0, 16, 0),
    _field("substitute", "int16", _PAIR, 1, 176, 1),
    _field("charging", "uint8", _PAIR, 0, 5, 0),
)
SCENE: dict[str, Field] = {field.name: field for field, _ in _PLACED}
DEFAULTS: dict[str, np.ndarray] = {
    field.name: np.full(field.shape, default, field.dtype) for field, default in _PLACED
}


def scene_team() -> np.ndarray:
    """Return the teams u8[2, 6, 18] of a scene before its fields are placed: two Mews each."""
    team = np.zeros((2, 6, len(SET)), np.uint8)
    team[:, :2] = [151, 100, 33, 33, 33, 33, *[30] * 6, *[255] * 6]
    return team


_OUTSIDE = (
    "turn",
    "winner",
    "request",
    "rules",
    "team",
    "base_stats",
    "seen",
    "revealed",
    "disabled",
)
#: Outputs of the modules that act on a scene: the battle's state without untouchable fields.
_RESULT = tuple(
    Field(field.name, field.dtype, field.shape, names=field.names)
    for field in STATE
    if field.name not in (*_OUTSIDE, "maybe_locked")
)
_BODIES = (
    "seed last_damage hp missing level own_species own_stats status sleep sleep_by_foe sub_fainted "
    "species types single stats modified boosts transformed conditions substitute toxic_counter"
)
_LOCKS = (
    "bide_time bide_damage confusion disable_time disable_slot locked_move locked_time "
    "locked_accuracy rage_accuracy trapped_duration trapped_source fake_duration fake_counterpart "
    "lock_move lock_duration lock_total lock_damage lock_target charging"
)
_SLOTS = "own_moves pp virtual virtual_moves virtual_pp selected_slot"
_MEMORY = "last_move side_last_move selected_move speed"
_BENCH = "bench_status bench_by_foe clauses"


def names(text: str) -> tuple[str, ...]:
    """Return the names that a text lists."""
    return tuple(text.split())


def _scene(*lists: str) -> tuple[Field, ...]:
    return tuple(SCENE[name] for text in lists for name in names(text))


def _whole(
    name: str, dtype: str, low: int, high: int, shape: tuple[int, ...] = (), doc: str = ""
) -> Field:
    return Field(name, dtype, shape, low=low, high=high, step=1, doc=doc)


def _found(name: str, dtype: str, shape: tuple[int, ...] = (), doc: str = "") -> Field:
    return Field(name, dtype, shape, doc=doc)


_MOVE = _whole("move", "uint8", 1, 165)
_GENES = (
    _whole("iv", "uint8", 0, 31, (6,), "hp, then as of stats"),
    _whole("ev", "uint8", 0, 255, (6,), "hp, then as of stats"),
)

CALLED: tuple[Module, ...] = (
    Module(
        "generator",
        (
            SCENE["seed"],
            _whole("n", "uint16", 1, 65535),
            _whole("skipped", "uint8", 0, 8, doc="draws before the one that counts"),
        ),
        (_found("seed", "uint32", _PAIR), _found("drawn", "int32")),
        landmarks=(256.0, 39.0),
        source="sim/prng.js: Gen5RNG",
        owns=names("seed"),
        doc="Draws a number below n.",
    ),
    Module(
        "member",
        (
            _whole("own_species", "uint8", 1, 151),
            _whole("level", "uint8", 1, 255),
            _whole("moves", "uint8", 1, 164, (4,)),
            *_GENES,
        ),
        (
            Field("born", "int16", (6,), names=("hp", *STATS)),
            _found("pp_born", "uint8", (4,), "PP after three PP Ups"),
        ),
        source="sim/pokemon.js: constructor; sim/battle.js: statModify",
        owns=names("base_stats"),
        doc="Makes a Pokemon: its HP, stats and PP.",
    ),
    Module(
        "boosts",
        (
            *_scene("stats modified boosts"),
            _whole("stat", "uint8", 0, len(BOOSTS) - 1),
            _whole("amount", "int8", 1, 2),
            _whole("lowers", "bool", 0, 1),
        ),
        (*(f for f in _RESULT if f.name in ("modified", "boosts")), _found("changed", "bool")),
        landmarks=(999.0, 998.0, 666.0, 2.0),
        source="gen1/scripts.js: boostBy",
        owns=names("stats modified boosts"),
        doc="Raises or lowers one stage, with the caps at 999 and 1.",
    ),
    Module(
        "types",
        (_MOVE, *_scene("types single")),
        (_found("immune", "bool"), _found("effect", "int8", doc="of both types together")),
        source="sim/pokemon.js: runImmunity, runEffectiveness; gen1/typechart.js",
        owns=names("types"),
        doc="Looks up what the foe's types make of a move.",
    ),
    Module(
        "damage",
        (
            _MOVE,
            *_scene(
                "seed last_damage hp missing level own_species own_stats types single modified"
            ),
            *_scene("conditions side_last_move selected_move lock_move lock_target lock_damage"),
        ),
        (_found("seed", "uint32", _PAIR), _found("amount", "int32"), _found("fails", "bool")),
        landmarks=(255.0, 256.0, 512.0),
        source="gen1/scripts.js: getDamage; gen1/moves.js: damageCallback",
        owns=names("hp last_damage substitute sub_fainted"),
        doc="Rolls for a critical hit and computes what a move takes from the foe.",
    ),
    Module(
        "status",
        (
            *_scene("seed hp status sleep types single conditions toxic_counter", _BENCH),
            _whole("new_status", "uint8", 1, 6),
            _whole("by_foe", "bool", 0, 1, doc="or by its own doing"),
        ),
        (*_RESULT, _found("takes", "bool")),
        source="sim/pokemon.js: setStatus; gen1/conditions.js; data/rulesets.js",
        owns=names("status sleep sleep_by_foe confusion toxic_counter"),
        doc="Gives player 2's Pokemon a status, if it and the clauses let it.",
    ),
    Module(
        "before",
        _scene(_BODIES, _LOCKS, _SLOTS, "last_move"),
        (*_RESULT, _found("goes", "bool")),
        source="BeforeMove in gen1/conditions.js and gen1/moves.js",
        owns=names("confusion disable_time bide_time bide_damage"),
        doc="Asks everything that may keep a Pokemon from moving.",
    ),
    Module(
        "after",
        _scene("seed hp missing status sleep conditions toxic_counter"),
        _RESULT,
        source="AfterMoveSelf in gen1/conditions.js and gen1/moves.js",
        owns=(),
        doc="Takes what poison, burn and Leech Seed take, and wakes a sleeper.",
    ),
    Module(
        "residual",
        _scene("seed speed modified conditions", _LOCKS),
        _RESULT,
        source="sim/battle.js: fieldEvent('Residual'), eachEvent('Update')",
        owns=names("trapped_duration fake_duration lock_duration"),
        doc="Counts down what lasts for turns; handlers that tie draw.",
    ),
    Module(
        "order",
        (
            *_scene("seed modified"),
            _whole("chosen", "uint8", 1, 165, _PAIR, "by both players"),
            _whole("leaves", "bool", 0, 1, _PAIR, "whether a player switches instead"),
        ),
        (_found("seed", "uint32", _PAIR), _found("second_first", "bool")),
        source="sim/battle-queue.js: resolveAction, sort; sim/battle.js: speedSort",
        owns=names("speed"),
        doc="Sorts both players' actions.",
    ),
    Module(
        "legal",
        _scene(_SLOTS, "status conditions disabled maybe_locked bench_fainted", _LOCKS),
        (_found("legal", "bool", (2, 10)),),
        source="sim/pokemon.js: getMoveRequestData; gen1/scripts.js",
        owns=names("legal acting request"),
        doc="Tells what both players may choose at the beginning of a turn.",
    ),
    Module(
        "switch",
        _scene(_BODIES, _LOCKS, _SLOTS, _MEMORY, "bench_status bench_by_foe"),
        # The draws are those of ties among all arrivals, and include the foe's memory.
        tuple(f for f in _RESULT if f.name not in ("seed", "last_move", "selected_move")),
        source="sim/battle-actions.js: switchIn, runSwitch; sim/pokemon.js: clearVolatile",
        owns=names("order seen fainted species transformed"),
        doc="Sends in player 1's other member.",
    ),
    Module(
        "move",
        _scene(_BODIES, _LOCKS, _SLOTS, _MEMORY, _BENCH),
        _RESULT,
        source="gen1/scripts.js: runMove",
        owns=names(
            "flags last_move side_last_move charging locked_move locked_time locked_accuracy "
            "rage_accuracy lock_move lock_total lock_damage lock_target trapped_source "
            "trapped_hidden fake_counterpart disable_slot disable_move"
        ),
        doc="Lets player 1's Pokemon use its move, with all that follows at once.",
    ),
)
#: Events that only whole steps show.
_SEEN = (
    Module("slots", (), (), owns=names("pp move_pp moves virtual disabled revealed")),
    Module("selection", (), (), owns=names("selected_move selected_slot maybe_locked")),
    Module("flow", (), (), owns=names("turn winner reward terminated")),
    Module("observation", (), (), owns=("obs",)),
)


def modules(called: bool) -> tuple[Module, ...]:
    """Return the modules of a variant. called: whether this variant calls them alone."""
    alone = CALLED if called else (dataclasses.replace(m, inputs=(), outputs=()) for m in CALLED)
    return (*alone, *_SEEN)
