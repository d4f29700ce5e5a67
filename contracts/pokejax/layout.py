"""Layout of a Generation 1 battle: the names of all values of a frame's state and an observation.

Numbers of moves, species and types are those of the reference's data: moves 1 to 165 and species 1
to 151 as the games number them, types in alphabetical order, 15 for none. Move 166 marks a side
that must not move (the reference calls it `cannotmove`).
"""

from __future__ import annotations

from twinstep.contract import Field, Role

TYPES = (
    *("Bug", "Dragon", "Electric", "Fighting", "Fire", "Flying", "Ghost", "Grass", "Ground"),
    *("Ice", "Normal", "Poison", "Psychic", "Rock", "Water"),
)
#: Rule sets of the reference.
FORMATS = ("gen1customgame", "gen1randombattle", "gen1ou")
STATUSES = ("", "brn", "par", "slp", "frz", "psn", "tox", "fnt")
STATS = ("atk", "def", "spa", "spd", "spe")
BOOSTS = (*STATS, "accuracy", "evasion")
#: A member of a team as 18 integers; level 0: there is none.
SET = (
    "species",
    "level",
    *(f"move_{i}" for i in range(1, 5)),
    *(f"iv_{stat}" for stat in ("hp", *STATS)),
    *(f"ev_{stat}" for stat in ("hp", *STATS)),
)
FLAGS = (
    "flinch",
    "focusenergy",
    "invulnerability",
    "leechseed",
    "lightscreen",
    "mist",
    "mustrecharge",
    "reflect",
    "minimize",
    "defensecurl",
    "residualdmg",
)

_MOVES = 166


def _of(
    name: str, dtype: str, shape: tuple[int, ...], high: int, low: int = 0, doc: str = "", names=()
) -> Field:
    return Field(name, dtype, shape, low=low, high=high, step=1, names=tuple(names), doc=doc)


TEAM = _of("team", "uint8", (2, 6, 18), 255, names=SET, doc="what each member was made from")
RULES = _of("rules", "uint8", (), len(FORMATS) - 1, doc=f"by number: {', '.join(FORMATS)}")

