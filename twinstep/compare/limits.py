"""Find the step at which the reference ends an episode by its count, and states just before it.

A time limit is beyond the reach of drivers that lose first. Where the state counts its steps and
can be loaded, the last steps before the limit are one step away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twinstep.contract import Contract
from twinstep.errors import OracleFailed
from twinstep.frames import Start, take_lanes
from twinstep.reference.process import OracleProcess
from twinstep.reference.trace_file import ChunkFile
from twinstep.reference.trace_set import TraceSet

#: Recorded steps from which counts are tried; all of them must end at the limit.
_BASES = 4
#: Counts that are asked at once.
_ASKED = 32


@dataclass(frozen=True)
class Steps:
    """Single steps of recorded episodes: starts [N], states [N, ...], actions [N, P, ...]."""

    starts: Start
    states: dict[str, np.ndarray]
    actions: np.ndarray

    def counted(self, counter: str, counts: np.ndarray) -> Steps:
        """Return each step once with each of these counts, the counts of one step together."""
        rows = np.repeat(np.arange(len(self.actions)), len(counts))
        states = {name: values[rows] for name, values in self.states.items()}
        states[counter] = np.tile(counts, len(self.actions)).astype(states[counter].dtype)
        return Steps(take_lanes(self.starts, rows), states, self.actions[rows])


@dataclass(frozen=True)
class Limit:
    """A limit of the reference: a step from the state with this count is an episode's last."""

    counter: str
    last: int
    steps: Steps


def find_limit(contract: Contract, oracle: OracleProcess, traces: TraceSet) -> Limit | None:
    """Return the limit that a state field counts down to, found by asking; None if there is none.

    A counter is a field that grows by one in each recorded step. It is looked for up to its
    declared end, and to the contract's horizon.
    """
    chunks = traces.chunks()  # named, or its file would be closed at once
    chunk = next(chunks)
    counters = _counters(contract, chunk)
    steps = _some_steps(contract, chunk) if counters else None
    if steps is None:
        return None
    for counter in counters:
        last = _last(oracle, steps, counter, _most(contract, counter))
        if last is not None:
            return Limit(counter, last, steps)
    return None


def _some_steps(contract: Contract, chunk: ChunkFile) -> Steps | None:
    """Return a step from the middle of some episodes; None if no episode has two steps."""
    actions = chunk.window_actions(0)
    # The last step of an episode that ended is none that a count alone ends.
    usable = np.minimum(chunk.lengths, len(actions)) - chunk.ended
    lanes = np.flatnonzero(usable > 0)[:_BASES]
    if not len(lanes):
        return None
    at = (usable[lanes] - 1) // 2
    states = {
        field.name: chunk.window(0, [path := f"state.{field.name}"])[path][at, lanes]
        for field in contract.shown
    }
    return Steps(take_lanes(chunk.starts, lanes), states, actions[at, lanes])


def _counters(contract: Contract, chunk: ChunkFile) -> list[str]:
    """Return the fields that grow by one in every step of the chunk's first window."""
    found = []
    for field in contract.shown:
        if field.shape or np.dtype(field.dtype).kind not in "iuf":
            continue
        values = chunk.window(0, [path := f"state.{field.name}"])[path].astype(np.float64)
        grown = np.diff(values, axis=0)
        played = np.arange(len(grown))[:, None] < chunk.lengths
        if (grown[played] == 1).all() and played.sum() > chunk.lanes:
            found.append(field.name)
    return found


def _most(contract: Contract, counter: str) -> int:
    return int(max(contract.state_field(counter).high or 0, contract.horizon - 1))


def _last(oracle: OracleProcess, steps: Steps, counter: str, most: int) -> int | None:
    """Return the least count from which every step ends, if fewer do not; None without one."""
    low, high = 0, most
    while True:
        counts = np.unique(np.linspace(low, high, _ASKED).astype(np.int64))
        asked = steps.counted(counter, counts)
        try:
            frames, _ = oracle.steps(asked.states, asked.actions[None], asked.starts)
        except OracleFailed:  # it refuses such a state: a limit is not to be had so
            return None
        ended = (frames["terminated"] | frames["truncated"])[0].reshape(-1, len(counts))
        over = np.flatnonzero(ended.all(0))
        if not len(over) or ended[:, 0].any() and low == 0:
            return None
        first = int(over[0])
        if counts[first] == counts[first - 1] + 1:
            return int(counts[first])
        low, high = int(counts[first - 1]), int(counts[first])
