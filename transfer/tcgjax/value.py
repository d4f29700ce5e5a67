"""The value of a position to the observing player: points, HP, energy, attacks, the board.

The weights follow a linear fit of the winner to the positions at the beginning of 22,538 turns of
the script that slips in one of eight decisions, in thousandths of the difference between a win and
a tie. A Pokemon counts by its HP and its attacks and has no other value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.frames import Array
from twinstep.transfer.tcgjax import facts
from twinstep.transfer.tcgjax.seen import Seen, Team, lacks, ready, row, team, usual

#: A point; the cost of an empty Bench; a stage, an energy (of four a Pokemon), a card in
#: hand; a condition; the damage that is promised; a promised knock-out, for each of its points.
_POINT, _ALONE, _STAGE, _ENERGY, _CARD, _ILL, _DAMAGE, _FALLS = 280, 150, 40, 28, 3, 180, 3, 100
#: An HP of the Active Pokemon, and of the Benched ones.
_HP = (3, 1, 1, 1)


def worth(obs: Array, xp: Any = np) -> Array:
    """Return i32[...] of observations [..., 267]: above 0 if the observing player stands better."""
    seen = Seen(obs, xp)
    own, foe = team(seen, "my"), team(seen, "other")
    # The player not on turn has an energy more by the time of its attack.
    turns = (seen.one("my turn") == 1) & (seen.one("turn") > 0)
    here = _side(seen, "my", own) + _threat(seen, own, foe, turns)
    there = _side(seen, "other", foe) + _threat(seen, foe, own, ~turns)
    played = xp.where(ready(seen, own, foe.card[..., 0])[..., 0] > 0, seen.one("bonus"), 0)
    return here - there + xp.where(turns, _DAMAGE * played, 0)


def _side(seen: Seen, who: str, side: Team) -> Array:
    xp = seen.xp
    lives = xp.maximum(side.left, 0) * row(_HP, side.left.ndim)
    stage = seen.table(facts.STAGE, side.card) * _STAGE
    nobody = xp.zeros_like(side.card[..., 0])
    promised = (usual(seen, side.card, nobody) // (1 + lacks(seen, side.card, side.energy))).max(-1)
    energy = xp.minimum(side.energy.sum(-1, dtype=np.int32), 4) * _ENERGY
    ill = sum(
        (seen.one(f"{who} {name}") > 0).astype(np.int32)
        for name in ("condition", "poisoned", "burned", "no attack")
    )
    alone = side.there.sum(-1, dtype=np.int32) == 1
    each = (lives + stage + 2 * promised + energy).sum(-1, dtype=np.int32)
    rest = seen.one(f"{who} points") * _POINT + seen.one(f"{who} hand") * _CARD
    # A card out of the deck has a small value: a searched card is better than one that lies there.
    return each + rest - seen.one(f"{who} deck") - ill * _ILL - xp.where(alone, _ALONE, 0)


def _threat(seen: Seen, side: Team, other: Team, turns: Array) -> Array:
    """Return i32[...]: the coming damage of the Active Pokemon to the other one."""
    xp = seen.xp
    target = other.card[..., 0]
    now, soon = (ready(seen, side, target, energy=n)[..., 0] for n in (0, 1))
    does, left = xp.where(turns, now, soon), xp.maximum(other.left[..., 0], 0)
    falls = (does >= left) & (target > 0)
    points = seen.table(facts.POINTS, target)
    return _DAMAGE * xp.minimum(does, left) + xp.where(falls, points * _FALLS, 0)
