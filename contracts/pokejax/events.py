"""The observable events of a step of a battle: the coverage that a report counts."""

from __future__ import annotations

import functools
import json
from pathlib import Path

#: By the lines of the reference's log, then each move by its number.
EVENTS: tuple[str, ...] = (
    "crit",
    "miss",
    "immune",
    "supereffective",
    "resisted",
    "fail",
    "notarget",
    "ohko",
    "mustrecharge",
    "prepare",
    "transform",
    "unboost",
    "boost",
    "heal",
    "nothing",
    "hitcount",
    "faint",
    "switch",
    "win",
    "tie",
    "clearallboost",
    "fieldactivate",
    "cannot move: slp",
    "cannot move: frz",
    "cannot move: par",
    "cannot move: flinch",
    "cannot move: partiallytrapped",
    "cannot move: recharge",
    "cannot move: Disable",
    "caught brn",
    "caught par",
    "caught slp",
    "caught frz",
    "caught psn",
    "caught tox",
    "cured brn",
    "cured par",
    "cured slp",
    "cured frz",
    "cured psn",
    "cured tox",
    "began confusion",
    "began Disable",
    "began Substitute",
    "began Bide",
    "began Mist",
    "began Mimic",
    "began Reflect",
    "began Light Screen",
    "began typechange",
    "began Leech Seed",
    "began Focus Energy",
    "ended confusion",
    "ended Disable",
    "ended Substitute",
    "ended Bide",
    "active confusion",
    "active Substitute",
    "active Bide",
    "active Haze",
    "active Mist",
    "2 hits",
    "3 hits",
    "4 hits",
    "5 hits",
    "from Recoil",
    "from confusion",
    "from drain",
    "from psn",
    "from brn",
    "from Leech Seed",
    "from Metronome",
    "from Mirror Move",
    "pp underflow",
    "desync clause",
    "missed by 1 in 256",
    "roll-over",
    "division by zero",
    "counted toxic",
    "leech seed with toxic",
    "boost at 999",
    "drop at 1",
    "recovery fails",
    "recharge slept through",
    "binding ends recharge",
    "semi-invulnerable glitch",
    "explosion breaks substitute",
    "rage builds by a miss",
    "substitute takes confusion",
    "confused through substitute",
    "bide forgets",
    "soft lock",
    "sleep clause",
    "Freeze Clause activated",
    "This battle cannot progress",
    *(f"move {number}" for number in range(1, 166)),
)


@functools.cache
def _reached() -> dict[str, list[str]]:
    return json.loads(Path(__file__).with_name("reached.json").read_text())["reached"]


def reached(rules: str, teams: str) -> tuple[str, ...]:
    """Return the events that play of these teams under these rules is certain to meet.

    From reached.json, which tools/pokejax/reached.py writes; none for teams not in it.
    """
    found = set(_reached().get(f"{rules} {teams}", ()))
    return tuple(name for name in EVENTS if name in found)
