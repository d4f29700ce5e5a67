"""Replay whole episodes of continuous physics uncorrected and count the steps that agree."""

from __future__ import annotations

import numpy as np

from twinstep.compare.arrays import Rules, error
from twinstep.compare.lockstep import Outcome
from twinstep.gates import Horizon
from twinstep.inputs.batching import WINDOW, chunk_lanes
from twinstep.reference.trace_file import ChunkFile
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import Runner


def check_horizons(runner: Runner, traces: TraceSet, rules: Rules) -> tuple[Outcome, list[str]]:
    """Count the steps before episodes diverge; return also one line for each broken gate.

    A gate's paths diverge where the first of them does. An episode that ends before that counts
    with its length, which can only lower the median.
    """
    outcome, broken = Outcome(), []
    groups: dict[tuple[str, Horizon], list[str]] = {}
    for named in rules.horizons():
        assert isinstance(named.gate, Horizon)
        groups.setdefault((named.name, named.gate), []).append(named.path)
    parted: dict[tuple[str, Horizon], list[np.ndarray]] = {key: [] for key in groups}
    for chunk in traces.chunks():
        for key, found in _part(runner, chunk, groups).items():
            parted[key].append(found)
        outcome.episodes += chunk.lanes
        outcome.steps += int(chunk.lengths.sum())
    for (name, gate), parts in parted.items():
        steps = np.concatenate(parts)
        low, middle, high = int(steps.min()), float(np.median(steps)), int(steps.max())
        paths = ", ".join(groups[name, gate])
        outcome.numbers[f"{paths} within {gate.eps:g}, median steps"] = middle
        label = f"gate {name}" if name else "open loop"
        outcome.lines.append(
            f"{label}, {outcome.episodes} episodes: {paths} within {gate.eps:g} for {low} / "
            f"{middle:g} / {high} steps (least, median, most; at least {gate.least} and "
            f"{gate.median} asked)"
        )
        if low < gate.least:
            broken.append(
                f"{paths}: an episode leaves {gate.eps:g} after {low} steps, "
                f"at least {gate.least} are asked"
            )
        if middle < gate.median:
            broken.append(
                f"{paths}: the median episode leaves {gate.eps:g} after {middle:g} steps, "
                f"at least {gate.median} are asked"
            )
    return outcome, broken


def _part(
    runner: Runner, chunk: ChunkFile, groups: dict[tuple[str, Horizon], list[str]]
) -> dict[tuple[str, Horizon], np.ndarray]:
    """Return for each gate the steps before each lane diverges, i64[N]."""
    parted = {key: chunk.lengths.astype(np.int64).copy() for key in groups}
    together = {key: np.ones(chunk.lanes, bool) for key in groups}
    paths = sorted({path for group in groups.values() for path in group})
    parts = runner.windows(
        chunk.starts, chunk.window_actions, chunk.windows, chunk_lanes(runner.contract)
    )
    for number, got in enumerate(parts):
        first = 0 if number == 0 else (number - 1) * WINDOW + 1
        rows = slice(0, 1) if number == 0 else slice(1, None)
        want = {p: v[rows] for p, v in chunk.window(max(number - 1, 0), paths).items()}
        steps = first + np.arange(len(want[paths[0]]))[:, None]
        for key, group in groups.items():
            wrong = np.zeros((len(steps), chunk.lanes), bool)
            for path in group:
                size = error(want[path], got[path]).reshape(*wrong.shape, -1).max(-1)
                wrong |= size > key[1].eps
            wrong &= steps <= chunk.lengths[None]
            fresh = wrong.any(0) & together[key]
            parted[key][fresh] = first + wrong.argmax(0)[fresh] - 1
            together[key] &= ~fresh
        if not any(alive.any() for alive in together.values()):
            break
    return parted
