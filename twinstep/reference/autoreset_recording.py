"""Lanes of the oracle recorded under same-step auto-reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from twinstep.contract import Contract
from twinstep.drivers import Driver
from twinstep.env.host_engine import OracleEngine
from twinstep.env.timestep import StartTable
from twinstep.frames import flatten
from twinstep.inputs.batching import WINDOW, autoreset_size
from twinstep.protocols import Oracle, offers
from twinstep.reference.recording import Beat
from twinstep.reference.trace_file import Chunk, TraceDamaged
from twinstep.reference.trace_set import TraceSet


@dataclass(frozen=True)
class Recording:
    """A recording in memory: frames path -> [T + 1, N, ...], actions [T, N, P, ...]."""

    frames: dict[str, np.ndarray]
    actions: np.ndarray

    @property
    def nbytes(self) -> int:
        """The arrays' bytes."""
        return self.actions.nbytes + sum(values.nbytes for values in self.frames.values())


def read_recording(traces: TraceSet) -> Recording:
    """Return a whole recording of `record_shipped`, which is one chunk."""
    parts, windows = [], []
    for chunk in traces.chunks():
        if parts:
            raise TraceDamaged("a recording under auto-reset has more than one chunk")
        numbers = range(chunk.windows)
        parts = [chunk.window(number, chunk.paths) for number in numbers]
        windows = [chunk.window_actions(number) for number in numbers]
    frames = {
        path: np.concatenate([first[:1], *[part[path][1:] for part in parts]])
        for path, first in parts[0].items()
    }
    recording = Recording(frames, np.concatenate(windows))
    for values in (recording.actions, *frames.values()):
        values.flags.writeable = False  # tests share it
    return recording


def record_shipped(
    make: Callable[[], Oracle],
    contract: Contract,
    driver: Driver,
    seeds: np.ndarray,
    beat: Beat,
) -> Chunk:
    """Play a driver from seeds u32[N, 2] through every end of an episode.

    The number of steps is `autoreset_size`'s, or more, up to its limit, until half of the lanes
    have seen an end; always a multiple of the window's length. Frames are those after the reset.
    `final_obs` is the observation at the end of an episode, `obs` elsewhere. A scalar oracle plays
    one lane after the other, since some references have one random stream for all.
    """
    table = StartTable(contract)
    probe = make()
    width = len(seeds) if offers(probe, "lanes") else 1
    probe.close()
    parts = []
    _, steps, most = autoreset_size(contract)
    for begin in range(0, len(seeds), width):
        group = seeds[begin : begin + width]
        engine = OracleEngine(contract, make, "same-step", table)
        limit = steps if parts else most
        parts.append(_play(engine, contract, driver, table, group, (steps, limit), begin, beat))
        engine.close()
        steps = len(parts[0][1])
    frames = {path: np.concatenate([p[0][path] for p in parts], 1) for path in parts[0][0]}
    actions = np.concatenate([p[1] for p in parts], 1)
    lengths = np.full(len(seeds), steps, np.int32)
    return Chunk(table.of(seeds), frames, actions, lengths, np.zeros(len(seeds), bool))


def _play(
    engine: OracleEngine,
    contract: Contract,
    driver: Driver,
    table: StartTable,
    seeds: np.ndarray,
    steps: tuple[int, int],
    first: int,
    beat: Beat,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    dtype, shape = contract.action_layout()
    act = driver(contract, table.of(seeds), None)
    beat(first, 0)
    state, now = engine.reset(seeds)
    rows = [flatten(state.frame) | {"final_obs": state.frame.obs}]
    actions = []
    ended = np.zeros(len(seeds), bool)
    least, most = steps
    for t in range(most):
        if t >= least and t % WINDOW == 0 and 2 * ended.sum() >= len(seeds):
            break
        chosen = np.asarray(act(state.frame, t), dtype).reshape(len(seeds), *shape)
        beat(first, t + 1)
        state, now = engine.step(state, chosen)
        ended |= np.asarray(now.terminated) | np.asarray(now.truncated)
        final = np.asarray(now.final_obs).reshape(state.frame.obs.shape)
        rows.append(flatten(state.frame) | {"final_obs": final})
        actions.append(chosen)
    frames = {path: np.stack([np.array(row[path]) for row in rows]) for path in rows[0]}
    return frames, np.stack(actions)
