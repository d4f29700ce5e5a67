"""The tables of moves, species and types, packed for look-ups by number.

Read from `tables.json`, which tools/pokejax/tables.js writes from the reference's data. A row of
the move table is a few 32-bit words of bit fields, so that a look-up costs few gathers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.pokejax.words import words

Array = jax.Array

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("tables.json").read_text())

NO_TYPE = 15
#: Mark of a side that must not move: the second word of Haze's soft lock.
CANNOT_MOVE = 166

VOLATILES = (
    "",
    "partiallytrapped",
    "bide",
    "confusion",
    "defensecurl",
    "disable",
    "focusenergy",
    "leechseed",
    "lightscreen",
    "minimize",
    "mist",
    "reflect",
    "substitute",
)
SELF_VOLATILES = ("", "lockedmove", "mustrecharge", "partialtrappinglock", "rage")
SECONDARY_VOLATILES = ("", "confusion", "flinch")

_NUMBER = {row["id"]: number for number, row in enumerate(_DATA["moves"], 1)}
#: The moves that do not reset the last damage to 0 (`SKIP_LASTDAMAGE` in gen1/scripts.ts).
KEEPS_LAST_DAMAGE = words(
    "confuseray conversion counter focusenergy glare haze leechseed lightscreen "
    "mimic mist poisongas poisonpowder recover reflect rest softboiled splash "
    "stunspore substitute supersonic teleport thunderwave toxic transform"
)
TWO_TURNS = ["dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"]
#: Moves with a rule of their own.
SPECIAL = words(
    "bide conversion counter dig disable dreameater fly haze highjumpkick "
    "jumpkick leechseed lightscreen metronome mimic mirrormove psywave recover "
    "reflect rest softboiled struggle substitute superfang swift teleport "
    "transform"
)


def number(name: str) -> int:
    """Return the number of the move with this identifier, as in `thunderwave`."""
    return _NUMBER[name]


def _columns() -> dict[str, np.ndarray]:
    """Return the columns of the move table, i32[167]: row 0 and CANNOT_MOVE are no moves."""
    rows = _DATA["moves"]
    blank = {
        "type": NO_TYPE,
        "category": 2,
        "ignores_immunity": True,
        "hits": 1,
    }
    columns: dict[str, np.ndarray] = {}

    def add(name: str, values: list[Any], default: Any = 0) -> None:
        columns[name] = np.array([default, *values, default], np.int32)

    plain = (
        "power category priority high_critical at_self ohko fixed_damage hits recoil drains "
        "self_destructs ignores_immunity status boost_stats boost_amount secondary_chance "
        "secondary_status secondary_stats secondary_amount called_by_metronome pp"
    )
    for name in plain.split():
        add(name, [row[name] for row in rows], blank.get(name, 0))
    add("type", [row["type"] if row["type"] >= 0 else NO_TYPE for row in rows], NO_TYPE)
    # 0 is a move that cannot miss; the others count in 255ths, rounded down as scripts.ts does.
    add("accuracy", [row["accuracy"] * 255 // 100 for row in rows])
    add("volatile", [VOLATILES.index(row["volatile"]) for row in rows])
    add("self_volatile", [SELF_VOLATILES.index(row["self_volatile"]) for row in rows])
    add(
        "secondary_volatile",
        [SECONDARY_VOLATILES.index(row["secondary_volatile"]) for row in rows],
    )
    add("keeps_last_damage", [row["id"] in KEEPS_LAST_DAMAGE for row in rows])
    add("two_turns", [row["id"] in TWO_TURNS for row in rows])
    add("special", [SPECIAL.index(row["id"]) + 1 if row["id"] in SPECIAL else 0 for row in rows])
    # Counter answers damaging Normal and Fighting moves other than itself.
    types = [_DATA["types"][row["type"]] if row["type"] >= 0 else "" for row in rows]
    add(
        "counterable",
        [
            row["power"] > 0 and kind in ("Normal", "Fighting") and row["id"] != "counter"
            for row, kind in zip(rows, types, strict=True)
        ],
    )
    return columns


COLUMNS = _columns()
FLAGS = {
    "high_critical",
    "at_self",
    "ohko",
    "drains",
    "self_destructs",
    "ignores_immunity",
    "called_by_metronome",
    "keeps_last_damage",
    "two_turns",
    "counterable",
}


def _packed() -> tuple[np.ndarray, dict[str, tuple[int, int, int, int]]]:
    """Return u32[W, 167] and, by column: word, shift, mask and the value that 0 stands for."""
    words: list[np.ndarray] = []
    free: list[int] = []
    places: dict[str, tuple[int, int, int, int]] = {}
    for name in sorted(COLUMNS, key=lambda n: -int(np.ptp(COLUMNS[n]))):
        values = COLUMNS[name]
        low = int(values.min())
        bits = int(np.ptp(values)).bit_length()
        word = next((i for i, used in enumerate(free) if used + bits <= 32), len(words))
        if word == len(words):
            words.append(np.zeros(len(values), np.uint32))
            free.append(0)
        words[word] |= (values - low).astype(np.uint32) << np.uint32(free[word])
        places[name] = (word, free[word], (1 << bits) - 1, low)
        free[word] += bits
    return np.stack(words), places


WORDS, _PLACES = _packed()


@jax.tree_util.register_pytree_node_class
class Move:
    """The table's row of a move number i32[...]; columns are read as attributes."""

    def __init__(self, number: Array, words: list[Array] | None = None) -> None:
        self.number = number
        self._words = [look_up(row, number) for row in WORDS] if words is None else words

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name not in _PLACES:
            raise AttributeError(name)
        word, shift, mask, low = _PLACES[name]
        value = (self._words[word] >> np.uint32(shift)) & np.uint32(mask)
        return value != 0 if name in FLAGS else value.astype(jnp.int32) + low

    def is_a(self, *names: str) -> Array:
        """Return whether the move is one of these, all of them in SPECIAL."""
        found = [self.special == SPECIAL.index(name) + 1 for name in names]
        return any_of(*found)

    def tree_flatten(self) -> tuple[tuple[Array, list[Array]], None]:
        """Return the leaves for JAX."""
        return (self.number, self._words), None

    @classmethod
    def tree_unflatten(cls, _: None, leaves: tuple[Array, list[Array]]) -> Move:
        """Build it from leaves for JAX."""
        return cls(*leaves)


