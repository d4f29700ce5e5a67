"""Policies for battles: one that attacks, one that mostly switches, two that wear down."""

from __future__ import annotations

import numpy as np

from twinstep.action_mask import legalise
from twinstep.contract import Contract
from twinstep.drivers import Act, Look, noise
from twinstep.frames import Frame, Start

MOVES = 4


def attack(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Use the move of most expected damage, judged by the observation; slip now and then."""
    seed = np.asarray(starts.seed)
    names = list(contract.observation.names)
    power, accuracy, effect = (
        [names.index(f"slot_{i}_{name}") for i in range(1, MOVES + 1)]
        for name in ("power", "accuracy", "effectiveness")
    )

    def act(frame: Frame, t: int) -> np.ndarray:
        obs, legal = np.asarray(frame.obs, np.float64), np.asarray(frame.legal)
        sure = obs[..., accuracy] == 0
        chance = np.where(sure, 100, obs[..., accuracy])
        worth = obs[..., power] * chance * 2.0 ** obs[..., effect]
        worth = np.where(obs[..., effect] == -3, 0, worth)
        scores = np.concatenate([worth + 1, np.full((*worth.shape[:2], 6), 0.5)], -1)
        best = np.where(legal, scores, -1).argmax(-1).astype(np.int32)
        words = np.stack([noise(seed, t, 40 + player) for player in (0, 1)], -1)
        slips = words % 6 == 0
        other = legalise((words >> 8).astype(np.int32) % contract.action.n, legal)
        return legalise(np.where(slips, other, best).astype(np.int32), legal)

    return act


def switch(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Send in another member in two of three decisions."""
    seed = np.asarray(starts.seed)

    def act(frame: Frame, t: int) -> np.ndarray:
        legal = np.asarray(frame.legal)
        words = np.stack([noise(seed, t, 50 + player) for player in (0, 1)], -1)
        members = MOVES + (words >> 8).astype(np.int32) % 6
        moves = (words >> 16).astype(np.int32) % MOVES
        leaves = (words % 3 != 0) & legal[..., MOVES:].any(-1)
        among = legal.copy()
        among[..., :MOVES] &= ~leaves[..., None]
        return legalise(np.where(leaves, members, moves).astype(np.int32), among)

    return act


def stall(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Use moves without power while any are left; slip now and then."""
    return _preferring(contract, starts, "power", 60)


def exhaust(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Use up the move with the fewest PP, then the next, until nothing is left but Struggle."""
    return _preferring(contract, starts, "pp", 70)


def _preferring(contract: Contract, starts: Start, least: str, salt: int) -> Act:
    """Use the legal move with the least of a slot's value in seven of eight decisions."""
    seed = np.asarray(starts.seed)
    names = list(contract.observation.names)
    places = [names.index(f"slot_{i}_{least}") for i in range(1, MOVES + 1)]

    def act(frame: Frame, t: int) -> np.ndarray:
        obs, legal = np.asarray(frame.obs), np.asarray(frame.legal)
        words = np.stack([noise(seed, t, salt + player) for player in (0, 1)], -1)
        # Equal moves take turns.
        value = obs[..., places].astype(np.int64) * MOVES
        value += (np.arange(MOVES) + (words[..., None] >> 20)) % MOVES
        worst = np.where(legal[..., :MOVES], value, 1 << 20).argmin(-1).astype(np.int32)
        slips = (words % 8 == 0) | ~legal[..., :MOVES].any(-1)
        other = (words >> 8).astype(np.int32) % contract.action.n
        return legalise(np.where(slips, other, worst).astype(np.int32), legal)

    return act
