"""Shrink a diverging episode until nothing can be left out.

Actions are grouped into runs (an action and its number of repeats). The result is 1-minimal:
without any one run, or any one step of a run, the divergence is gone. Where it is short, no two
runs can be left out together either, as a step to the left and one to the right. Trials are played
in batches and their verdicts kept. The result is always a trial that did diverge, even when the
budget runs out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: Given action lists [T, P, ...]: for each, the step of its first divergence or -1.
Diverges = Callable[[list[np.ndarray]], list[int]]
#: The budget of shrinking in oracle steps. Cheap steps may be more, as long as SECONDS allow; dear
#: ones end after MOST_SECONDS.
BUDGET = 200_000
SECONDS, MOST_SECONDS = 20.0, 300.0
_BATCH = 32
#: The most steps, of all trials together, that leaving out pairs of runs may take.
_PAIRS = 5_000


@dataclass
class Shrunk:
    """A shrunk counterexample.

    actions: [T, P, ...], the divergence is at step T. before: length it was shrunk from.
    oracle_steps: its cost. minimal: False if the budget ran out first.
    """

    actions: np.ndarray
    before: int
    oracle_steps: int
    minimal: bool


def runs_of(actions: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Return the runs (action [P, ...], count) of actions [T, P, ...]."""
    runs: list[tuple[np.ndarray, int]] = []
    for action in actions:
        if runs and np.array_equal(runs[-1][0], action):
            runs[-1] = (action, runs[-1][1] + 1)
        else:
            runs.append((action, 1))
    return runs


def unroll(runs: list[tuple[np.ndarray, int]], like: np.ndarray) -> np.ndarray:
    """Return the actions [T, P, ...] of runs; `like` gives dtype and shape."""
    if not runs:
        return like[:0]
    return np.concatenate([np.repeat(action[None], count, 0) for action, count in runs])


class _Search:
    def __init__(self, diverges: Diverges, budget: int, seconds: float) -> None:
        self._diverges = diverges
        self._budget, self._seconds = budget, seconds
        self._begun = time.monotonic()
        self._memo: dict[bytes, int] = {}
        self.steps = 0

    @property
    def spent(self) -> bool:
        taken = time.monotonic() - self._begun
        return self.steps >= self._budget and taken >= self._seconds or taken >= MOST_SECONDS

    def first(self, trials: list[np.ndarray]) -> np.ndarray | None:
        """Return the first trial that diverges, cut at its divergence; None if none does."""
        for begin in range(0, len(trials), _BATCH):
            group = trials[begin : begin + _BATCH]
            fresh = [t for t in group if t.tobytes() not in self._memo]
            if fresh:
                if self.spent:
                    return None
                for trial, at in zip(fresh, self._diverges(fresh), strict=True):
                    self._memo[trial.tobytes()] = at
                    self.steps += len(trial)
            for trial in group:
                at = self._memo.get(trial.tobytes(), -1)
                if at >= 0:
                    cut = trial[:at]
                    self._memo[cut.tobytes()] = at
                    return cut
        return None


def shrink(
    actions: np.ndarray, diverges: Diverges, budget: int = BUDGET, seconds: float = SECONDS
) -> Shrunk:
    """Shrink actions [T, P, ...] whose divergence is at step T.

    diverges: must be deterministic. budget, seconds: of oracle steps and of time; the search ends
    where both are spent.
    """
    before = len(actions)
    search = _Search(diverges, budget, seconds)
    best = actions
    size = max(1, len(runs_of(best)) // 2)
    while not search.spent:
        runs = runs_of(best)
        size = min(size, max(1, len(runs)))
        smaller = search.first([unroll(t, best) for t in _without_runs(runs, size)])
        if smaller is None and size > 1:
            size //= 2
            continue
        if smaller is None:
            smaller = search.first([unroll(t, best) for t in _shorter_runs(runs)])
        if smaller is None:
            smaller = search.first([unroll(t, best) for t in _without_pairs(runs, len(best))])
        if smaller is None:
            return Shrunk(best, before, search.steps, True)
        best = smaller
    return Shrunk(best, before, search.steps, False)


def _without_runs(
    runs: list[tuple[np.ndarray, int]], size: int
) -> list[list[tuple[np.ndarray, int]]]:
    return [runs[:at] + runs[at + size :] for at in range(0, len(runs), size)]


def _without_pairs(
    runs: list[tuple[np.ndarray, int]], steps: int
) -> list[list[tuple[np.ndarray, int]]]:
    """Return trials without two runs, neighbours first; none if they would take too many steps."""
    pairs = list(itertools.combinations(range(len(runs)), 2))
    if len(runs) < 3 or len(pairs) * steps > _PAIRS:
        return []
    pairs.sort(key=lambda pair: pair[1] - pair[0])
    return [[run for place, run in enumerate(runs) if place not in pair] for pair in pairs]


def _shorter_runs(runs: list[tuple[np.ndarray, int]]) -> list[list[tuple[np.ndarray, int]]]:
    """Return trials that shorten one run: to one step, by half, by a quarter, ..., by one."""
    trials = []
    for at, (action, count) in enumerate(runs):
        cuts = {1}
        while count // (2 * max(cuts)) >= 1:
            cuts.add(2 * max(cuts))
        kept = {1} | {count - cut for cut in cuts}
        trials += [
            [*runs[:at], (action, left), *runs[at + 1 :]]
            for left in sorted(kept)
            if 0 < left < count
        ]
    return trials
