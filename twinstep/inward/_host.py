"""A candidate over environments that are no JAX programs: lanes that have ended are held."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Array, Frame, Start, flatten, unflatten

Rows = dict[str, np.ndarray]


class HostLanes(Protocol):
    """N episodes of a library. `release` gives them back, for others to begin anew."""

    def reset(self, starts: Start) -> Rows:
        """Begin one episode per lane; paths -> [N, ...]."""
        ...

    def step(self, actions: np.ndarray, live: np.ndarray) -> Rows:
        """Apply actions [N, P, ...]; paths -> [len(live), ...] of the lanes with these indices."""
        ...

    def load(self, fields: Rows) -> None:
        """Put states [N, ...] into the lanes."""
        ...

    def release(self) -> None:
        """Give the lanes back."""
        ...


class _Episodes:
    """A candidate's state. rows: the present frame by path, [N, ...]; None after a load."""

    def __init__(self, lanes: HostLanes, rows: Rows | None) -> None:
        self.lanes, self.rows = lanes, rows
        weakref.finalize(self, lanes.release).atexit = False


class HostCandidate:
    """See twinstep.Candidate. A lane whose episode has ended is not read any more.

    lanes(n): n lanes that nobody uses. any_size: whether few sizes of a batch are of no advantage.
    fresh(seeds) -> rows: of episodes that the library begins by itself; None where it cannot.
    """

    platform = "cpu"

    def __init__(
        self,
        contract: Contract,
        lanes: Callable[[int], HostLanes],
        *,
        loads: bool,
        any_size: bool,
        dtype: str = "float64",
        fresh: Callable[[np.ndarray], Rows] | None = None,
    ) -> None:
        self.contract, self.dtype, self.any_size = contract, dtype, any_size
        self._lanes = lanes
        if loads:
            self.load = self._load
        if fresh is not None:
            self.fresh = lambda seeds: _frame(fresh(np.asarray(seeds)))

    def reset(self, starts: Start) -> tuple[Any, Frame]:
        """Begin one episode per lane of the batched start."""
        lanes = self._lanes(len(np.asarray(starts.seed)))
        state = _Episodes(lanes, None)
        state.rows = lanes.reset(starts)
        return state, _frame(state.rows)

    def step(self, state: _Episodes, actions: Array) -> tuple[Any, Frame]:
        """Apply actions [N, P, ...]; the step consumes the state. Ended lanes keep their frame."""
        actions = np.asarray(actions)
        live = np.arange(len(actions))
        if state.rows is not None:
            live = np.flatnonzero(~(state.rows["terminated"] | state.rows["truncated"]))
        if not len(live):
            assert state.rows is not None
            return state, _frame(state.rows)
        now = state.lanes.step(actions, live)
        if state.rows is not None:
            for path, values in state.rows.items():
                values[live] = now[path]
        else:
            state.rows = now
        return state, _frame(state.rows)

    def _load(self, fields: Rows) -> Any:
        lanes = self._lanes(len(next(iter(fields.values()))))
        state = _Episodes(lanes, None)
        lanes.load({name: np.asarray(values) for name, values in fields.items()})
        return state


def stacked(frames: list[Frame]) -> Rows:
    """Join the frames of single lanes; paths -> [N, ...]."""
    named = [flatten(frame) for frame in frames]
    return {path: np.stack([each[path] for each in named]) for path in named[0]}


def _frame(rows: Rows) -> Frame:
    return unflatten({path: values.copy() for path, values in rows.items()})
