"""Replay recorded episodes on a candidate and find each one's first difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from twinstep.compare.arrays import Miss, first_misses, frames_differ
from twinstep.frames import Start, take_lanes
from twinstep.gates import Lockstep
from twinstep.inputs.batching import WINDOW, chunk_lanes
from twinstep.reference.cache import TraceSet
from twinstep.reference.trace_file import ChunkFile, digests
from twinstep.runner.runner import Runner

#: The beginning of a path that stands for an exception of the candidate, before its name.
RAISED = "raised "


@dataclass(frozen=True)
class FirstDifference:
    """One episode that differs: its number, the place, and the case that shows it.

    kind: as in `diagnosis.case.Case`. An `episode` has the actions so far; a `step` (resync and
    window gates) the oracle's state and the actions from there; a `restart` the terminal state.
    """

    episode: int
    miss: Miss
    start: Start
    actions: np.ndarray
    kind: str = "episode"
    state: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass
class Outcome:
    """The coverage and result of a comparison. numbers: measured. lines: the same as text."""

    episodes: int = 0
    steps: int = 0
    divergences: list[FirstDifference] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def shortest(self) -> FirstDifference:
        """The divergence that needs the fewest steps; ties go to the lowest episode."""
        return min(self.divergences, key=lambda d: (d.miss.step, d.episode))


def check_episodes(runner: Runner, traces: TraceSet, gates: dict[str, Lockstep]) -> Outcome:
    """Replay every episode, never corrected, and compare each frame under lockstep gates."""
    outcome = Outcome()
    for chunk in traces.chunks():
        last = _LastFrames(runner, chunk)
        misses = _replay(runner, chunk, gates, last)
        for miss in misses:
            outcome.divergences.append(divergence_of(chunk, outcome.episodes, miss))
        if not misses:
            outcome.divergences += _check_restarts(runner, chunk, gates, last, outcome.episodes)
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    return outcome


def check_alone(runner: Runner, traces: TraceSet, gates: dict[str, Lockstep]) -> Outcome:
    """Replay as `check_episodes`, each episode in a batch of its own, where a candidate raises.

    An episode's first difference may then be that the candidate raises: its miss has the one path
    `raised IndexError`. Restarts are not compared.
    """
    outcome = Outcome()
    for chunk in traces.chunks():
        for lane in range(chunk.lanes):
            start, actions = take_lanes(chunk.starts, lane), chunk.actions_of(lane)
            got, failure = runner.alone(start, actions)
            want = _frames_of(chunk, lane, sorted({*gates, "reward"}))
            rows = len(got["reward"])
            want, given = ({p: v[:rows, None] for p, v in side.items()} for side in (want, got))
            found = frames_differ(want, given, gates)
            misses = first_misses(found, np.ones((rows, 1), bool), 0)
            if misses:
                miss = Miss(lane, misses[0].step, misses[0].paths)
            elif failure:
                miss = Miss(lane, rows, (f"{RAISED}{failure.raised}",))
            else:
                continue
            outcome.divergences.append(divergence_of(chunk, outcome.episodes, miss))
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    return outcome


def _frames_of(chunk: ChunkFile, lane: int, paths: list[str]) -> dict[str, np.ndarray]:
    windows = [chunk.new_rows(number, paths) for number in range(chunk.windows)]
    length = int(chunk.lengths[lane]) + 1
    return {p: np.concatenate([w[p][:, lane] for w in windows])[:length] for p in paths}


def _replay(
    runner: Runner, chunk: ChunkFile, gates: dict[str, Lockstep], last: _LastFrames
) -> list[Miss]:
    misses: dict[int, Miss] = {}
    for number, first, valid, got in replayed(runner, chunk):
        differing = _differing(chunk, number, got, gates, last)
        for miss in first_misses(differing, valid, first):
            misses.setdefault(miss.lane, miss)
        if len(misses) == chunk.lanes:
            break
    return [misses[lane] for lane in sorted(misses)]


def replayed(
    runner: Runner, chunk: ChunkFile
) -> Iterator[tuple[int, int, np.ndarray, dict[str, np.ndarray]]]:
    """Yield (number, step of its first row, bool[W, N] of rows that exist, frames) of each part.

    Part 0 is frame 0 alone; part w + 1 holds the frames after window w's actions.
    """
    lanes = chunk_lanes(runner.contract)
    parts = runner.windows(chunk.starts, chunk.window_actions, chunk.windows, lanes)
    for number, got in enumerate(parts):
        first = 0 if number == 0 else (number - 1) * WINDOW + 1
        valid = np.arange(first, first + len(got["reward"]))[:, None] <= chunk.lengths[None]
        yield number, first, valid, got


def recorded_rows(number: int) -> tuple[int, slice]:
    """Return the window that holds a part's frames, and its rows among the window's new ones."""
    # Frame 0 lies before the frames that follow from the first window's actions.
    return max(number - 1, 0), (slice(0, 1), slice(1, None), slice(None))[min(number, 2)]


def _differing(
    chunk: ChunkFile,
    number: int,
    got: dict[str, np.ndarray],
    gates: dict[str, Lockstep],
    last: _LastFrames,
) -> dict[str, np.ndarray]:
    """Compare one part; large fields by digest first, unpacked only where digests differ."""
    window, rows = recorded_rows(number)
    plain = {p: g for p, g in gates.items() if not (g.exact and chunk.has_digest(p))}
    read = chunk.new_rows(window, sorted({*plain, "reward"}))
    if number or not chunk.lengths.any():
        last.keep(window, read)
    differences = frames_differ({path: values[rows] for path, values in read.items()}, got, plain)
    for path in gates.keys() - plain.keys():
        stored = chunk.new_rows(window, [path], "digest")[path][rows]
        wrong = (stored != digests(got[path])).any(-1)
        if wrong.any():
            differences[path] = wrong
    return differences


class _LastFrames:
    """The oracle's state at the end of each episode, kept while a chunk is read."""

    def __init__(self, runner: Runner, chunk: ChunkFile) -> None:
        wanted = chunk.restarted and runner.offers("restart") and runner.offers("load")
        names = [f"state.{field.name}" for field in runner.contract.shown]
        self._paths = [*names, "terminated"] if wanted else []
        self._chunk = chunk
        self.frames: dict[str, np.ndarray] = {}

    def keep(self, number: int, read: dict[str, np.ndarray]) -> None:
        """Keep the episodes that end in a window; `read` is its unpacked part."""
        first, lengths = number * WINDOW + (number > 0), self._chunk.lengths
        lanes = np.flatnonzero((lengths >= first) & (lengths <= (number + 1) * WINDOW))
        if not len(lanes) and self.frames:
            return
        missing = [path for path in self._paths if path not in read]
        rows = {**read, **self._chunk.new_rows(number, missing)}
        for path in self._paths:
            values = rows[path]
            kept = self.frames.setdefault(path, np.zeros(values.shape[1:], values.dtype))
            kept[lanes] = values[lengths[lanes] - first, lanes]


