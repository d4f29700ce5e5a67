"""Replay recorded episodes on a candidate and find where each first differs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from twinstep.cache import LANES, TraceSet
from twinstep.compare import Miss, Rules, error, first_misses, frames_differ
from twinstep.frames import Start, take_lanes
from twinstep.gates import Lockstep, Resync, Window
from twinstep.running import Runner
from twinstep.tracefile import WINDOW, ChunkFile, digests


@dataclass(frozen=True)
class Divergence:
    """One episode that differs: its number, where, and the case that shows it.

    kind: as in `cases.Case`. An `episode` has the actions so far; a `step` (resync and window
    gates) the oracle's state and the actions from there; a `restart` the terminal state.
    """

    episode: int
    miss: Miss
    start: Start
    actions: np.ndarray
    kind: str = "episode"
    state: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass
class Outcome:
    """What a comparison covered and found."""

    episodes: int = 0
    steps: int = 0
    divergences: list[Divergence] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)

    @property
    def shortest(self) -> Divergence:
        """The divergence that needs the fewest steps; ties go to the lowest episode."""
        return min(self.divergences, key=lambda d: (d.miss.step, d.episode))


def check_episodes(runner: Runner, traces: TraceSet, gates: dict[str, Lockstep]) -> Outcome:
    """Replay every episode, never corrected, and compare each frame under lockstep gates."""
    outcome = Outcome()
    for chunk in traces.chunks():
        last = _LastFrames(runner, chunk)
        misses = _replay(runner, chunk, gates, last)
        for miss in misses:
            outcome.divergences.append(_divergence(chunk, outcome.episodes, miss))
        if not misses:
            outcome.divergences += _check_restarts(runner, chunk, gates, last, outcome.episodes)
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    return outcome


def _replay(
    runner: Runner, chunk: ChunkFile, gates: dict[str, Lockstep], last: _LastFrames
) -> list[Miss]:
    found: dict[int, Miss] = {}
    parts = runner.windows(chunk.starts, chunk.window_actions, chunk.windows, LANES)
    for number, got in enumerate(parts):
        # Part 0 is frame 0 alone; part w + 1 holds the frames after window w's actions.
        first = 0 if number == 0 else (number - 1) * WINDOW + 1
        rows = len(got["reward"])
        valid = np.arange(first, first + rows)[:, None] <= chunk.lengths[None]
        differing = _differing(chunk, number, got, gates, last)
        for miss in first_misses(differing, valid, first):
            found.setdefault(miss.lane, miss)
        if len(found) == chunk.lanes:
            break
    return [found[lane] for lane in sorted(found)]


def _differing(
    chunk: ChunkFile,
    number: int,
    got: dict[str, np.ndarray],
    gates: dict[str, Lockstep],
    last: _LastFrames,
) -> dict[str, np.ndarray]:
    """Compare one part; large fields by digest first, unpacked only where digests differ."""
    window = max(number - 1, 0)
    # Frame 0 lies before the frames that follow from the first window's actions.
    rows = (slice(0, 1), slice(1, None), slice(None))[min(number, 2)]
    plain = {p: g for p, g in gates.items() if not (g.exact and chunk.has_digest(p))}
    read = chunk.new_rows(window, sorted({*plain, "reward"}))
    if number or not chunk.lengths.any():
        last.keep(window, read)
    found = frames_differ({path: values[rows] for path, values in read.items()}, got, plain)
    for path in gates.keys() - plain.keys():
        stored = chunk.new_rows(window, [path], "digest")[path][rows]
        wrong = (stored != digests(got[path])).any(-1)
        if wrong.any():
            found[path] = wrong
    return found


class _LastFrames:
    """The oracle's state at the end of each episode, kept while a chunk is read."""

    def __init__(self, runner: Runner, chunk: ChunkFile) -> None:
        wanted = chunk.restarted and runner.offers("restart") and runner.offers("load")
        names = [f"state.{field.name}" for field in runner.contract.state]
        self._paths = [*names, "terminated"] if wanted else []
        self._chunk = chunk
        self.frames: dict[str, np.ndarray] = {}

    def keep(self, number: int, read: dict[str, np.ndarray]) -> None:
        """Keep what ends in a window, of which `read` has been unpacked already."""
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
) -> list[Divergence]:
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
    found = frames_differ(restarted, got, gates)
    divergences = []
    for lane in np.flatnonzero(last.frames["terminated"]):
        paths = tuple(sorted(path for path, wrong in found.items() if wrong[lane]))
        if paths:
            miss = Miss(int(lane), int(chunk.lengths[lane]) + 1, paths)
            state = {name: values[lane] for name, values in states.items()}
            start, none = take_lanes(chunk.starts, int(lane)), chunk.actions_of(int(lane))[:0]
            divergences.append(Divergence(before + int(lane), miss, start, none, "restart", state))
    return divergences


def _divergence(chunk: ChunkFile, before: int, miss: Miss) -> Divergence:
    start = take_lanes(chunk.starts, miss.lane)
    actions = chunk.actions_of(miss.lane)[: miss.step]
    return Divergence(before + miss.lane, miss, start, actions)


