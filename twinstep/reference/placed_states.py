"""Put the oracle into given states and play on from there.

States are drawn from the contract's ranges or taken from a trace. All arrays have a leading N.
An oracle with lanes plays them at once, any other one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Start, flatten, take_lanes
from twinstep.protocols import Oracle
from twinstep.reference.recording import Beat, open_lanes

#: The most lanes of the reference that are open at once.
MOST_LANES = 1024


def play_from(
    oracle: Oracle,
    contract: Contract,
    states: dict[str, np.ndarray],
    actions: np.ndarray,
    begin: Start,
    beat: Beat,
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Load states [N, ...], apply actions [H, N, P, ...] as they are.

    Returns frames path -> [H, N, ...] and events bool[H, N, E] (None without events). A lane
    that ends earlier repeats its last frame. begin: a batched start [N] the lanes are put
    into first; its `fields` also carry what a state does not (a ROM, a format).
    """
    rows: list[tuple[dict[str, np.ndarray], np.ndarray | None]] = []
    for lanes, group, known in _loaded(oracle, states, begin, actions.shape[1]):
        frames, events = _play(
            lanes, contract, actions[:, group], lambda t, g=group: beat(int(g[0]), t)
        )
        frames = {path: values[:, known:] for path, values in frames.items()}
        rows.append((frames, None if events is None else events[:, known:]))
    joined = {path: np.concatenate([row[0][path] for row in rows], 1) for path in rows[0][0]}
    seen = [row[1] for row in rows if row[1] is not None]
    return joined, np.concatenate(seen, 1) if seen else None


def restart_from(
    oracle: Oracle, states: dict[str, np.ndarray], begin: Start, beat: Beat
) -> dict[str, np.ndarray]:
    """Load states [N, ...] and let the reference restart each: frames path -> [N, ...]."""
    rows = []
    for lanes, group, known in _loaded(oracle, states, begin, len(np.asarray(begin.seed))):
        beat(int(group[0]), 0)
        frame = lanes.restart(np.arange(len(group)))
        rows.append({path: np.array(value)[known:] for path, value in flatten(frame).items()})
    return {path: np.concatenate([row[path] for row in rows]) for path in rows[0]}


def _loaded(
    oracle: Oracle, states: dict[str, np.ndarray], begin: Start, count: int
) -> Iterator[tuple[Any, np.ndarray, int]]:
    """Yield lanes in the given states, group by group.

    Each group comes with its lanes' numbers, and with the count of first ones that an earlier group
    had: all groups have one size, which is small since some references take half a megabyte a lane.
    """
    lanes, width = open_lanes(oracle, min(count, MOST_LANES))
    for first in range(0, count, width):
        start = min(first, count - width)
        group = np.arange(start, start + width)
        lanes.reset(take_lanes(begin, group))
        part = {name: np.asarray(value)[group] for name, value in states.items()}
        lanes.load(part, np.arange(width))  # type: ignore[attr-defined]
        yield lanes, group, first - start


def _play(
    lanes: Any, contract: Contract, actions: np.ndarray, beat: Any
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    live = np.ones(actions.shape[1], bool)
    frames: list[dict[str, np.ndarray]] = []
    events: list[np.ndarray] = []
    for t, action in enumerate(actions):
        beat(t)
        frame = lanes.step(action, live)
        named = {path: np.array(value) for path, value in flatten(frame).items()}
        if frames:
            for path, value in named.items():
                value[~live] = frames[-1][path][~live]
        frames.append(named)
        if callable(getattr(lanes, "events", None)) and contract.events:
            events.append(np.asarray(lanes.events(), bool) & live[:, None])
        live = live & ~(named["terminated"] | named["truncated"])
        if not live.any():
            frames += [frames[-1]] * (len(actions) - len(frames))
            break
    stacked = {path: np.stack([row[path] for row in frames]) for path in frames[0]}
    if not events:
        return stacked, None
    blank = [np.zeros_like(events[0])] * (len(actions) - len(events))
    return stacked, np.stack(events + blank)
