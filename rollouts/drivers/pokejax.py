"""Policies for battles: one that attacks, one that hardly ever stays."""

from __future__ import annotations

import numpy as np

from twinstep.contract import Contract
from twinstep.drivers import Act, Look, noise
from twinstep.frames import Frame, Start
from twinstep.masked import legalise

MOVES = 4


def attack(contract: Contract, starts: Start, look: Look | None = None) -> Act:
    """Use the move that promises most damage, by what the observation tells; slip now and then."""
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
