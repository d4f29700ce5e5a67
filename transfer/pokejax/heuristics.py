"""Players that look at one observation: pure functions of observation, mask and one word."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.action_mask import nth_legal
from twinstep.frames import Array
from twinstep.generated.pokejax.tables import COLUMNS
from twinstep.transfer.pokejax.seen import MEMBERS, MOVES, Seen

#: A fighter leaves if a member is this many quarters of damage better matched.
_BETTER = 8


def random(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Play any legal action. obs: i16[N, D], legal: bool[N, 10], word: u32[N]; returns i32[N]."""
    return nth_legal(word & np.uint32(0xFFFF), legal, xp)


def max_damage(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Attack with the move of most expected damage, and leave a bad match.

    Takes and returns the same as `random`. A replacement is the member that matches the foe best.
    A badly matched one leaves in half of its turns only, or two such players would do nothing else.
    """
    seen = Seen(obs, xp)
    foe = types_of(seen, "foe_")
    moves = seen.many("slot_*_move", MOVES)
    worth = seen.worth(moves, types_of(seen, ""), foe)
    fit, alive = matches(seen, foe), seen.many("own_*_hp", MEMBERS) > 0
    fights = seen.many("own_*_fights", MEMBERS) > 0
    here = xp.where(fights, fit, 0).sum(-1)
    others = xp.where(legal[..., MOVES:] & alive, fit, -1000)
    leaves = (others.max(-1) >= here + _BETTER) & ((word >> np.uint32(23)) % np.uint32(2) == 0)
    leaves = leaves | ~legal[..., :MOVES].any(-1)
    # The least value of a legal move is 1: a player that can only wait or Struggle does so.
    attacks = xp.where(legal[..., :MOVES], worth + 1, -1).argmax(-1)
    chosen = xp.where(leaves, MOVES + others.argmax(-1), attacks).astype(np.int32)
    fits = xp.take_along_axis(legal, chosen[..., None], -1)[..., 0]
    return xp.where(fits, chosen, nth_legal(word, legal, xp))


def mixed(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Play as `random` in 77 of 256 decisions and as `max_damage` in the others."""
    slips = (word >> np.uint32(24)) < np.uint32(77)
    return xp.where(slips, random(obs, legal, word, xp), max_damage(obs, legal, word, xp))


def types_of(seen: Seen, whose: str) -> Array:
    return seen.xp.stack([seen.one(f"{whose}type_{i}") for i in (1, 2)], -1)


def matches(seen: Seen, foe: Array) -> Array:
    """Return the match value of each own member [..., 6] against types: quarters of damage.

    The best effect of its types or moves on the foe minus the worst of the foe's types on it.
    """
    xp = seen.xp
    own = seen.types(seen.many("own_*_species", MEMBERS))
    found = []
    for i in range(MEMBERS):
        types = own[..., i, :]
        moves = seen.many(f"own_{i + 1}_move_*", MOVES)
        gives = xp.where(
            seen.worth(moves, types, foe) > 0,
            seen.against(seen.table(COLUMNS["type"], moves), foe[..., None, :]),
            0,
        ).max(-1)
        takes = xp.stack([seen.against(foe[..., k], types) for k in range(2)], -1)
        felt = xp.where(foe < 15, takes, 0).max(-1)
        found.append(gives - felt)
    return xp.stack(found, -1)
