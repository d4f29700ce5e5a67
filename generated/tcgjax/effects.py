"""The meaning of every effect code as numbers: effects.csv, one row a code, read when imported.

An attack, an ability and a trainer card have one effect at most, and all use one pipeline
(attack.py, apply.py) that reads its numbers here. An empty cell is 0. The columns:

- where: where a trainer card may be played or an ability used (R90 to R114), one of WHERE.
- names: names of Pokemon to which the effect refers, separated by |.
- coins: the number flipped; UNTIL_TAILS: until tails. use: `needed`: with tails no effect follows
the damage; `nothing`: with tails there is no damage either (R59).
- plus, times: damage for each heads. both: damage if all are heads. tails: damage to itself for
  each tails.
- count: the thing counted, one of COUNTS; count_type, extra: its type, the number needed (R120);
count_plus, count_times: damage for each.
- aim: the target to choose for damage; aim_damage: the amount. spread: damage to the other's
Bench. picks, pick_damage: R125. self_damage: R126.
- heal: the amount; each: from each own Pokemon. drain: R127.
- condition, poison: of the other's Active Pokemon. no_attack, no_retreat, weaken, guard, immune,
  no_supporters: R129 to R131.
- discard, discards: the type of energies, their number; `all`. discard_foe: R133.
- attach: the type of energy; attach_to: the target. per_heads: one for each heads.
- draw, foe_draw: cards. peek: R87. reveal, discard_hand: the other's hand. search, search_to: the
Pokemon of the deck, its new place. pile: the pile moved as a whole, one of PILES.
- ask: the choice opened when all else is done.
- quick, bonus, blaze: effects for this turn (R46, R60).
- shell, counter, silence: abilities always at work (R115, R116). copy: R139.
"""

from __future__ import annotations

import csv
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.contracts.tcgjax.cards import ENERGY, codes
from twinstep.generated.tcgjax.stage import Record

Array = jax.Array

UNTIL_TAILS = 99
WHERE = (
    "never", "always", "foe-hand", "own-deck", "names-in-play", "names-active", "foe-bench",
    "names-lightning", "damaged", "grass-damaged", "water", "names-target", "any-damaged",
    "active-foe-basic", "active-psychic", "active",
)  # fmt: skip
COUNTS = ("", "bench", "foe-energy", "foe-damaged", "foe-poisoned", "self-damaged", "extra")
AIMS = ("", "foe", "foe-bench", "own-bench")
PILES = ("", "hand-under", "foe-under", "take-back", "gather")
ASKS = ("", "switch", "push", "pull", "snipe")
SEARCHES = ("", "basic", "grass", "names")
TARGETS = ("", "target", "active", "choice")
ALL = len(ENERGY) + 1
_WORDS: dict[str, tuple[str, ...]] = {
    "where": WHERE,
    "use": ("", "needed", "nothing"),
    "count": COUNTS,
    "count_type": ("", *ENERGY),
    "aim": AIMS,
    "condition": ("", "asleep", "paralyzed", "confused"),
    "discard": ("", *ENERGY, "all"),
    "attach": ("", *ENERGY),
    "attach_to": TARGETS,
    "search": SEARCHES,
    "search_to": ("", "hand", "bench"),
    "pile": PILES,
    "ask": ASKS,
}


def _read() -> tuple[tuple[str, ...], dict[str, dict[str, int]], tuple[tuple[str, ...], ...]]:
    with Path(__file__).with_name("effects.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = tuple(column for column in rows[0] if column != "code")
    groups = tuple(tuple(row["names"].split("|")) for row in rows if row["names"])
    found = {row["code"]: {c: _number(c, row[c], groups) for c in columns} for row in rows}
    return columns, found, groups


def _number(column: str, text: str, groups: tuple[tuple[str, ...], ...]) -> int:
    if column == "names":
        return groups.index(tuple(text.split("|"))) + 1 if text else 0
    if column in _WORDS:
        return _WORDS[column].index(text) if text else 0
    return int(text or 0)


#: The columns; the row of every code; the names that effects refer to: group n, from 1, at n - 1.
COLUMNS, EFFECTS, GROUPS = _read()
#: Number of a code: its place among all codes, from 1; 0 is no effect.
NUMBERS = {"": 0} | {code: number for number, code in enumerate(codes(), 1)}
_TABLE = np.array(
    [[0] * len(COLUMNS), *([EFFECTS[code][c] for c in COLUMNS] for code in codes())], np.int16
)
#: The damage after the choice of R108, which a state does not keep.
SNIPE = max(row["aim_damage"] for row in EFFECTS.values() if row["ask"] == ASKS.index("snipe"))
#: The group whose attacks `blaze` helps (R99).
BLAZING = max(row["names"] for row in EFFECTS.values() if row["blaze"])


class Effect(Record):
    """One row of the table: an attribute i32[] for every column."""

    def __init__(self, code: Array) -> None:
        self.row = jnp.asarray(_TABLE)[code]

    def __getattr__(self, name: str) -> Array:
        if name not in COLUMNS:
            raise AttributeError(name)
        return self.row[COLUMNS.index(name)].astype(jnp.int32)


def passive(column: str, code: Array) -> Array:
    """Return i32[...]: the number in a column for each code, for columns that few codes fill."""
    number = jnp.zeros_like(code)
    for name, row in EFFECTS.items():
        if row[column]:
            number = jnp.where(code == NUMBERS[name], row[column], number)
    return number


def groups_where(where: str) -> int:
    """Return the group of names of the one code with this condition."""
    index = WHERE.index(where)
    return max(row["names"] for row in EFFECTS.values() if row["where"] == index)