STATE: tuple[Field, ...] = (
    _of("seed", "uint32", (2,), 2**32 - 1, doc="the generator's 64 bits, upper word first"),
    _of("turn", "int16", (), 1001),
    _of("last_damage", "int32", (), 2**31 - 1, doc="what Counter and Bide look at"),
    _of("winner", "uint8", (), 3, doc="0 nobody yet, 1, 2, 3 a tie"),
    _of("request", "uint8", (2,), 2, doc="0 none, 1 a move or a switch, 2 a switch"),
    _of("order", "uint8", (2, 6), 5, doc="members by position; the first one fights"),
    _of("selected_move", "uint8", (2,), _MOVES, doc="`lastSelectedMove`; 0 before the first"),
    _of("selected_slot", "uint8", (2,), 3, doc="`lastSelectedMoveSlot`"),
    _of("side_last_move", "uint8", (2,), _MOVES, doc="`Side.lastMove`"),
    RULES,
    TEAM,
    _of("base_stats", "int16", (2, 6, 6), 9999, names=("hp", *STATS), doc="`baseStoredStats`"),
    _of("hp", "int16", (2, 6), 9999),
    _of("status", "uint8", (2, 6), 7, doc=f"by number: {', '.join(STATUSES[1:])}"),
    _of("sleep", "int8", (2, 6), 7, doc="turns left, of one that sleeps"),
    _of("sleep_by_foe", "bool", (2, 6), 1, doc="whether the Sleep Clause counts it"),
    _of("fainted", "bool", (2, 6), 1),
    _of("sub_fainted", "bool", (2, 6), 1, doc="its substitute broke, and no move cleared that"),
    _of("pp", "uint8", (2, 6, 4), 63),
    _of("seen", "uint8", (2, 6), 6, doc="which one it was to come in, from 1; 0: not yet"),
    _of("revealed", "bool", (2, 6, 4), 1, doc="whether the log has shown this move of its own"),
    _of("species", "uint8", (2,), 151, doc="of the one that fights; a copy has its foe's"),
    _of("types", "uint8", (2, 2), 15),
    _of("stats", "int16", (2, 5), 9999, names=STATS, doc="`storedStats`"),
    _of("modified", "int16", (2, 5), 9999, names=STATS, doc="`modifiedStats`"),
    _of("boosts", "int8", (2, 7), 6, -6, names=BOOSTS),
    _of("speed", "int16", (2,), 9999, doc="what ties compare; renewed at certain times only"),
    _of("transformed", "bool", (2,), 1),
    _of("moves", "uint8", (2, 4), _MOVES),
    _of("move_pp", "uint8", (2, 4), 63),
    _of("virtual", "bool", (2, 4), 1, doc="slots that Mimic or Transform made"),
    _of("disabled", "bool", (2, 4), 1, doc="at a request for a move"),
    _of("last_move", "uint8", (2,), _MOVES, doc="`Pokemon.lastMove`, what Mirror Move looks at"),
    _of("maybe_locked", "bool", (2,), 1, doc="the request hides a lock; at one for a move"),
    _of("flags", "bool", (2, len(FLAGS)), 1, names=FLAGS),
    _of("bide_time", "uint8", (2,), 3),
    _of("bide_damage", "int32", (2,), 2**31 - 1),
    _of("confusion", "uint8", (2,), 5),
    _of("disable_time", "uint8", (2,), 8),
    _of("disable_slot", "uint8", (2,), 3),
    _of("disable_move", "uint8", (2,), _MOVES),
    _of("locked_move", "uint8", (2,), _MOVES, doc="Thrash or Petal Dance"),
    _of("locked_time", "int8", (2,), 3, -128),
    _of("locked_accuracy", "uint8", (2,), 255),
    _of("rage_accuracy", "uint8", (2,), 255, doc="0: it does not rage"),
    _of("trapped_duration", "uint8", (2,), 2, doc="`partiallytrapped`"),
    _of("trapped_hidden", "bool", (2,), 1),
    _of("trapped_source", "uint8", (2,), 5, doc="the foe's member that binds it"),
    _of("fake_duration", "uint8", (2,), 2, doc="`fakepartiallytrapped`"),
    _of("fake_counterpart", "uint8", (2,), 5),
    _of("lock_move", "uint8", (2,), _MOVES, doc="`partialtrappinglock`: it binds its foe"),
    _of("lock_duration", "uint8", (2,), 5),
    _of("lock_total", "uint8", (2,), 5),
    _of("lock_damage", "int32", (2,), 2**31 - 1),
    _of("lock_target", "uint8", (2,), 5),
    _of("toxic_counter", "int16", (2,), 9999, doc="of `residualdmg`"),
    _of("substitute", "int16", (2,), 9999, doc="its HP; 0: there is none"),
    _of("charging", "uint8", (2,), _MOVES, doc="`twoturnmove`"),
)
assert not any(field.role is not Role.COMPARED for field in STATE)

_SHOWN = (
    *(f"boost_{stat}" for stat in BOOSTS),
    *(
        "substitute",
        "reflect",
        "light_screen",
        "leech_seed",
        "mist",
        "focus_energy",
        "confused",
        "invulnerable",
        "recharging",
        "biding",
        "raging",
        "transformed",
        "charging",
    ),
)
_BODY = ("species", "type_1", "type_2")
_SLOT = ("move", "pp", "type", "power", "accuracy", "effectiveness", "usable")
_OWN = (
    "species",
    "level",
    "hp",
    "max_hp",
    "status",
    "fights",
    "fainted",
    "atk",
    "def",
    "spa",
    "spd",
    "spe",
    "move_1",
    "move_2",
    "move_3",
    "move_4",
    "pp_1",
    "pp_2",
    "pp_3",
    "pp_4",
)
_FOE = (
    "species",
    "level",
    "hp_percent",
    "status",
    "fights",
    "fainted",
    "move_1",
    "move_2",
    "move_3",
    "move_4",
)

#: A player's observation, in the order of its values. Own members stand in their team's order, the
#: foe's in the order in which they came in, their revealed moves by number. accuracy 0: it cannot
#: miss. effectiveness: super effective types minus resisting ones, -3 if one is immune.
OBSERVATION: tuple[str, ...] = (
    *("turn", "asked", "left", "foe_left"),
    *_BODY,
    *_SHOWN,
    "locked",
    *(f"slot_{i}_{name}" for i in range(1, 5) for name in _SLOT),
    *(f"own_{i}_{name}" for i in range(1, 7) for name in _OWN),
    *(f"foe_{name}" for name in (*_BODY, "level", "hp_percent", "status", *_SHOWN, "disabled")),
    *(f"foe_{i}_{name}" for i in range(1, 7) for name in _FOE),
)
ACTIONS = (*(f"move {i}" for i in range(1, 5)), *(f"member {i}" for i in range(1, 7)))