def any_of(*conditions: Array) -> Array:
    """Return the disjunction of bool[...] arrays."""
    total = conditions[0]
    for condition in conditions[1:]:
        total = total | condition
    return total


def look_up(table: np.ndarray, index: Array) -> Array:
    """Return the table's entries at i32[...], all inside the table."""
    return jnp.asarray(table).at[index].get(mode="promise_in_bounds")


def _species() -> np.ndarray:
    """Return i32[8, 152]: six base stats and two types by species number; 0 is none."""
    rows = [[0] * 6 + [NO_TYPE] * 2]
    for row in _DATA["species"]:
        kinds = [*row["types"], NO_TYPE][:2]
        rows.append([*row["stats"], *kinds])
    return np.array(rows, np.int32).T.copy()


SPECIES = _species()


def _effectiveness() -> np.ndarray:
    """Return i32[256]: attacking type * 16 + defending -> 0 neutral, 1 super, -1, -2 immune."""
    table = np.zeros((16, 16), np.int32)
    given = np.array(_DATA["effectiveness"], np.int32)
    table[: len(given), : len(given)] = given
    return table.reshape(-1)


EFFECTIVENESS = _effectiveness()
GHOST = _DATA["types"].index("Ghost")
GRASS = _DATA["types"].index("Grass")
NORMAL = _DATA["types"].index("Normal")
POISON = _DATA["types"].index("Poison")

#: Moves that Metronome can call, in the order it draws from.
CALLED = np.flatnonzero(COLUMNS["called_by_metronome"]).astype(np.int32)
#: The numerator over 100 of a stat's or an accuracy's stage -6 to 6; `floor(x * n / 100)` equals
#: the float64 result of scripts.ts for every possible stat.
STAGES = np.array([25, 28, 33, 40, 50, 66, 100, 150, 200, 250, 300, 350, 400], np.int32)
#: Hits of a move that hits two to five times, and turns of a binding one, by a draw below 8.
HITS = np.array([2, 2, 2, 3, 3, 3, 4, 5], np.int32)
