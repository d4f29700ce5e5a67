"""The inputs of a small network, and a potential, from observations of a battle."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contracts.pokejax.layout import BOOSTS, STATUSES
from twinstep.frames import Array
from twinstep.generated.pokejax.tables import COLUMNS, SPECIES
from twinstep.transfer.pokejax.heuristics import matches, types_of
from twinstep.transfer.pokejax.seen import MEMBERS, MOVES, Seen

_SEEN_OF_BOTH = (
    *("substitute", "reflect", "light_screen", "leech_seed", "mist", "focus_energy"),
    *("confused", "invulnerable", "recharging", "biding", "raging", "transformed", "charging"),
)
_SPEED = 5
#: The category of moves that do no damage.
_STATUS = 2


def encode(obs: Array, xp: Any = np) -> Array:
    """Return f32[..., F] of observations [..., 263], all of magnitude about one."""
    seen = Seen(obs, xp)
    foe = types_of(seen, "foe_")
    moves = seen.many("slot_*_move", MOVES)
    worth = seen.worth(moves, types_of(seen, ""), foe)
    fights = seen.many("own_*_fights", MEMBERS)
    hp, most = seen.many("own_*_hp", MEMBERS), xp.maximum(seen.many("own_*_max_hp", MEMBERS), 1)
    mine = (fights * (hp * 100 // most)).sum(-1)
    speed = (fights * seen.many("own_*_spe", MEMBERS)).sum(-1)
    theirs = seen.table(SPECIES[_SPEED], seen.one("foe_species")) * seen.one("foe_level") // 50
    category = seen.table(COLUMNS["category"], moves)
    usable = seen.many("slot_*_usable", MOVES)
    parts = [
        (worth, 1 / (1 << 19)),
        (usable, 1),
        (xp.where(category == _STATUS, usable, 0), 1),
        (seen.many("slot_*_effectiveness", MOVES), 0.5),
        (seen.table(COLUMNS["status"], moves) > 0, 1),
        (hp * 100 // most, 0.01),
        (seen.many("own_*_status", MEMBERS) > 0, 1),
        (fights, 1),
        (matches(seen, foe), 1 / 16),
        (_few(seen, mine, seen.one("foe_hp_percent")), 0.01),
        (_few(seen, seen.one("left"), seen.one("foe_left")), 0.2),
        (_few(seen, speed - theirs), 0.01),
        (_few(seen, speed >= theirs, seen.one("asked") == 2, seen.one("locked")), 1),
        (_kinds(seen, seen.one("foe_status")), 1),
        (_kinds(seen, (fights * seen.many("own_*_status", MEMBERS)).sum(-1)), 1),
    ]
    for who in ("", "foe_"):
        parts.append((_few(seen, *(seen.one(f"{who}boost_{name}") for name in BOOSTS)), 0.25))
        parts.append((_few(seen, *(seen.one(f"{who}{name}") > 0 for name in _SEEN_OF_BOTH)), 1))
    scaled = [values.astype(np.float32) * np.float32(unit) for values, unit in parts]
    return xp.concatenate(scaled, -1)


def potential(obs: Array, xp: Any = np) -> Array:
    """Return f32[...] between -1/2 and 1/2: a member's HP count half as much as its life."""
    seen = Seen(obs, xp)
    most = xp.maximum(seen.many("own_*_max_hp", MEMBERS), 1)
    own = (seen.many("own_*_hp", MEMBERS) * 100 // most).sum(-1) + 200 * seen.one("left")
    hurt = (seen.many("foe_*_level", MEMBERS) > 0) & (seen.many("foe_*_fainted", MEMBERS) == 0)
    lost = xp.where(hurt, 100 - seen.many("foe_*_hp_percent", MEMBERS), 0).sum(-1)
    foe = 300 * seen.one("foe_left") - lost
    return (own - foe).astype(np.float32) * np.float32(1 / 3600)


def _few(seen: Seen, *values: Array) -> Array:
    return seen.xp.stack([value.astype(np.int32) for value in values], -1)


def _kinds(seen: Seen, status: Array) -> Array:
    return seen.xp.stack([status == kind for kind in range(1, len(STATUSES) - 1)], -1)
