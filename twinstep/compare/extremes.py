"""Search for the ends of what a state's fields can hold, and compare each step on the way.

Random play keeps counters low and boards half empty; what happens to a full board stays unseen.
The search begins at recorded states and keeps those that go farthest in some measure: a number's
most and least, how many slots of an array are taken, and their sum. Each of its steps begins at a
state that the reference has reached: no difference is one of an impossible state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from twinstep.action_mask import legalise
from twinstep.contract import Contract, Field
from twinstep.frames import Start, take_lanes
from twinstep.inputs.batching import chunk_lanes, frame_bytes
from twinstep.inputs.sampling import sample_actions
from twinstep.reference.process import OracleProcess
from twinstep.reference.trace_set import TraceSet

#: Steps of all rounds together.
STEPS = 8192
#: Bytes of the frames of all rounds, at most.
_MOST = 256 << 20
#: So many times as many recorded states are looked at as a round has.
_FIRST = 32
#: Vectors of so many elements are measured one by one.
_SINGLE = 8
#: The most measures: evenly spaced ones beyond.
_MEASURES = 64


#: Rows of games, name -> [N, ...]: `seed`, `start.*`, `state.*`, `action` (the last), and `legal`.
Rows = dict[str, np.ndarray]


@dataclass(frozen=True)
class Round:
    """Steps of the search.

    starts [N] and states [N, ...] that they begin at, actions [1, N, P, ...], frames [1, N, ...].
    """

    starts: Start
    states: dict[str, np.ndarray]
    actions: np.ndarray
    frames: dict[str, np.ndarray]


def measured(contract: Contract) -> list[Field]:
    """Return the fields that the search drives: numbers, but no picture and no generator's key."""
    draws = contract.randomness.draws
    return [
        field
        for field in contract.shown
        if not field.large
        and field.name != draws
        and np.dtype(field.dtype).kind in "biuf"
        and field.dtype not in ("uint32", "uint64")
    ]


def search(
    contract: Contract, oracle: OracleProcess, traces: TraceSet, rng: np.random.Generator
) -> Iterator[Round]:
    """Yield rounds of steps, STEPS in all; none where no recorded step is at hand to begin at.

    Nothing of a candidate decides which, so that all are asked the same.
    """
    lanes = chunk_lanes(contract)  # as level 3 has, so that nothing further is compiled
    rounds = min(STEPS // lanes, _MOST // (lanes * frame_bytes(contract)))
    begun = _recorded(contract, traces, _FIRST * lanes, rng)
    if begun is None:
        return
    now = _fittest(contract, begun, lanes, rng)
    for _ in range(rounds):
        # Half of the lanes do again what led here: it fills and empties faster.
        again = rng.random(lanes) < 0.5
        drawn = sample_actions(contract, lanes, rng)
        kept = again.reshape(-1, *[1] * (drawn.ndim - 1))
        actions = legalise(np.where(kept, now["action"], drawn), now.get("legal"))
        starts, states = Start(now["seed"], _below(now, "start.")), _below(now, "state.")
        frames, _ = oracle.steps(states, actions[None], starts)
        yield Round(starts, states, actions[None], frames)
        after = now | {"action": actions}
        after |= {name: frames[name][0] for name in now if name in frames}
        on = ~(frames["terminated"][0] | frames["truncated"][0])
        joined = {name: np.concatenate([now[name], values[on]]) for name, values in after.items()}
        now = _fittest(contract, joined, lanes, rng)


def _below(rows: Rows, prefix: str) -> Rows:
    return {name.removeprefix(prefix): v for name, v in rows.items() if name.startswith(prefix)}


def _recorded(
    contract: Contract, traces: TraceSet, count: int, rng: np.random.Generator
) -> Rows | None:
    """Return states from the first window of the first episodes, none of them an end."""
    chunks = traces.chunks()  # named, or its file would be closed at once
    chunk = next(chunks)
    actions = chunk.window_actions(0)
    usable = np.minimum(chunk.lengths, len(actions)) - chunk.ended
    some = np.flatnonzero(usable > 0)
    if not len(some):
        return None
    lanes = rng.choice(some, count)
    at = 1 + (rng.random(count) * usable[lanes]).astype(np.int64)
    paths = [f"state.{field.name}" for field in contract.shown] + ["legal"] * contract.masked
    starts = take_lanes(chunk.starts, lanes)
    return {
        "seed": starts.seed,
        **{f"start.{name}": values for name, values in starts.fields.items()},
        **{path: values[at, lanes] for path, values in chunk.window(0, paths).items()},
        "action": actions[at - 1, lanes],
    }


def _fittest(contract: Contract, rows: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Return `count` rows: the first of each measure, then its second, and so on.

    Equal states count once, as long as there are others: copies would crowd out the rest.
    """
    # What tells games apart: their states, and their starts' fields, which may hold more.
    apart = [v for name, v in rows.items() if name.startswith(("state.", "start."))]
    raw = [np.ascontiguousarray(v).view(np.uint8).reshape(len(v), -1) for v in apart]
    _, once = np.unique(np.concatenate(raw, 1), axis=0, return_index=True)
    scores = _scores(contract, {name: values[once] for name, values in rows.items()})
    best = rng.permutation(len(once))
    if len(scores):
        # Of equal ones any, so that a search on a plateau moves.
        order = np.lexsort((rng.random(scores.shape), -scores), axis=-1).T.reshape(-1)
        _, first = np.unique(order, return_index=True)
        best = order[np.sort(first)]
    chosen = once[best[np.arange(count) % len(best)]]
    return {name: values[chosen] for name, values in rows.items()}


def _scores(contract: Contract, all_: Rows) -> np.ndarray:
    """Return f64[measures, N]."""
    rows = []
    for field in measured(contract):
        values = np.nan_to_num(all_[f"state.{field.name}"].astype(np.float64))
        flat = np.ascontiguousarray(values.reshape(len(values), -1))
        if flat.shape[1] <= _SINGLE:
            rows += list(flat.T)
        if flat.shape[1] > 1:
            slots = values.reshape(*values.shape[:2], -1) != 0
            rows += [flat.sum(1), slots.any(-1).sum(1).astype(np.float64)]
    # Where slots hold 0 or 1, their sum is their count.
    distinct = {row.tobytes(): row for row in rows if np.ptp(row)}
    both = [sign * row for row in distinct.values() for sign in (1.0, -1.0)]
    if len(both) > _MEASURES:
        both = [both[at] for at in np.linspace(0, len(both) - 1, _MEASURES).astype(int)]
    return np.array(both).reshape(len(both), len(all_["action"]))
