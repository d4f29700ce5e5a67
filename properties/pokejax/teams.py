"""Battles of chosen teams, for tests that need these very members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from twinstep.frames import Start

#: IVs and EVs at their best.
GENES = [30] * 6 + [255] * 6
#: A member: its species, then one to four moves, all by number.
Member = Sequence[int]


def starts_of(pairs: Iterable[tuple[Sequence[Member], Sequence[Member]]]) -> Start:
    """Return a start for each pair of teams: level 100, the first rule set, one seed for all."""
    teams = np.array([[_team(one), _team(two)] for one, two in pairs], np.uint8)
    seeds = np.tile(np.array([1, 2], np.uint32), (len(teams), 1))
    return Start(seeds, {"rules": np.zeros(len(teams), np.uint8), "team": teams})


def _team(members: Sequence[Member]) -> list[list[int]]:
    rows = [[kind, 100, *(*moves, 0, 0, 0)[:4], *GENES] for kind, *moves in members]
    return rows + [[0] * 18] * (6 - len(rows))
