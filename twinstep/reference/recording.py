"""Recording: play drivers against the oracle and keep every frame.

Runs in the oracle's child process. An oracle that offers `lanes` is played many episodes at
a time, any other one episode after the other; the chunks come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twinstep.action_mask import legalise, played
from twinstep.contract import Contract
from twinstep.drivers import Driver, Look
from twinstep.errors import ContractBroken
from twinstep.frames import Frame, Start, flatten, take_lanes
from twinstep.protocols import Lanes, Oracle, offers
from twinstep.reference.trace_file import Chunk

#: A start, the state that is loaded then ({}: none), and the actions [T, P, ...] from there.
Trial = tuple[Start, dict[str, np.ndarray], np.ndarray]
#: Called with (episode, step) before each call into the reference, as a heartbeat.
Beat = Callable[[int, int], None]


class ScalarLanes:
    """One live episode behind the interface of many."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        for name in ("load", "restart", "events"):
            if callable(getattr(oracle, name, None)):
                setattr(self, name, getattr(self, f"_{name}"))

    def reset(self, starts: Start) -> Frame:
        """Begin the one episode."""
        return _batch(self._oracle.reset(take_lanes(starts, 0)))

    def step(self, actions: Any, live: Any) -> Frame:
        """Step the one episode."""
        return _batch(self._oracle.step(np.asarray(actions)[0]))

    def _load(self, state: dict[str, Any], lanes: Any) -> None:
        self._oracle.load({name: value[0] for name, value in state.items()})  # type: ignore[attr-defined]

    def _restart(self, lanes: Any) -> Frame:
        return _batch(self._oracle.restart())  # type: ignore[attr-defined]

    def _events(self) -> np.ndarray:
        return np.asarray(self._oracle.events())[None]  # type: ignore[attr-defined]


def open_lanes(oracle: Oracle, count: int) -> tuple[Lanes, int]:
    """Return the oracle's lanes and their number: `count`, or 1 for a scalar oracle."""
    if callable(getattr(oracle, "lanes", None)):
        return oracle.lanes(count), count  # type: ignore[attr-defined]
    return ScalarLanes(oracle), 1


def record(
    oracle: Oracle,
    contract: Contract,
    driver: Driver,
    starts: Start,
    horizon: int,
    beat: Beat,
    lookahead: Oracle | None = None,
    first: int = 0,
) -> Chunk:
    """Play one driver from each start and return the episodes as one chunk.

    horizon: steps after which an episode is cut. lookahead: a second instance of the oracle for
    drivers that look ahead, unusable if frames lack hidden fields. first: number of the first
    episode, for the heartbeat.
    """
    count = len(np.asarray(starts.seed))
    lanes, width = open_lanes(oracle, count)
    ahead = None
    seeing = offers(lanes, "load") and offers(lanes, "events") and not contract.hidden
    if lookahead is not None and seeing:
        ahead, _ = open_lanes(lookahead, width)
    parts = []
    for begin in range(0, count, width):
        group = take_lanes(starts, np.arange(begin, min(begin + width, count)))
        beat_at = lambda step, begin=begin: beat(first + begin, step)  # noqa: E731
        parts.append(_play(lanes, contract, driver, group, horizon, beat_at, ahead))
    return parts[0] if len(parts) == 1 else _join(parts, starts)


