"""Drivers beside those of `drivers`, whose source is part of every trace's key."""

from __future__ import annotations

import numpy as np

from twinstep._lib.hashing import noise
from twinstep.action_mask import legalise
from twinstep.contract import Contract, Discrete
from twinstep.drivers import CORE, Act, Look, random
from twinstep.frames import Frame, Start


def rare(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Seek rules that seldom matter, in games in which some actions are illegal.

    In half of the episodes each player prefers the actions that have been legal least often, as
    castling. In the others he plays the earliest of his own actions again wherever he may, and
    else a new one: whoever does so moves back and forth, and captures again, which leads to earlier
    positions. Actions that are always legal, as passing, are left for the one step in eight that is
    drawn from all. Without a mask this is `random`.
    """
    if not contract.masked or not isinstance(contract.action, Discrete):
        return random(contract, starts)
    seed, size = np.asarray(starts.seed), contract.action.n
    shape = (len(seed), contract.players)
    # Of each player: his turns so far; of each action, in how many it was legal, and the turn in
    # which he played it first.
    turns = np.zeros((*shape, 1), np.int32)
    times = np.zeros((*shape, size), np.int32)
    first = np.full((*shape, size), _NEVER, np.int32)
    back = (noise(seed, 0, 9) % 2 == 0)[:, None, None]

    def act(frame: Frame, t: int) -> np.ndarray:
        legal, acting = np.asarray(frame.legal), np.asarray(frame.acting)
        words = [noise(seed, t, 10 * 64 + player) for player in range(contract.players)]
        drawn = (np.stack(words, -1) % np.uint32(size)).astype(np.int32)
        some = legal & (times < turns)
        some = np.where(some.any(-1, keepdims=True), some, legal)
        # Where the earliest one is of no turn, all of the rest are alike.
        chosen = legalise(drawn, some & _least(some, np.where(back, first, times)))
        free = (noise(seed, t, 11) % 8 == 0)[:, None]
        chosen = np.where(free, legalise(drawn, legal), chosen).astype(np.int32)
        times[:] += legal
        taken = acting[..., None] & (np.arange(size) == chosen[..., None])
        np.minimum(first, np.where(taken, turns, _NEVER), out=first)
        turns[:] += acting[..., None]
        return chosen

    return act


_NEVER = np.iinfo(np.int32).max


def _least(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return where values [..., A] are least among those in a mask bool[..., A]."""
    return values == np.where(mask, values, _NEVER).min(-1, keepdims=True)


def plays_rare(contract: Contract) -> bool:
    """Return whether `rare` is played: in masked games without drivers of their own."""
    return contract.masked and not set(contract.drivers) - CORE.keys()


#: All drivers that need no declaration.
DRIVERS: dict[str, str] = {**CORE, "rare": "twinstep.further_drivers:rare"}
