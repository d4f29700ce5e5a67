"""Double-buffered sampling: one half of the lanes steps while the policy acts on the other.

For environments outside compiled programs. Each half waits for its own step, and the update waits
for both, so that no data comes from older policies. A policy that acts on half as many lanes at
once may round sums differently: with real-valued actions, curves of double-buffered and plain runs
differ in the last digits at first, and then diverge.
"""

from __future__ import annotations

import operator
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from twinstep.env.timestep import TimeStep
from twinstep.rl.versus import Arena


class Parts:
    """The lanes of S seeds in parts, [S, n] each, which act and step in turn.

    halved: two parts if the lanes are a multiple of 4 (a game of self-play has two), else one.
    lanes: the parts. A reference has a single environment, which steps once both parts have acted:
    its policies act on as many lanes at once as those of a candidate.
    """

    def __init__(self, env: Arena, lanes: int, halved: bool) -> None:
        self._env = env
        self._size = size = lanes // 2 if halved and lanes % 4 == 0 else lanes
        self.lanes = [slice(first, first + size) for first in range(0, lanes, size)]
        self._apart = len(self.lanes) > 1 and env.independent
        # One thread, so that steps and their log keep their order.
        self._thread = ThreadPoolExecutor(1) if self._apart else None
        self._actions: list[np.ndarray] = []
        self._steps: deque[Future[tuple[Any, TimeStep]] | TimeStep] = deque()

    def split(self, tree: Any) -> list[Any]:
        """Return the parts [S, n, ...] of a tree [S, N, ...]."""
        return [jax.tree.map(operator.itemgetter(np.s_[:, part]), tree) for part in self.lanes]

    def reset(self, seeds: np.ndarray) -> tuple[tuple[Any, ...], TimeStep]:
        """Begin an episode per seed u32[S, N, 2]; return the parts' states and the steps [S, N]."""
        groups = [seeds[:, part] for part in self.lanes] if self._apart else [seeds]
        starts = [self._env.reset(group.reshape(-1, 2)) for group in groups]
        shown = joined(
            [_grid(now, group.shape[1]) for group, (_, now) in zip(groups, starts, strict=True)]
        )
        return tuple(state for state, _ in starts), shown

    def submit(self, states: list[Any], part: int, actions: np.ndarray) -> None:
        """Start a part's step, after the result of its step before. actions: [S * n, ...]."""
        if self._thread:
            self._steps.append(self._thread.submit(self._env.step, states[part], actions))
            return
        self._actions.append(_grid(actions, self._size))
        if len(self._actions) == len(self.lanes):
            whole = np.concatenate(self._actions, 1)
            self._actions.clear()
            states[0], now = self._env.step(states[0], whole.reshape(-1, *whole.shape[2:]))
            shown = _grid(now, whole.shape[1])
            self._steps += self.split(shown)

    def result(self, states: list[Any], part: int) -> TimeStep:
        """Wait for a part's step [S, n], in the order of submission; update its state."""
        step = self._steps.popleft()
        if isinstance(step, Future):
            states[part], now = step.result()
            return _grid(now, self._size)
        return step


def _grid(tree: Any, lanes: int) -> Any:
    return jax.tree.map(lambda x: np.asarray(x).reshape(-1, lanes, *x.shape[1:]), tree)


def joined(parts: list[Any]) -> Any:
    """Return trees [S, n, ...] as one [S, N, ...], on the host."""
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, 1), *parts)