def check_from_states(runner: Runner, traces: TraceSet, rules: Rules) -> Outcome:
    """Compare short runs from the oracle's own states, under resync and window gates.

    Each resync gate looks at every single step; each window gate at consecutive windows of
    its length. numbers holds the largest error per path and, for each quantile gate, the
    fraction above its threshold.
    """
    outcome = Outcome()
    errors: dict[str, list[np.ndarray]] = {}
    resets = {p: g for p, g in rules.one_step().items() if not isinstance(rules.gates[p], Lockstep)}
    lengths = sorted({1} | {gate.steps for gate in rules.windows().values()})
    for chunk in traces.chunks():
        outcome.divergences += _resets(runner, chunk, resets, outcome.episodes)
        for steps in lengths:
            paths = _paths_at(rules, steps)
            if paths:
                _from_states(runner, chunk, rules, steps, paths, errors, outcome)
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    for path, parts in sorted(errors.items()):
        if sum(part.size for part in parts):
            outcome.numbers[f"{path} max"] = float(max(part.max(initial=0.0) for part in parts))
        gate = rules.gates[path]
        for threshold, _ in gate.above if isinstance(gate, Resync) else ():
            total = sum(part.size for part in parts)
            above = sum(int((part > threshold).sum()) for part in parts)
            outcome.numbers[f"{path} > {threshold:g}"] = above / max(total, 1)
    return outcome


def _resets(
    runner: Runner, chunk: ChunkFile, gates: dict[str, Lockstep], before: int
) -> list[Divergence]:
    """Compare the first frames, which no run from a later state shows."""
    want = {path: v[:1] for path, v in chunk.window(0, sorted({*gates, "reward"})).items()}
    _, first = runner.reset(chunk.starts)
    got = {path: values[None] for path, values in first.items()}
    misses = first_misses(frames_differ(want, got, gates), np.ones((1, chunk.lanes), bool), 0)
    return [_divergence(chunk, before, miss) for miss in misses]


def broken_fractions(outcome: Outcome, rules: Rules) -> list[str]:
    """Return one line for each quantile gate broken, and for each gate that compared nothing."""
    gated = [*rules.resync(), *rules.windows()]
    lines = [
        f"`{path}`: no episode was long enough for its gate, {rules.gates[path]}"
        for path in gated
        if f"{path} max" not in outcome.numbers
    ]
    for path, gate in rules.resync().items():
        for threshold, allowed in gate.above:
            share = outcome.numbers.get(f"{path} > {threshold:g}", 0.0)
            if share > allowed:
                lines.append(
                    f"`{path}`: {share:.3%} of one-step errors exceed {threshold:g}, "
                    f"allowed {allowed:.3%}"
                )
    return lines


def _paths_at(rules: Rules, steps: int) -> list[str]:
    wanted = []
    for path, gate in rules.gates.items():
        if (isinstance(gate, Resync) and steps == 1) or (
            isinstance(gate, Window) and gate.steps == steps
        ):
            wanted.append(path)
    return wanted


def _from_states(
    runner: Runner,
    chunk: ChunkFile,
    rules: Rules,
    steps: int,
    paths: list[str],
    errors: dict[str, list[np.ndarray]],
    outcome: Outcome,
) -> None:
    names = [field.name for field in runner.contract.state]
    state_paths = [f"state.{name}" for name in names]
    for number in range(chunk.windows):
        actions = chunk.window_actions(number)
        frames = chunk.window(number, sorted({*paths, *state_paths}))
        begin = number * WINDOW
        t, lane = _beginnings(chunk.lengths - begin, len(actions), steps)
        for part in range(0, len(t), _BATCH):
            at, who = t[part : part + _BATCH], lane[part : part + _BATCH]
            short = _BATCH - len(at)
            at = np.concatenate([at, np.repeat(at[:1], short)])
            who = np.concatenate([who, np.repeat(who[:1], short)])
            states = {n: frames[f"state.{n}"][at, who] for n in names}
            moves = np.stack([actions[at + k, who] for k in range(steps)])
            got = runner.play_from(states, moves)
            keep = slice(0, _BATCH - short)
            worst: dict[str, np.ndarray] = {}
            for path in paths:
                want = np.stack([frames[path][at + k + 1, who] for k in range(steps)])
                size = error(want, got[path])[:, keep]
                errors.setdefault(path, []).append(size.ravel())
                gate: Any = rules.gates[path]
                worst[path] = size.reshape(steps, size.shape[1], -1).max((0, 2)) > gate.max
            _note_worst(outcome, chunk, begin, at[keep], who[keep], worst, states, moves)


def _beginnings(left: np.ndarray, rows: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, lane) of every run of `steps` steps in a window of `rows` rows.

    left: i32[N], steps that each lane has left at the window's first row. Runs follow each
    other; the last one is moved back to end where the lane or the window ends, so that no
    step is left out but those of lanes shorter than a run.
    """
    last = np.minimum(left, rows) - steps
    grid = np.arange(0, max(rows, 1), steps)[:, None]
    at = np.minimum(grid, last[None])
    fresh = (last >= 0) & (grid < last + steps)
    t, lane = np.nonzero(fresh)
    return at[t, lane], lane


def _note_worst(
    outcome: Outcome,
    chunk: ChunkFile,
    begin: int,
    at: np.ndarray,
    who: np.ndarray,
    worst: dict[str, np.ndarray],
    states: dict[str, np.ndarray],
    moves: np.ndarray,
) -> None:
    wrong = np.zeros(len(at), bool)
    for rows in worst.values():
        wrong |= rows
    known = {d.episode for d in outcome.divergences}
    for item in np.flatnonzero(wrong):
        episode = outcome.episodes + int(who[item])
        if episode in known:
            continue
        known.add(episode)
        paths = tuple(sorted(path for path, rows in worst.items() if rows[item]))
        miss = Miss(int(who[item]), begin + int(at[item]) + 1, paths)
        start = take_lanes(chunk.starts, int(who[item]))
        state = {name: values[item] for name, values in states.items()}
        found = Divergence(episode, miss, start, moves[:, item], "step", state)
        outcome.divergences.append(found)


#: States per batch when a candidate is stepped from the oracle's states.
_BATCH = 4096
