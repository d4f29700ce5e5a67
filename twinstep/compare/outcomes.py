"""Compare what each side draws for itself, its starts and its single steps, in distribution.

This is for a pair in which nothing can be placed: no seed gives both sides the same episode. Each
episode gives one row, so that rows are independent: a step that is drawn beforehand from the first
ones of an episode, or its last one where it is shorter, with the action and the frame before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from twinstep.compare import fresh_starts
from twinstep.compare.averages import driven
from twinstep.drivers import Driver
from twinstep.frames import Start, take_lanes
from twinstep.inputs.batching import FEW, WINDOW
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import Runner

Rows = dict[str, np.ndarray]
#: Prefixes of the paths of a row's parts beside the frame after the step.
BEFORE, ACTION = "before.", "action"
#: What the name of an element says beside its path.
_THEN, _NOW = " before the step", " after a step"


@dataclass
class Played:
    """A side's rows: its first frames, path -> [N, ...], and its steps, path of a part -> [N, ...].

    A step's parts are the frame after it, the action, and the frame before it.
    """

    first: Rows = field(default_factory=dict)
    steps: Rows = field(default_factory=dict)


def _put(into: Rows, rows: np.ndarray, count: int, parts: Rows) -> None:
    """Store values of some of `count` rows."""
    for path, values in parts.items():
        if path not in into:
            into[path] = np.zeros((count, *values.shape[1:]), values.dtype)
        into[path][rows] = values


def chosen_steps(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return the step of each episode that is compared, i64[N], 1 to `most`.

    Half are drawn evenly and half evenly in the logarithm: an episode's first steps are its own.
    """
    even = rng.integers(1, most + 1, count)
    early = np.exp(rng.random(count) * np.log(most + 1)).astype(np.int64)
    return np.where(rng.random(count) < 0.5, even, np.clip(early, 1, most))


def recorded(traces: TraceSet, paths: list[str], at: np.ndarray) -> Played:
    """Return the rows of recorded episodes. at: i64[N], the step of each."""
    found, begin, count = Played(), 0, len(at)
    for chunk in traces.chunks():
        mine = np.arange(begin, begin + chunk.lanes)
        begin += chunk.lanes
        step = np.minimum(at[mine], chunk.lengths)
        for number in range(chunk.windows):
            frames, actions = chunk.window(number, paths), chunk.window_actions(number)
            here = np.flatnonzero((step - 1) // WINDOW == number)
            row = step[here] - number * WINDOW
            if number == 0:
                _put(found.first, mine, count, {path: v[0] for path, v in frames.items()})
            parts = _parts(
                {path: v[row - 1, here] for path, v in frames.items()},
                actions[row - 1, here],
                {path: v[row, here] for path, v in frames.items()},
            )
            _put(found.steps, mine[here], count, parts)
    return found


def played(
    runner: Runner, starts: Start, driver: Driver, paths: list[str], at: np.ndarray
) -> Played:
    """Return the rows of the candidate's episodes, which the driver plays."""
    found, count = Played(), len(at)
    for begin in range(0, count, FEW):
        mine = np.arange(begin, min(begin + FEW, count))
        padded = np.concatenate([mine, np.repeat(mine[:1], FEW - len(mine))])
        open_ = np.ones(len(mine), bool)
        before: Rows = {}
        for t, (actions, named) in enumerate(driven(runner, take_lanes(starts, padded), driver)):
            frame = {path: np.array(named[path][: len(mine)]) for path in paths}
            if t == 0:
                _put(found.first, mine, count, frame)
            else:
                ended = (named["terminated"] | named["truncated"])[: len(mine)]
                here = np.flatnonzero(open_ & (ended | (at[mine] == t)))
                parts = _parts(
                    {path: values[here] for path, values in before.items()},
                    actions[: len(mine)][here],
                    {path: values[here] for path, values in frame.items()},
                )
                _put(found.steps, mine[here], count, parts)
                open_[here] = False
            before = frame
            if not open_.any():
                break
    return found


def _parts(before: Rows, action: np.ndarray, after: Rows) -> Rows:
    return {**after, ACTION: action, **{f"{BEFORE}{path}": v for path, v in before.items()}}


def alike(
    reference: Played, candidate: Played, name_of: Callable[[str, tuple[int, ...]], str]
) -> fresh_starts.Comparison:
    """Compare the starts and the steps of both sides. name_of: as `fresh_starts.compare` takes it.

    A difference of a start is told as one; a start that differs is not told of the steps again.
    """

    def name(path: str, index: tuple[int, ...]) -> str:
        if path == ACTION:
            return ACTION
        if path.startswith(BEFORE):
            return f"{name_of(path.removeprefix(BEFORE), index)}{_THEN}"
        return f"{name_of(path, index)}{_NOW}"

    begin = fresh_starts.compare(reference.first, candidate.first, name_of)
    if begin.differences:
        told = tuple(f"at the start {each}" for each in begin.differences)
        return fresh_starts.Comparison(told, begin.seen)
    found = fresh_starts.compare(reference.steps, candidate.steps, name)
    # What differs after a step does so before the next one, too.
    names = [each.split("`")[1] for each in found.differences]
    again = {name.removesuffix(_NOW) + _THEN for name in names if name.endswith(_NOW)}
    told = [each for name, each in zip(names, found.differences, strict=True) if name not in again]
    return fresh_starts.Comparison(tuple(told), found.seen)
