"""The inputs of a small network, and a potential for training, from observations of a game."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contracts.tcgjax.cards import ATTACKS
from twinstep.contracts.tcgjax.layout import ACTIONS_COUNT, HAND, SLOTS, Ask
from twinstep.frames import Array
from twinstep.transfer.tcgjax import facts
from twinstep.transfer.tcgjax.heuristics import wanted
from twinstep.transfer.tcgjax.seen import Seen, lacks, ready, row, team, usual
from twinstep.transfer.tcgjax.value import worth

_SEEN_OF_BOTH = ("points", "hand", "deck", "current", "poisoned", "burned", "condition")
#: One unit of `worth` in the potential: between -1/2 and 1/2 in all but odd positions.
_UNIT = 1 / 4096


def encode(obs: Array, xp: Any = np) -> Array:
    """Return f32[..., F] of observations [..., 267], all of magnitude about one."""
    seen = Seen(obs, xp)
    own, foe = team(seen, "my"), team(seen, "other")
    hand = seen.many(*(f"my hand {n}" for n in range(HAND)))
    kind, stage = seen.table(facts.KIND, hand), seen.table(facts.STAGE, hand)
    ask = seen.one("ask")[..., None]
    # The script's choice is a good start: a policy learns when to deviate from it.
    word = xp.zeros_like(seen.one("turn")).astype(np.uint32)
    likes = wanted(obs, word, xp) // ACTIONS_COUNT
    parts = [
        (ask == row(range(len(Ask)), ask.ndim), 1),
        (seen.one("turn")[..., None], 1 / 30),
        (seen.many("supporter", "retreated", "bonus", "quick"), 1 / 4),
        (kind > facts.POKEMON, 1),
        (kind == facts.POKEMON, 1),
        (stage, 1 / 2),
        (likes, 1 / 1000),
    ]
    for who, side, other in (("my", own, foe), ("other", foe, own)):
        target = other.card[..., 0]
        need = lacks(seen, side.card, side.energy)
        parts += [
            (side.left, 1 / 100),
            (side.there, 1),
            (seen.table(facts.STAGE, side.card), 1 / 2),
            (seen.table(facts.POINTS, side.card), 1 / 2),
            (seen.table(facts.RETREAT, side.card), 1 / 3),
            (side.energy.sum(-1, dtype=np.int32), 1 / 3),
            (xp.minimum(need, 4).reshape(*need.shape[:-2], SLOTS * ATTACKS), 1 / 4),
            (ready(seen, side, target), 1 / 100),
            (usual(seen, side.card, target).max(-1), 1 / 100),
            (seen.many(*(f"{who} {name}" for name in _SEEN_OF_BOTH)), 1 / 4),
        ]
    scaled = [values.astype(np.float32) * np.float32(unit) for values, unit in parts]
    return xp.clip(xp.concatenate(scaled, -1), np.float32(-2), np.float32(5))


def potential(obs: Array, xp: Any = np) -> Array:
    """Return f32[...]: the value of the position, mostly between -1/2 and 1/2."""
    return worth(obs, xp).astype(np.float32) * np.float32(_UNIT)
