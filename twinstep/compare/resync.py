"""Compare short runs from the oracle's own states: the gates of continuous physics.

A resync gate covers every single step, a window gate consecutive runs of its length.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from twinstep.compare.arrays import Miss, Named, Rules, error, first_misses, frames_differ
from twinstep.compare.lockstep import FirstDifference, Outcome, divergence_of
from twinstep.frames import take_lanes
from twinstep.gates import Lockstep, Resync, Window
from twinstep.inputs.batching import WINDOW
from twinstep.reference.trace_file import ChunkFile
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import LOADED, Runner


@dataclass
class _Seen:
    """The errors of one gate so far: the worst element's for each run and step."""

    of: Named
    errors: list[np.ndarray] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return self.of.gate.steps if isinstance(self.of.gate, Window) else 1

    def limits(self) -> list[tuple[str, float, float, bool]]:
        """Return (name, measured, allowed, True for a share) for each part of the gate."""
        path, gate = self.of.path, self.of.gate
        errors = np.concatenate([part.ravel() for part in self.errors] or [np.zeros(0)])
        assert isinstance(gate, Resync | Window)
        over = f" over {self.steps} steps" if self.steps > 1 else ""
        found = [(f"{path} max{over}", float(errors.max(initial=0.0)), gate.max, False)]
        for threshold, allowed in gate.above:
            share = float((errors > threshold).mean()) if errors.size else 0.0
            found.append((f"{path}{over} > {threshold:g}", share, allowed, True))
        return found


def check_from_states(runner: Runner, traces: TraceSet, rules: Rules) -> Outcome:
    """Compare short runs from the oracle's own states, under resync and window gates.

    numbers holds the largest error per gate and, for each quantile gate, the fraction above its
    threshold; lines gives the same next to the allowed values.
    """
    outcome = Outcome()
    gates = [_Seen(named) for named in rules.from_states()]
    resets = {p: g for p, g in rules.one_step().items() if not isinstance(rules.gates[p], Lockstep)}
    for chunk in traces.chunks():
        outcome.divergences += _resets(runner, chunk, resets, outcome.episodes)
        for steps in sorted({gate.steps for gate in gates}):
            _from_states(runner, chunk, [g for g in gates if g.steps == steps], outcome)
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    words: dict[str, list[str]] = {}
    for gate in gates:
        if not sum(part.size for part in gate.errors):
            continue
        for what, measured, allowed, share in gate.limits():
            outcome.numbers[what] = measured
            shown = f"{measured:.2%} ({allowed:.2%})" if share else f"{measured:.1e} ({allowed:g})"
            words.setdefault(gate.of.name, []).append(f"{what} {shown}")
    for name, parts in words.items():
        label = f"gate {name}" if name else "from the oracle's states"
        outcome.lines.append(f"{label}, {outcome.steps:,} steps: {', '.join(parts)}")
    return outcome


def broken_fractions(outcome: Outcome, rules: Rules) -> list[str]:
    """Return one line for each broken quantile gate and for each gate that compared nothing."""
    lines = []
    for named in rules.from_states():
        limits = _Seen(named).limits()
        if limits[0][0] not in outcome.numbers:
            lines.append(f"`{named.path}`: no episode was long enough for its gate, {named.gate}")
            continue
        for what, _, allowed, share in limits:
            measured = outcome.numbers[what]
            if share and measured > allowed:
                threshold = what.rpartition(" ")[2]
                lines.append(
                    f"`{named.path}`: {measured:.3%} of errors from the oracle's states exceed "
                    f"{threshold}, allowed {allowed:.3%}"
                )
    return lines


def _resets(
    runner: Runner, chunk: ChunkFile, gates: dict[str, Lockstep], before: int
) -> list[FirstDifference]:
    """Compare the first frames, which no run from a later state shows."""
    want = {path: v[:1] for path, v in chunk.window(0, sorted({*gates, "reward"})).items()}
    _, first = runner.reset(chunk.starts)
    got = {path: values[None] for path, values in first.items()}
    misses = first_misses(frames_differ(want, got, gates), np.ones((1, chunk.lanes), bool), 0)
    return [divergence_of(chunk, before, miss) for miss in misses]


def _from_states(runner: Runner, chunk: ChunkFile, gates: list[_Seen], outcome: Outcome) -> None:
    """Compare all runs of one length in a chunk."""
    steps, paths = gates[0].steps, sorted({gate.of.path for gate in gates})
    names = [field.name for field in runner.contract.shown]
    for number in range(chunk.windows):
        actions = chunk.window_actions(number)
        frames = chunk.window(number, sorted({*paths, *(f"state.{name}" for name in names)}))
        begin = number * WINDOW
        t, lane = _beginnings(chunk.lengths - begin, len(actions), steps)
        for part in range(0, len(t), LOADED):
            at, who = t[part : part + LOADED], lane[part : part + LOADED]
            short = LOADED - len(at)
            at = np.concatenate([at, np.repeat(at[:1], short)])
            who = np.concatenate([who, np.repeat(who[:1], short)])
            states = {n: frames[f"state.{n}"][at, who] for n in names}
            moves = np.stack([actions[at + k, who] for k in range(steps)])
            got = runner.play_from(states, moves)
            keep = LOADED - short
            wrong: dict[str, np.ndarray] = {}
            for gate in gates:
                path = gate.of.path
                want = np.stack([frames[path][at + k + 1, who] for k in range(steps)])
                size = error(want, got[path])[:, :keep]
                # A step's error is its worst element's.
                size = size.reshape(steps, keep, -1).max(2)
                gate.errors.append(size)
                assert isinstance(gate.of.gate, Resync | Window)
                wrong[path] = wrong.get(path, False) | (size.max(0) > gate.of.gate.max)
            _note_worst(outcome, chunk, begin, at[:keep], who[:keep], wrong, states, moves)


def _beginnings(left: np.ndarray, rows: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, lane) of every run of `steps` steps in a window of `rows` rows.

    left: i32[N], steps that each lane has left at the window's first row. Runs follow each other.
    The last one is moved back to end with the lane or the window, so that only steps of lanes
    shorter than a run are left out.
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
        found = FirstDifference(episode, miss, start, moves[:, item], "step", state)
        outcome.divergences.append(found)
