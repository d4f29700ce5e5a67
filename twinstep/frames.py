"""Starts and frames, the data exchanged by a reference and a fast implementation.

Both are plain named tuples of arrays, so that NumPy, JAX and a foreign bridge can fill
them alike. `N` is the number of lanes (episodes played side by side), `P` the number of
players, `A` the number of discrete actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

Array = Any  # numpy.ndarray or jax.Array; the core converts with numpy.asarray
Fields = Mapping[str, Array]


class Start(NamedTuple):
    """The beginning of an episode.

    seed: u32[2], or u32[N, 2] for a batch.
    fields: inputs that a seed cannot carry (teams, decks, a ROM, qpos and qvel), each with the
        shape its contract declares, with a leading N for a batch. Empty for most.
    """

    seed: Array
    fields: dict[str, Array] = {}


class Frame(NamedTuple):
    """The view after a reset or a step. Every array has a leading N in a batch.

    obs: [P, ...] in the contract's observation dtype and shape.
    reward: [P]. terminated, truncated: bool, the episode's own (never those of the episode
        that an auto-reset began).
    acting: bool[P], who decides now.
    legal: bool[P, A], all False for players who do not decide; None where every action is
        always legal.
    state: the named inner fields of the contract. Sufficient: `load(state)` continues
        exactly.
    """

    obs: Array
    reward: Array
    terminated: Array
    truncated: Array
    acting: Array
    legal: Array | None
    state: dict[str, Array]


def flatten(frame: Frame) -> dict[str, Array]:
    """Return a frame's arrays by path: `obs`, `reward`, ..., `state.ball_x`."""
    named = {name: getattr(frame, name) for name in Frame._fields if name != "state"}
    if named["legal"] is None:
        del named["legal"]
    named.update({f"state.{name}": value for name, value in frame.state.items()})
    return named


def unflatten(named: Fields) -> Frame:
    """Build the frame with these paths, the inverse of `flatten`; other paths are ignored."""
    state = {
        name.removeprefix("state."): value
        for name, value in named.items()
        if name.startswith("state.")
    }
    heads = {name: named.get(name) for name in Frame._fields if name != "state"}
    return Frame(**heads, state=state)  # type: ignore[arg-type]


def stack_starts(starts: list[Start]) -> Start:
    """Join single starts into one batched start."""
    seeds = np.stack([np.asarray(start.seed, np.uint32) for start in starts])
    names = starts[0].fields
    return Start(
        seeds, {name: np.stack([np.asarray(s.fields[name]) for s in starts]) for name in names}
    )


def take_lanes(starts: Start, lanes: Any) -> Start:
    """Pick lanes of a batched start; an integer gives a single start, an array a batch."""
    return Start(
        np.asarray(starts.seed)[lanes],
        {name: np.asarray(value)[lanes] for name, value in starts.fields.items()},
    )
