"""Compare averages over whole episodes of continuous physics by a test of equivalence (TOST).

Episodes that have diverged can no longer be compared step by step, but their distributions can:
the return, and for each element of an observation or state the mean of it and of its square over
an episode. Each average must be shown to be equivalent; the lack of a difference is not enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from twinstep._lib import stats
from twinstep.compare.arrays import Named, Rules
from twinstep.compare.lockstep import Outcome
from twinstep.contract import Contract
from twinstep.drivers import Driver
from twinstep.frames import Start, take_lanes, unflatten
from twinstep.gates import Averages
from twinstep.inputs.batching import FEW, chunk_lanes
from twinstep.reference.trace_file import ChunkFile
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import Runner

Rows = dict[str, np.ndarray]
_ENDS = ("terminated", "truncated")


@dataclass
class _Sums:
    """Sums over the first episodes of N lanes."""

    paths: list[str]
    lanes: int
    steps: np.ndarray = field(init=False)
    sums: Rows = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps, self._alive = np.zeros(self.lanes), np.ones(self.lanes, bool)

    def add(self, frames: Rows, lanes: slice = slice(None)) -> None:
        """Add frames of steps, path -> [T, n, ...]."""
        ended = frames["terminated"] | frames["truncated"]
        valid = (np.cumsum(ended, 0) - ended == 0) & self._alive[lanes]
        self._alive[lanes] &= ~ended.any(0)
        self.steps[lanes] += valid.sum(0)
        for path in self.paths:
            flat = frames[path].reshape(*ended.shape, -1).astype(np.float64)
            flat = np.where(valid[..., None], flat, 0.0)
            for name, values in {path: flat, f"{path} squared": flat**2}.items():
                total = self.sums.setdefault(name, np.zeros((self.lanes, flat.shape[-1])))
                total[lanes] += values.sum(0)

    def averages(self, contract: Contract, path: str) -> Rows:
        """Return name -> f64[N]: the return, or means over each episode's steps."""
        if path == "reward":
            return {"return": self.sums[path].sum(1)}
        names = _elements(contract, path, self.sums[path].shape[1])
        return {
            f"{path}.{name}{word}": self.sums[f"{path}{word}"][:, place] / self.steps
            for place, name in enumerate(names)
            for word in ("", " squared")
        }


def check_averages(
    runner: Runner, traces: TraceSet, rules: Rules, driver: Driver | None
) -> tuple[Outcome, list[str]]:
    """Compare the averages of whole episodes; return also one line for each that fails.

    driver: acts on the candidate's frames. None where the recorded actions depend on no frame: they
    are replayed.
    """
    outcome, broken = Outcome(), []
    gates = rules.averages()
    paths = sorted({named.path for named in gates})
    found: dict[str, tuple[list[np.ndarray], list[np.ndarray]]] = {}
    for chunk in traces.chunks():
        recorded, played = _Sums(paths, chunk.lanes), _Sums(paths, chunk.lanes)
        for number in range(chunk.windows):
            frames = chunk.window(number, [*paths, *_ENDS])
            recorded.add({path: values[1:] for path, values in frames.items()})
        for lanes, frames in _played(runner, chunk, driver):
            played.add(frames, lanes)
        for path in paths:
            theirs, ours = (sums.averages(runner.contract, path) for sums in (recorded, played))
            for name in theirs:
                pair = found.setdefault(name, ([], []))
                pair[0].append(theirs[name])
                pair[1].append(ours[name])
        outcome.episodes += chunk.lanes
        outcome.steps += int(played.steps.sum())
    for named in gates:
        word = "return" if named.path == "reward" else f"{named.path}."
        mine = {n: v for n, v in found.items() if n.startswith(word)}
        broken += _compare(named, mine, outcome)
    return outcome, broken


def _compare(named: Named, found: dict, outcome: Outcome) -> list[str]:
    """Test each average, record the intervals' ends, and return a line for each failure."""
    assert isinstance(named.gate, Averages)
    margin, reach, closest, broken = named.gate.margin, -1.0, "", []
    for name, parts in found.items():
        theirs, ours = (np.concatenate(values) for values in parts)
        spread = float(theirs.std(ddof=1))
        if np.array_equal(theirs, ours):
            far, word = 0.0, stats.EQUIVALENT
        elif spread == 0 or not np.isfinite(ours).all():
            far, word = float("inf"), stats.DIFFERENT
        else:
            test = stats.paired(list(ours / spread), list(theirs / spread), margin)
            far, word = max(-test.low, test.high), test.verdict
        if far > reach:
            reach, closest = far, name
        if word != stats.EQUIVALENT:
            broken.append(
                f"{name}: {word} within {margin:g} of an episode's standard deviation: "
                f"{ours.mean():.4g}, oracle {theirs.mean():.4g} +- {spread:.2g}, "
                f"the 90% interval reaches {far:.2f}"
            )
    what = "the return" if named.path == "reward" else f"{len(found)} averages of {named.path}"
    outcome.numbers[f"{named.path} averages reach"] = reach
    label = f"gate {named.name}" if named.name else "averages"
    outcome.lines.append(
        f"{label}, {outcome.episodes} episodes: {what} within {reach:.2f} of an episode's standard "
        f"deviation ({margin:g}; the largest end of a 90% interval, of {closest})"
    )
    return broken


def _played(
    runner: Runner, chunk: ChunkFile, driver: Driver | None
) -> Iterator[tuple[slice, Rows]]:
    """Yield lanes and their frames, path -> [T, n, ...], without the reset's."""
    if driver is None:
        parts = runner.windows(
            chunk.starts, chunk.window_actions, chunk.windows, chunk_lanes(runner.contract)
        )
        next(parts)
        for frames in parts:
            yield slice(None), frames
        return
    # The batch size for which single steps are compiled anyway.
    for begin in range(0, chunk.lanes, FEW):
        lanes = np.arange(begin, min(begin + FEW, chunk.lanes))
        padded = np.concatenate([lanes, np.repeat(lanes[:1], FEW - len(lanes))])
        steps = driven(runner, take_lanes(chunk.starts, padded), driver)
        for _, frames in itertools.islice(steps, 1, None):
            yield (
                slice(begin, begin + len(lanes)),
                {p: v[None, : len(lanes)] for p, v in frames.items()},
            )


def driven(runner: Runner, starts: Start, driver: Driver) -> Iterator[tuple[np.ndarray, Rows]]:
    """Let a driver play on the candidate until all lanes have ended.

    Yields the actions [N, P, ...] and the frame, path -> [N, ...], of each step. First come no
    actions [0] and the frame after reset.
    """
    contract = runner.contract
    act = driver(contract, starts, None)
    state, named = runner.reset(starts)
    yield np.zeros(0), named
    alive = np.ones(len(starts.seed), bool)
    for t in range(contract.horizon):
        dtype, shape = contract.action_layout()
        actions = np.asarray(act(unflatten(named), t), dtype).reshape(-1, *shape)
        state, named = runner.step(state, actions)
        yield actions, named
        alive &= ~(named["terminated"] | named["truncated"])
        if not alive.any():
            return


def _elements(contract: Contract, path: str, count: int) -> list[str]:
    names = (
        contract.observation.names
        if path == "obs"
        else contract.state_field(path.removeprefix("state.")).names
    )
    return list(names) if len(names) == count else [str(place) for place in range(count)]
