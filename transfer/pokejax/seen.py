"""Observations of a battle, read by the names of their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contracts.pokejax.layout import OBSERVATION, TYPES
from twinstep.frames import Array
from twinstep.generated.pokejax.tables import COLUMNS, EFFECTIVENESS, SPECIES

MOVES, MEMBERS = 4, 6
#: No type: its row and column are neutral.
NONE = len(TYPES)
#: Attacking type, defending type -> damage in halves: 0, 1, 2 or 4.
_HALVES = np.array([2, 4, 0, 1])[EFFECTIVENESS.reshape(16, 16) % 4].astype(np.int32)

_PLACE = {name: place for place, name in enumerate(OBSERVATION)}


class Seen:
    """Observations i16[..., D]; the values are i32. xp: the module of the arrays."""

    def __init__(self, obs: Array, xp: Any) -> None:
        self.obs, self.xp = obs, xp

    def one(self, name: str) -> Array:
        """Return one value, [...]."""
        return self.obs[..., _PLACE[name]].astype(np.int32)

    def many(self, pattern: str, count: int) -> Array:
        """Return a value of each slot or member, [..., count]; `*` stands for its number."""
        places = [_PLACE[pattern.replace("*", str(i + 1))] for i in range(count)]
        return self.obs[..., np.array(places)].astype(np.int32)

    def types(self, species: Array) -> Array:
        """Return i32[..., 2] of species numbers."""
        return self.xp.stack([self.table(SPECIES[6 + i], species) for i in range(2)], -1)

    def table(self, values: np.ndarray, index: Array) -> Array:
        """Return the values at an index inside the array."""
        return self.xp.asarray(values)[index]

    def against(self, attacking: Array, defending: Array) -> Array:
        """Return the damage in quarters, 0 to 16, of a type [...] to types [..., 2]."""
        each = [self.table(_HALVES.ravel(), attacking * 16 + defending[..., i]) for i in range(2)]
        return each[0] * each[1]

    def worth(self, moves: Array, own: Array, foe: Array) -> Array:
        """Return power x accuracy x same-type bonus x effectiveness of moves, i32[..., M].

        own, foe: types [..., 2]. Below 2**22. Power 0, including fixed damage, is worth 0.
        """
        kind = self.table(COLUMNS["type"], moves)
        power = self.table(COLUMNS["power"], moves)
        accuracy = self.table(COLUMNS["accuracy"], moves)
        accuracy = self.xp.where(accuracy == 0, 255, accuracy)
        same = (kind[..., None] == own[..., None, :]).any(-1) & (kind != NONE)
        return power * accuracy * self.xp.where(same, 3, 2) * self.against(kind, foe[..., None, :])
