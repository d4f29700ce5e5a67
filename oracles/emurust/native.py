"""PyBoy as it is run for speed, for `twinstep bench`: no saved states, no frames of inner fields.

One after another, on threads (`tick` lets go of Python's lock), and in processes. Each lane plays
all of its steps before the next one does. A new episode begins from the hand-over's saved state.
"""

from __future__ import annotations

import mmap
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.oracles.emurust.bridge import EmuRustOracle
from twinstep.players import Entry
from twinstep.timestep import next_seeds

#: Frames over which instructions are counted.
_COUNTED = 20


class Lane(EmuRustOracle):
    """One PyBoy that shows an observation, a reward and an end, and is not asked for more."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract)
        boy = self._playing()
        boy.begin()
        self._handover = boy.save()
        self._seed = np.zeros(2, np.uint32)

    def begin(self, seed: np.ndarray) -> None:
        """Begin the episode of a seed u32[2]."""
        self._seed = seed
        self._playing().put(self._handover)
        self._start(seed)

    def play(self, actions: np.ndarray, out: dict[str, np.ndarray]) -> None:
        """Play actions i32[T] under same-step auto-reset; arrays of `out` are [T, ...]."""
        for t, action in enumerate(actions):
            out["reward"][t] = self._advance(int(action))
            terminated, truncated = self._ends()
            out["terminated"][t], out["truncated"][t] = terminated, truncated
            if terminated or truncated:
                self.begin(next_seeds(self._seed))
            out["obs"][t] = self._observation()

    def fields(self) -> dict[str, np.ndarray]:
        """Return the shown fields of the state."""
        return dict(self._frame(0.0).state)


class Boys:
    """N lanes on some threads; see players.Player."""

    def __init__(self, contract: Contract, lanes: int, steps: int, threads: int) -> None:
        self._lanes = [Lane(contract) for _ in range(lanes)]
        self._out = shared(contract, lanes, steps)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._actions = np.zeros((steps, lanes), np.int32)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions i32[T, N, 1] are of every `play`."""
        self._actions = np.array(actions[..., 0])
        for lane, seed in zip(self._lanes, seeds, strict=True):
            lane.begin(seed)

    def play(self) -> None:
        """Play all steps of all lanes."""
        each = self._pool.map if self._pool else map
        list(each(self._one, range(len(self._lanes))))

    def shown(self) -> Fields:
        """Return what the latest `play` gave, [T, N, ...]; the next one writes over it."""
        return self._out

    def state(self) -> Fields:
        """Return the state's shown fields [N, ...]."""
        return stacked([lane.fields() for lane in self._lanes])

    def _one(self, lane: int) -> None:
        out = {name: values[:, lane] for name, values in self._out.items()}
        self._lanes[lane].play(self._actions[:, lane], out)


class Processes:
    """N lanes in some processes, which write into memory that all share; see players.Player."""

    def __init__(self, contract: Contract, lanes: int, steps: int, processes: int) -> None:
        self._out = shared(contract, lanes, steps)
        self._parts = np.array_split(np.arange(lanes), processes)
        self._ends: list[Connection] = []
        fork = multiprocessing.get_context("fork")
        for part in self._parts:
            ours, theirs = fork.Pipe()
            out = {name: values[:, part[0] : part[-1] + 1] for name, values in self._out.items()}
            child = fork.Process(target=_serve, args=(theirs, contract, out), daemon=True)
            child.start()
            theirs.close()
            self._ends.append(ours)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions i32[T, N, 1] are of every `play`."""
        self._ask([("begin", seeds[part], actions[:, part]) for part in self._parts])

    def play(self) -> None:
        """Play all steps of all lanes."""
        self._ask([("play",)] * len(self._parts))

    def shown(self) -> Fields:
        """Return what the latest `play` gave, [T, N, ...]; the next one writes over it."""
        return self._out

    def state(self) -> Fields:
        """Return the state's shown fields [N, ...]."""
        found = self._ask([("state",)] * len(self._parts))
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}

    def _ask(self, requests: Sequence[tuple[Any, ...]]) -> list[Any]:
        for end, request in zip(self._ends, requests, strict=True):
            end.send(request)
        return [end.recv() for end in self._ends]


def _serve(end: Connection, contract: Contract, out: dict[str, np.ndarray]) -> None:
    steps, lanes = out["reward"].shape
    boys = Boys(contract, lanes, steps, 1)
    boys._out = out
    while True:
        try:
            method, *args = end.recv()
        except EOFError:
            return
        end.send(getattr(boys, method)(*args))


def shared(contract: Contract, lanes: int, steps: int) -> dict[str, np.ndarray]:
    """Return zeroed arrays [T, N, ...] for what is shown, in memory that processes share."""
    layout = contract.layout()
    out = {}
    for name in ("obs", "reward", "terminated", "truncated"):
        dtype, (*own,) = layout[name]
        shape = (steps, lanes, *(own[1:] if name in ("obs", "reward") else own))
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        out[name] = np.frombuffer(mmap.mmap(-1, size), dtype).reshape(shape)
    return out


def stacked(rows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Put fields of lanes side by side, [N, ...]."""
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[Entry]:
    """Return PyBoy's ways to play N lanes for T steps; with one thread the plain one."""
    ways: dict[str, Callable[[], Any]] = {
        "one after another": lambda: Boys(contract, lanes, steps, 1)
    }
    if threads > 1:
        ways = {
            f"{threads} processes": lambda: Processes(contract, lanes, steps, min(threads, lanes)),
            f"{threads} threads": lambda: Boys(contract, lanes, steps, threads),
        }
    about = {"facts": facts(contract)}
    return [Entry(name, make(), about) for name, make in ways.items()]


def facts(contract: Contract) -> dict[str, float]:
    """Return what a step is made of; instructions are counted by PyBoy's own hooks."""
    return {"Frames per step": contract.params["frame_skip"]}
