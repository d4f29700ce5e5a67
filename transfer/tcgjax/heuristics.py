"""Players that look at one observation: pure functions of observation, mask and one word."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.action_mask import nth_legal
from twinstep.contracts.tcgjax.cards import ATTACKS, ENERGY
from twinstep.contracts.tcgjax.layout import (
    ABILITY,
    ACTIONS_COUNT,
    ATTACH,
    ATTACK,
    CHOOSE,
    END,
    HAND,
    PLAY,
    RETREAT,
    SCRAP,
    SLOTS,
    Ask,
)
from twinstep.frames import Array
from twinstep.transfer.tcgjax import facts
from twinstep.transfer.tcgjax.seen import Seen, Team, lacks, ready, row, team, usual

#: Cards whose effect is not always wanted -> their value above or below other trainers.
_TRAINERS = facts.by_code(
    {
        "poke-ball": 9,
        "professors-research": 8,
        "call-nidoran": 5,
        "misty": 6,
        "brock": 6,
        "giovanni": -5,
        "blaine": -5,
        # These help in few positions, which a fixed order cannot tell from the others.
        "koga": -900,
        "x-speed": -900,
        "red-card": -900,
    }
)
#: The order of a turn, in hundreds; actions below END are left undone.
_EVOLVE, _PLAY, _ATTACH, _ABILITY, _RETREAT, _ATTACK, _SCRAP = 900, 800, 700, 600, 500, 100, -500
_MINE, _THEIRS = ("my", "other")


def random(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Play any legal action. obs: i16[N, D], legal: bool[N, 128], word: u32[N]; returns i32[N]."""
    return nth_legal(word & np.uint32(0xFFFF), legal, xp)


def scripted(obs: Array, legal: Array, word: Array, xp: Any = np) -> Array:
    """Follow a fixed order; takes and returns the same as `random`.

    Evolve, play Basics and trainers, attach where an attack comes nearest, use abilities, retreat
    from a knock-out or for an attacker, attack with the most damage. The word breaks ties.
    """
    scores = wanted(obs, word, xp)
    best = xp.where(legal, scores, np.int32(-(2**30))).argmax(-1).astype(np.int32)
    return xp.where(legal.any(-1), best, xp.zeros_like(best))


def wanted(obs: Array, word: Array, xp: Any = np) -> Array:
    """Return i32[..., 128]: the script's weight of each action as if all were legal."""
    seen = Seen(obs, xp)
    own, foe = team(seen, _MINE), team(seen, _THEIRS)
    target = foe.card[..., 0]
    able = ready(seen, own, target)
    blank = xp.zeros_like(able)
    parts = {
        END: blank[..., :1],
        PLAY: _cards(seen, able),
        ATTACH: _ATTACH + _attach(seen, own, able),
        RETREAT: _retreat(seen, own, foe, able)[..., 1:],
        ABILITY: blank + _ABILITY,
        ATTACK: _ATTACK + usual(seen, own.card, target)[..., 0, :],
        ATTACK + ATTACKS: xp.concatenate([blank[..., :1]] * (SCRAP - ATTACK - ATTACKS), -1),
        SCRAP: blank + _SCRAP,
        CHOOSE: _choose(seen, own, foe, able),
    }
    scores = xp.concatenate([parts[first] for first in sorted(parts)], -1)
    rest = ACTIONS_COUNT - scores.shape[-1]
    scores = xp.concatenate([scores, xp.zeros_like(scores[..., :rest])], -1)
    numbers = row(np.arange(ACTIONS_COUNT) * 29, scores.ndim).astype(np.uint32)
    order = (numbers + (word >> np.uint32(16))[..., None]) % np.uint32(ACTIONS_COUNT)
    return scores * ACTIONS_COUNT + order.astype(np.int32)


def _cards(seen: Seen, able: Array) -> Array:
    """Return i32[..., 50]: the value of playing each card of the hand on each target."""
    xp = seen.xp
    hand = seen.many(*(f"my hand {n}" for n in range(HAND)))
    kind, stage, hp = (seen.table(t, hand) for t in (facts.KIND, facts.STAGE, facts.HP))
    first = seen.one("ask")[..., None] == Ask.ACTIVE
    grown = (kind == facts.POKEMON) & (stage > 0)
    helps = _PLAY + seen.table(_TRAINERS, hand)
    worth = xp.where(kind == facts.POKEMON, _PLAY + 20 + xp.where(first, hp, 0), helps)
    worth = xp.where(grown, _EVOLVE + stage, worth)
    # The fighting Pokemon is helped first, and evolves first.
    front = row([0, 2, 1, 1, 1], worth.ndim + 1)
    return (worth[..., None] + front).reshape(*worth.shape[:-1], 5 * HAND)


def _attach(seen: Seen, own: Team, able: Array) -> Array:
    """Return i32[..., 4]: below 0 where the energy brings no attack nearer."""
    xp = seen.xp
    current = seen.one("my current")
    kinds = row(range(1, len(ENERGY) + 1), current.ndim + 1)
    more = (kinds == current[..., None]).astype(np.int32)
    before = lacks(seen, own.card, own.energy)
    after = lacks(seen, own.card, own.energy + more[..., None, :])
    does = usual(seen, own.card, xp.zeros_like(current))
    nearer = xp.where(after < before, does * 4 // (after + 1), 0)
    # An attack that can be paid already gains nothing.
    gain = xp.maximum(nearer.max(-1) - xp.where(nearer > 0, able[..., None], 0).max(-1), 0)
    front = row([20, 0, 0, 0], able.ndim)
    return xp.where(nearer.max(-1) > 0, xp.minimum(gain // 6, 60) + front + 1, front // 20)


def _retreat(seen: Seen, own: Team, foe: Team, able: Array) -> Array:
    """Return i32[..., 4]: the value of each slot in the Active one's place, or -500."""
    xp = seen.xp
    threat = ready(seen, foe, own.card[..., 0], energy=1)[..., 0]
    falls = threat >= own.left[..., 0]
    kills = able[..., 0] >= foe.left[..., 0]
    stuck = (seen.one("my condition") > 0) | (able[..., 0] == 0)
    better = (able > able[..., :1]) & (able > 0)
    safe = own.left > threat[..., None]
    leaves = (stuck & ~kills)[..., None] & better
    leaves = leaves | ((falls & ~kills)[..., None] & safe & (able > 0))
    return xp.where(leaves & own.there, _RETREAT + able // 4, -500)


def _choose(seen: Seen, own: Team, foe: Team, able: Array) -> Array:
    """Return i32[..., 8]: the value of each option of a choice."""
    xp = seen.xp
    ask = seen.one("ask")[..., None]
    promoted = able * 4 + own.left
    attached = xp.where(ask == Ask.ATTACH, 300 - 50 * lacks(seen, own.card, own.energy).min(-1), 0)
    mine = xp.where(ask == Ask.ATTACH, attached, promoted)
    # Own ones are hurt only where nobody else can be: the healthiest then.
    mine = xp.where(ask == Ask.DAMAGE, own.left, mine)
    points = seen.table(facts.POINTS, foe.card)
    theirs = 1000 - foe.left + 100 * points
    both = xp.concatenate([mine, theirs], -1)
    slot = np.repeat(np.arange(SLOTS), ATTACKS)
    copied = usual(seen, foe.card, foe.card[..., 0])[..., slot, np.tile(range(ATTACKS), SLOTS)]
    kinds = own.energy[..., 0, :]
    both = xp.where(ask == Ask.COPY, copied, both)
    return xp.where(ask == Ask.PAY, kinds, both)
