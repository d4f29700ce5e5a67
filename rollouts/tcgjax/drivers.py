"""Policies for the card game: one that keeps busy, one that follows a script, one that slips."""

from __future__ import annotations

import numpy as np

from twinstep.action_mask import legalise
from twinstep.contract import Contract
from twinstep.contracts.tcgjax.layout import (
    ABILITY,
    ACTIONS_COUNT,
    ATTACH,
    ATTACK,
    CHOOSE,
    END,
    PLAY,
    RETREAT,
    SCRAP,
    STADIUM,
)
from twinstep.drivers import Act, Look, noise
from twinstep.frames import Frame, Start


def _worth() -> np.ndarray:
    """Return the script's weight of each action: cards, energy, abilities, then an attack."""
    worth = np.zeros(ACTIONS_COUNT)
    worth[PLAY:ATTACH] = 60
    worth[ATTACH:RETREAT] = 40
    worth[ATTACH] = 50
    worth[RETREAT:ABILITY] = -20
    worth[ABILITY:ATTACK] = 30
    worth[ATTACK:STADIUM] = np.arange(10, 10 + STADIUM - ATTACK)
    worth[SCRAP:CHOOSE] = -30
    return worth


_WORTH = _worth()


def busy(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Play at random, ending a turn only in one of eight decisions, or if forced to."""
    seed = np.asarray(starts.seed)

    def act(frame: Frame, t: int) -> np.ndarray:
        legal = np.asarray(frame.legal).copy()
        words = np.stack([noise(seed, t, 80 + player) for player in (0, 1)], -1)
        more = legal.sum(-1) > 1
        legal[..., END] &= ~more | (words % 8 == 0)
        return legalise((words >> 8).astype(np.int32) % contract.action.n, legal)

    return act


def scripted(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Put cards into play, attach to the Active Pokemon, use abilities, attack."""
    return _script(starts, 0, 90)


def loose(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Follow the script, but play at random in three of ten decisions."""
    return _script(starts, 3, 95)


def _script(starts: Start, slips: int, salt: int) -> Act:
    """Follow the script; play at random in `slips` of ten decisions."""
    seed = np.asarray(starts.seed)

    def act(frame: Frame, t: int) -> np.ndarray:
        legal = np.asarray(frame.legal)
        words = np.stack([noise(seed, t, salt + player) for player in (0, 1)], -1)
        # Equal actions take turns.
        order = (np.arange(ACTIONS_COUNT) * 29 + (words[..., None] >> 16)) % ACTIONS_COUNT
        best = np.where(legal, _WORTH + order / ACTIONS_COUNT, -np.inf).argmax(-1)
        other = legalise((words >> 8).astype(np.int32) % ACTIONS_COUNT, legal)
        return np.where(words % 10 < slips, other, best).astype(np.int32) * legal.any(-1)

    return act