def _play(
    lanes: Lanes,
    contract: Contract,
    driver: Driver,
    starts: Start,
    horizon: int,
    beat: Callable[[int], None],
    ahead: Lanes | None,
) -> Chunk:
    count = len(starts.seed)
    dtype, shape = contract.action_layout()
    live = np.ones(count, bool)
    lengths = np.zeros(count, np.int32)
    ended = np.zeros(count, bool)
    seen = offers(lanes, "events") and bool(contract.events)
    beat(0)
    frame = lanes.reset(starts)
    rows = _Rows(contract, count)
    rows.add(flatten(frame), live)
    events = [_events(lanes, live)] if seen else []
    actions: list[np.ndarray] = []
    restarted: dict[str, np.ndarray] = {}
    current = {"frame": frame, "live": live}
    act = driver(contract, starts, _look(ahead, starts, current) if ahead else None)
    for t in range(horizon):
        done = np.asarray(frame.terminated) | np.asarray(frame.truncated)
        finished = live & done
        if finished.any():
            ended |= finished
            if contract.reset_mode != "none" and offers(lanes, "restart"):
                _restart(lanes, contract, finished & np.asarray(frame.terminated), restarted)
            live = live & ~done
        if not live.any():
            break
        current.update(frame=frame, live=live)
        chosen = np.asarray(act(frame, t), dtype).reshape(count, *shape)
        chosen = np.where(live.reshape(-1, *([1] * len(shape))), chosen, 0).astype(dtype)
        actions.append(chosen)
        lengths += live
        beat(t + 1)
        frame = lanes.step(chosen, live)
        rows.add(flatten(frame), live)
        if seen:
            events.append(_events(lanes, live))
    else:
        done = np.asarray(frame.terminated) | np.asarray(frame.truncated)
        ended |= live & done
        if contract.reset_mode != "none" and offers(lanes, "restart"):
            _restart(lanes, contract, live & np.asarray(frame.terminated), restarted)
    return Chunk(
        starts,
        rows.stacked(),
        np.stack(actions) if actions else np.zeros((0, count, *shape), dtype),
        lengths,
        ended,
        np.stack(events) if seen else None,
        restarted,
    )


def replay(
    oracle: Oracle,
    contract: Contract,
    start: Start,
    actions: np.ndarray,
    beat: Beat,
) -> tuple[dict[str, np.ndarray], np.ndarray, str]:
    """Play given actions [T, P, ...] from a single start until the episode ends.

    They are made legal, but for those that `action_mask.kept` marked.

    Returns frames path -> [L + 1, ...], the L actions played, and "" or the reason of an early stop
    ("ended").
    """
    frame = oracle.reset(start)
    rows = _Rows(contract, 1)
    rows.add(flatten(_batch(frame)), np.ones(1, bool))
    taken: list[np.ndarray] = []
    why = ""
    for t, action in enumerate(actions):
        if bool(frame.terminated) or bool(frame.truncated):
            why = "ended"
            break
        legal = None if frame.legal is None else np.asarray(frame.legal)[None]
        action = played(np.asarray(action)[None], legal)[0]
        taken.append(action)
        beat(0, t + 1)
        frame = oracle.step(action)
        rows.add(flatten(_batch(frame)), np.ones(1, bool))
    frames = {path: values[:, 0] for path, values in rows.stacked().items()}
    dtype, shape = contract.action_layout()
    stacked = np.stack(taken) if taken else np.zeros((0, *shape), dtype)
    return frames, stacked.astype(dtype), why


def hidden_after(
    oracle: Oracle, contract: Contract, trial: Trial, beat: Beat
) -> dict[str, np.ndarray]:
    """Play a trial and return the hidden fields of the state that it leads to.

    The actions are those of a recording: legal, and none after the episode's end.
    """
    start, state, actions = trial
    beat(0, 0)
    oracle.reset(start)
    if state:
        oracle.load(state)  # type: ignore[attr-defined]
    for t, action in enumerate(actions):
        beat(0, t + 1)
        oracle.step(action)
    if not offers(oracle, "hidden"):
        raise ContractBroken("the contract has hidden fields, the oracle has no `hidden`")
    named = {name: np.array(value) for name, value in oracle.hidden().items()}  # type: ignore[attr-defined]
    wanted = {f.name: (np.dtype(f.dtype), f.shape) for f in contract.hidden}
    if {name: (value.dtype, value.shape) for name, value in named.items()} != wanted:
        raise ContractBroken("the oracle's `hidden` and the contract's hidden fields differ")
    return named


def batches(starts: Start, lanes: int) -> Iterator[Start]:
    """Cut batched starts into batches of at most `lanes`."""
    count = len(np.asarray(starts.seed))
    for begin in range(0, count, lanes):
        yield take_lanes(starts, np.arange(begin, min(begin + lanes, count)))


