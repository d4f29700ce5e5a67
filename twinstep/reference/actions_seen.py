"""Count which actions recorded episodes take, and which are ever legal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinstep.contract import Contract, Discrete
from twinstep.inputs.batching import WINDOW
from twinstep.reference.trace_set import TraceSet


class ActionsSeen(NamedTuple):
    """Of each action: whether it was ever legal, bool[A], and ever taken while legal, bool[A]."""

    legal: np.ndarray
    taken: np.ndarray


def actions_seen(contract: Contract, traces: TraceSet) -> ActionsSeen | None:
    """Return which actions the episodes show; None where actions are real numbers."""
    if not isinstance(contract.action, Discrete):
        return None
    count = contract.action.n
    allowed, taken = np.full(count, not contract.masked), np.zeros(count, bool)
    paths = ["acting", *(["legal"] if contract.masked else [])]
    for chunk in traces.chunks():
        for number in range(chunk.windows):
            actions = chunk.window_actions(number)
            frames = {p: v[: len(actions)] for p, v in chunk.window(number, paths).items()}
            played = np.arange(len(actions))[:, None] + number * WINDOW < chunk.lengths
            may = frames["acting"] & played[..., None]
            if contract.masked:
                legal = frames["legal"] & played[..., None, None]
                allowed |= legal.any((0, 1, 2))
                may &= np.take_along_axis(legal, actions[..., None].astype(np.int64), -1)[..., 0]
            taken[np.unique(actions[may])] = True
    return ActionsSeen(allowed, taken)
