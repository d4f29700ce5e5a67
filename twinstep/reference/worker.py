"""The oracle's child process, started by `_lib/child.py`.

It answers one request at a time over a pipe. Before each call into the reference it writes a
heartbeat (a counter, the episode, the step) into a small shared file. From that file the parent
distinguishes a hang from work and locates a crash, even after SIGKILL. The process ends at the
first heartbeat without a parent.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import signal
import struct
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import twinstep
from twinstep._lib import rpc
from twinstep._lib.paths import DISK_FULL
from twinstep.action_mask import is_illegal
from twinstep.errors import ContractBroken, UserError
from twinstep.frames import Frame, Start
from twinstep.project import registry
from twinstep.protocols import ORACLE_LADDER, NotCallable, offers
from twinstep.reference import trace_file
from twinstep.reference.recording import Trial, batches, hidden_after, record, replay

LIFE = struct.Struct("<QQQ")


class OracleHost:
    """Own the oracle and execute the parent's requests."""

    def __init__(self, life: mmap.mmap, locator: str, params: dict[str, Any]) -> None:
        self._life = life
        self._parent = os.getppid()
        self._beats = 0
        env = registry.load_object(locator)
        self.contract = env.contract(params)
        self._factory = registry.load_object(env.oracle.factory)
        self.oracle = self._factory(self.contract)
        self._lookahead: Any = None

    def beat(self, episode: int, step: int) -> None:
        """Write a heartbeat; end the process if its parent is gone."""
        if os.getppid() != self._parent:
            os._exit(1)
        self._beats += 1
        LIFE.pack_into(self._life, 0, self._beats, episode, step)

    def methods(self) -> list[str]:
        """List the oracle's optional methods."""
        return [name for name in ORACLE_LADDER if offers(self.oracle, name)]

    def reset(self, start: Start) -> Frame:
        """Begin an episode."""
        self.beat(0, 0)
        return _plain(self.oracle.reset(start))

    def step(self, action: np.ndarray) -> Frame:
        """Step the episode."""
        self.beat(0, 1)
        return _plain(self.oracle.step(action))

    def restart(self) -> Frame:
        """Let the reference begin its next episode."""
        self.beat(0, 0)
        return _plain(self.oracle.restart())

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a state."""
        self.beat(0, 0)
        self.oracle.load(state)

    def explain(self, state: dict[str, np.ndarray], action: np.ndarray) -> str:
        """Return the reference's own words for one step."""
        self.beat(0, 0)
        return self.oracle.explain(state, action)

    def call(self, module: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Evaluate one module on a batch."""
        self.beat(0, 0)
        return {n: np.asarray(v) for n, v in self.oracle.call(module, inputs).items()}

    def places(self, count: int, seed: int, dtype: str) -> dict[str, np.ndarray]:
        """Return placed states and modules' inputs, [count, ...], for candidates of a dtype."""
        self.beat(0, 0)
        return {n: np.asarray(v) for n, v in self.oracle.places(count, seed, dtype).items()}

    def steps(
        self, states: dict[str, np.ndarray], actions: np.ndarray, begin: Start
    ) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
        """Load each state [N, ...], apply its actions [H, N, P, ...]; frames [H, N, ...], events.

        begin: a batched start that puts the lanes into some legal episode first.
        """
        from twinstep.reference.placed_states import play_from

        return play_from(self.oracle, self.contract, states, actions, begin, self.beat)

    def restarts(self, states: dict[str, np.ndarray], begin: Start) -> dict[str, np.ndarray]:
        """Load each state [N, ...] and restart it; frames path -> [N, ...]."""
        from twinstep.reference.placed_states import restart_from

        return restart_from(self.oracle, states, begin, self.beat)

    def replays(
        self, trials: list[tuple[Start, np.ndarray]]
    ) -> list[tuple[dict[str, np.ndarray], np.ndarray, str]]:
        """Play given actions from each single start; see `recording.replay`."""
        return [
            replay(self.oracle, self.contract, start, actions, self.beat)
            for start, actions in trials
        ]

    def hidden_after(self, trials: list[Trial]) -> list[dict[str, np.ndarray]]:
        """Play each trial and return the hidden fields of the state that it leads to."""
        return [hidden_after(self.oracle, self.contract, trial, self.beat) for trial in trials]

    def record(
        self, driver: str, starts: Start, horizon: int, lanes: int, folder: str
    ) -> list[dict[str, Any]]:
        """Record every start into chunk files in `folder`; return one manifest entry each."""
        make = registry.load_object(driver)
        if self._lookahead is None and "load" in self.methods():
            self._lookahead = self._factory(self.contract)
        entries, first = [], 0
        for number, group in enumerate(batches(starts, lanes)):
            chunk = record(
                self.oracle, self.contract, make, group, horizon, self.beat, self._lookahead, first
            )
            first += chunk.lanes
            name = f"{number:05d}.chunk"
            sha = trace_file.write(Path(folder) / name, chunk, self.contract)
            entries.append({"file": name, "sha256": sha, **_summary(chunk, self.contract)})
        return entries

    def record_shipped(self, driver: str, seeds: np.ndarray, folder: str) -> list[dict[str, Any]]:
        """Record lanes under same-step auto-reset; return the manifest entry."""
        from twinstep.reference.autoreset_recording import record_shipped

        chunk = record_shipped(
            lambda: self._factory(self.contract),
            self.contract,
            registry.load_object(driver),
            seeds,
            self.beat,
        )
        name = "shipped.chunk"
        sha = trace_file.write(Path(folder) / name, chunk, self.contract)
        ends = {n: int(chunk.frames[n].sum()) for n in ("terminated", "truncated")}
        counts = {"episodes": chunk.lanes, "steps": int(chunk.lengths.sum()), "cut": chunk.lanes}
        counts["illegal"] = 0  # not counted: the same drivers' episodes are
        return [{"file": name, "sha256": sha, **counts, **ends, "events": {}, "measures": {}}]


def _summary(chunk: trace_file.Chunk, contract: Any) -> dict[str, Any]:
    """Count a chunk's episodes by their kind of end, its steps, events and measures."""
    lanes = np.arange(chunk.lanes)
    last = {p: chunk.frames[p][chunk.lengths, lanes] for p in ("terminated", "truncated")}
    asked = np.zeros(chunk.actions.shape, bool)
    if contract.masked:
        asked = is_illegal(chunk.actions, chunk.frames["legal"][: len(chunk.actions)])
    valid = np.arange(len(chunk.frames["reward"]))[:, None] <= chunk.lengths
    measures = {}
    for measure in contract.measures:
        values = chunk.frames[measure.path][valid].astype(np.float64)
        reduce = {"max": np.max, "min": np.min, "absmax": lambda v: np.max(np.abs(v))}
        measures[measure.name] = float(reduce[measure.reduce](values))
    counts = {}
    if chunk.events is not None:
        counts = dict(
            zip(contract.events, chunk.events[valid].sum(0).astype(int).tolist(), strict=True)
        )
    return {
        "episodes": chunk.lanes,
        "steps": int(chunk.lengths.sum()),
        "terminated": int(last["terminated"].sum()),
        "truncated": int((last["truncated"] & ~last["terminated"]).sum()),
        "cut": int((~chunk.ended).sum()),
        "illegal": int(asked.sum()),
        "events": counts,
        "measures": measures,
    }


def _plain(frame: Frame) -> Frame:
    heads = {
        name: None if getattr(frame, name) is None else np.array(getattr(frame, name))
        for name in Frame._fields
        if name != "state"
    }
    return Frame(**heads, state={name: np.array(value) for name, value in frame.state.items()})


def serve(handle: int, life_file: str) -> None:
    """Serve requests until the pipe closes."""
    # Ctrl-C goes to the whole foreground group; the parent decides when this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A crash in the reference's own code says where Python was; the parent reads it in the log.
    faulthandler.enable()
    pipe = Connection(handle)
    with open(life_file, "r+b") as file:
        life = mmap.mmap(file.fileno(), LIFE.size)
    host: OracleHost | None = None

    def answer(request: tuple[str, tuple[Any, ...]]) -> tuple[str, Any]:
        nonlocal host
        method, args = request
        if method == "open":
            _require_same(args[2])
            host = OracleHost(life, args[0], args[1])
            return "ok", host.methods()
        return "ok", getattr(host, method)(*args)

    rpc.serve(pipe, answer, _failure)
    if host is not None:
        host.oracle.close()
    os._exit(0)


def _failure(error: BaseException) -> tuple[str, Any]:
    if isinstance(error, UserError | ContractBroken | NotCallable):
        return "raise", error
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return "raise", OSError(error.errno, error.strerror)  # of the cache's, which has another
    if not isinstance(error, Exception):
        raise error
    return "failed", (f"{type(error).__name__}: {error}", traceback.format_exc())


def _require_same(file: str) -> None:
    """Raise UserError unless this process runs the parent's own twinstep."""
    if twinstep.__file__ != file:
        raise UserError(
            f"the oracle's process runs another twinstep ({twinstep.__file__}) than this one "
            f"({file}): see that nothing imports it when Python starts (PYTHONPATH)"
        )