class _Rows:
    """Collects frames, checked against the contract, copied lane by lane while it lives."""

    def __init__(self, contract: Contract, lanes: int) -> None:
        self._layout = contract.layout()
        self._lanes = lanes
        self._rows: dict[str, list[np.ndarray]] = {path: [] for path in self._layout}

    def add(self, named: dict[str, Any], live: np.ndarray) -> None:
        if named.keys() != self._layout.keys():
            odd = sorted(named.keys() ^ self._layout.keys())
            raise ContractBroken(f"the oracle's frame and the contract differ in {', '.join(odd)}")
        for path, (dtype, shape) in self._layout.items():
            value = np.asarray(named[path])
            if value.dtype != dtype or value.shape != (self._lanes, *shape):
                raise ContractBroken(
                    f"the oracle's {path} is {value.dtype}{list(value.shape)}, the contract "
                    f"says {dtype}{[self._lanes, *shape]}"
                )
            kept = np.zeros_like(value)
            kept[live] = value[live]
            self._rows[path].append(kept)

    def stacked(self) -> dict[str, np.ndarray]:
        return {path: np.stack(rows) for path, rows in self._rows.items()}


def _look(ahead: Lanes, starts: Start, current: dict[str, Any]) -> Look:
    """Return the function that plays actions [H, N, ...] on a copy and collects events."""
    begun: list[Frame] = []

    def look(actions: np.ndarray) -> np.ndarray:
        if not begun:
            begun.append(ahead.reset(starts))
        frame: Frame = current["frame"]
        live: np.ndarray = current["live"].copy()
        state = {name: np.asarray(value) for name, value in frame.state.items()}
        ahead.load(state, np.arange(len(live)))  # type: ignore[attr-defined]
        found: np.ndarray | None = None
        for action in actions:
            chosen = legalise(action, None if frame.legal is None else np.asarray(frame.legal))
            frame = ahead.step(chosen, live)
            now = _events(ahead, live)
            found = now if found is None else found | now
            live &= ~(np.asarray(frame.terminated) | np.asarray(frame.truncated))
        assert found is not None
        return found

    return look


def _events(lanes: Lanes, live: np.ndarray) -> np.ndarray:
    return np.asarray(lanes.events(), bool) & live[:, None]  # type: ignore[attr-defined]


def _restart(
    lanes: Lanes, contract: Contract, which: np.ndarray, out: dict[str, np.ndarray]
) -> None:
    if not which.any():
        return
    frame = lanes.restart(np.flatnonzero(which))  # type: ignore[attr-defined]
    for path, value in flatten(frame).items():
        value = np.asarray(value)
        kept = out.setdefault(path, np.zeros_like(value))
        kept[which] = value[which]


def _batch(frame: Frame) -> Frame:
    named = {path: np.asarray(value)[None] for path, value in flatten(frame).items()}
    state = {n.removeprefix("state."): v for n, v in named.items() if n.startswith("state.")}
    heads = [named.get(name) for name in Frame._fields if name != "state"]
    return Frame(*heads, state)  # type: ignore[arg-type]


def _join(parts: list[Chunk], starts: Start) -> Chunk:
    """Put single-lane recordings side by side, padded with zeros to the longest."""
    longest = max(len(part.actions) for part in parts)

    def widen(values: list[np.ndarray], rows: int) -> np.ndarray:
        padded = [
            np.concatenate([v, np.zeros((rows - len(v), *v.shape[1:]), v.dtype)]) for v in values
        ]
        return np.concatenate(padded, 1)

    restarted: dict[str, np.ndarray] = {}
    paths = {path for part in parts for path in part.restarted}
    for path in sorted(paths):
        blank = next(p.restarted[path] for p in parts if path in p.restarted)
        restarted[path] = np.concatenate(
            [p.restarted.get(path, np.zeros_like(blank)) for p in parts]
        )
    events = [part.events for part in parts if part.events is not None]
    return Chunk(
        starts,
        {p: widen([part.frames[p] for part in parts], longest + 1) for p in parts[0].frames},
        widen([part.actions for part in parts], longest),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.ended for part in parts]),
        widen(events, longest + 1) if events else None,
        restarted,
    )