def _check_restarts(
    runner: Runner, chunk: ChunkFile, gates: dict[str, Lockstep], last: _LastFrames, before: int
) -> list[FirstDifference]:
    """Compare the reference's auto-reset after each terminated episode."""
    if not last.frames:
        return []
    restarted = chunk.restarted
    states = {
        path.removeprefix("state."): values
        for path, values in last.frames.items()
        if path != "terminated"
    }
    _, got = runner.restart(runner.load(states))
    differences = frames_differ(restarted, got, gates)
    divergences = []
    for lane in np.flatnonzero(last.frames["terminated"]):
        paths = tuple(sorted(path for path, wrong in differences.items() if wrong[lane]))
        if paths:
            miss = Miss(int(lane), int(chunk.lengths[lane]) + 1, paths)
            state = {name: values[lane] for name, values in states.items()}
            start, none = take_lanes(chunk.starts, int(lane)), chunk.actions_of(int(lane))[:0]
            divergences.append(
                FirstDifference(before + int(lane), miss, start, none, "restart", state)
            )
    return divergences


def divergence_of(chunk: ChunkFile, before: int, miss: Miss) -> FirstDifference:
    """Return the divergence of a chunk's miss; before: episodes in the chunks before it."""
    start = take_lanes(chunk.starts, miss.lane)
    actions = chunk.asked_of(miss.lane)[: miss.step]
    return FirstDifference(before + miss.lane, miss, start, actions)
