"""What a position is worth to who looks at it: points, damage, energy, the board."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.frames import Array
from twinstep.transfer.tcgjax import facts
from twinstep.transfer.tcgjax.seen import Seen, Team, lacks, ready, team, usual

#: In damage: a point, a Pokemon in play, a stage of it, a card in hand, an energy, a condition.
_POINT, _POKEMON, _STAGE, _CARD, _ENERGY, _ILL = 300, 40, 25, 6, 2, 15
#: A knock-out that is threatened, for each point.
_THREAT = 60


def worth(obs: Array, xp: Any = np) -> Array:
    """Return i32[...] of observations [..., 267]: above 0 where who looks stands better."""
    seen = Seen(obs, xp)
    own, foe = team(seen, "my"), team(seen, "other")
    # Who is not on turn has an energy more by the time that it attacks.
    mine = seen.one("my turn")
    turns = (mine == 1) & (seen.one("turn") > 0)
    here = _side(seen, "my", own) + _threat(seen, own, foe, turns)
    there = _side(seen, "other", foe) + _threat(seen, foe, own, ~turns)
    played = xp.where(ready(seen, own, foe.card[..., 0])[..., 0] > 0, seen.one("bonus"), 0)
    return here - there + xp.where(turns, played, 0)


def _side(seen: Seen, who: str, side: Team) -> Array:
    xp = seen.xp
    stage = seen.table(facts.STAGE, side.card)
    lives = xp.maximum(side.left, 0) + side.there.astype(np.int32) * _POKEMON + stage * _STAGE
    nobody = xp.zeros_like(side.card[..., 0])
    promised = (usual(seen, side.card, nobody) // (1 + lacks(seen, side.card, side.energy))).max(-1)
    energy = side.energy.sum(-1, dtype=np.int32) * _ENERGY
    ill = sum(
        (seen.one(f"{who} {name}") > 0).astype(np.int32)
        for name in ("condition", "poisoned", "burned", "no attack")
    )
    each = (lives + promised // 2 + energy).sum(-1, dtype=np.int32)
    # A card out of the deck is worth a little: what one searches for is better than what lies there.
    rest = seen.one(f"{who} points") * _POINT + seen.one(f"{who} hand") * _CARD
    return each + rest - seen.one(f"{who} deck") - ill * _ILL


def _threat(seen: Seen, side: Team, other: Team, turns: Array) -> Array:
    """Return i32[...]: what the Active Pokemon is about to do to the other one."""
    xp = seen.xp
    target = other.card[..., 0]
    now, soon = (ready(seen, side, target, energy=n)[..., 0] for n in (0, 1))
    does, left = xp.where(turns, now, soon), xp.maximum(other.left[..., 0], 0)
    falls = (does >= left) & (target > 0)
    return xp.minimum(does, left) + xp.where(falls, seen.table(facts.POINTS, target) * _THREAT, 0)
