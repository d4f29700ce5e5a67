"""A reference of one lane at a time, played in threads or in processes, for `twinstep bench`."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory
from typing import Any, Protocol

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.project import registry

_NAMES = ("obs", "reward", "terminated", "truncated")


class Slice(Protocol):
    """Some lanes of a reference, with same-step auto-reset, played in turn."""

    def begin(self, seeds: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]."""
        ...

    def play(self, actions: np.ndarray, out: dict[str, np.ndarray]) -> None:
        """Play actions [T, N, P, ...]; out: `obs`, `reward`, `terminated`, `truncated` [T, N, ...].

        As the frames of the contract: with the players' axis.
        """
        ...

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        ...


class InThreads:
    """Slices side by side in threads; see players.Player.

    make: `module:callable`, called as `make(params, lanes) -> Slice`.
    """

    def __init__(
        self, make: str, contract: Contract, lanes: int, steps: int, threads: int = 1
    ) -> None:
        self._edges = _edges(lanes, threads)
        made = registry.load_object(make)
        self._slices = [made(contract.params, last - first) for first, last in self._edges]
        shapes = _shapes(contract, lanes, steps)
        self._out = {name: np.zeros(shape, dtype) for name, (dtype, shape) in shapes.items()}
        self._actions = np.zeros((steps, lanes, *contract.action_layout()[1]), np.int32)
        self._pool = ThreadPoolExecutor(threads)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions [T, N, P, ...] are of every `play`."""
        self._actions = np.array(actions)
        for part, (first, last) in zip(self._slices, self._edges, strict=True):
            part.begin(seeds[first:last])

    def play(self) -> None:
        """Play all steps."""

        def one(number: int) -> None:
            first, last = self._edges[number]
            out = {name: array[:, first:last] for name, array in self._out.items()}
            self._slices[number].play(self._actions[:, first:last], out)

        list(self._pool.map(one, range(len(self._slices))))

    def shown(self) -> Fields:
        """Return what the latest `play` gave, [T, N, ...]; the next one writes over it."""
        return self._out

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        return _joined([part.state() for part in self._slices])


class InProcesses:
    """Slices side by side in processes, which write to shared memory; see players.Player.

    make: as of InThreads.
    """

    def __init__(self, make: str, contract: Contract, lanes: int, steps: int, threads: int) -> None:
        shapes = _shapes(contract, lanes, steps)
        self._memory, self._out = {}, {}
        for name, (dtype, shape) in shapes.items():
            size = max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize)
            self._memory[name] = shared_memory.SharedMemory(create=True, size=size)
            self._out[name] = np.ndarray(shape, dtype, self._memory[name].buf)
        self._edges = _edges(lanes, threads)
        names = {name: memory.name for name, memory in self._memory.items()}
        spawn = multiprocessing.get_context("spawn")
        self._pipes, self._children = [], []
        for first, last in self._edges:
            mine, theirs = spawn.Pipe()
            asked = (theirs, make, dict(contract.params), names, shapes, first, last)
            child = spawn.Process(target=_serve, args=asked, daemon=True)
            child.start()
            self._pipes.append(mine)
            self._children.append(child)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions [T, N, P, ...] are of every `play`."""
        for pipe, (first, last) in zip(self._pipes, self._edges, strict=True):
            pipe.send(("begin", seeds[first:last], np.array(actions[:, first:last])))
        self._answers()

    def play(self) -> None:
        """Play all steps."""
        for pipe in self._pipes:
            pipe.send(("play",))
        self._answers()

    def shown(self) -> Fields:
        """Return what the latest `play` gave, [T, N, ...]; the next one writes over it."""
        return self._out

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        for pipe in self._pipes:
            pipe.send(("state",))
        return _joined(self._answers())

    def _answers(self) -> list[Any]:
        return [pipe.recv() for pipe in self._pipes]

    def __del__(self) -> None:
        for child in self._children:
            child.terminate()
        self._out.clear()
        for memory in self._memory.values():
            memory.close()
            memory.unlink()


def _serve(
    pipe: Any,
    make: str,
    params: Mapping[str, Any],
    names: Mapping[str, str],
    shapes: Mapping[str, tuple[Any, tuple[int, ...]]],
    first: int,
    last: int,
) -> None:
    """Be one process of InProcesses."""
    part: Slice = registry.load_object(make)(params, last - first)
    memory = {name: shared_memory.SharedMemory(name=where) for name, where in names.items()}
    out = {
        name: np.ndarray(shape, dtype, memory[name].buf)[:, first:last]
        for name, (dtype, shape) in shapes.items()
    }
    actions: Any = None
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        answer: Any = None
        if asked[0] == "begin":
            actions = asked[2]
            part.begin(asked[1])
        elif asked[0] == "play":
            part.play(actions, out)
        else:
            answer = part.state()
        pipe.send(answer)


def _shapes(
    contract: Contract, lanes: int, steps: int
) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    layout = contract.layout()
    return {name: (layout[name][0], (steps, lanes, *layout[name][1])) for name in _NAMES}


def _edges(lanes: int, parts: int) -> list[tuple[int, int]]:
    """Return the first and last lane of each part that has any."""
    edges = [lanes * part // parts for part in range(parts + 1)]
    return [(a, b) for a, b in zip(edges, edges[1:], strict=False) if a < b]


def _joined(parts: list[Fields]) -> Fields:
    return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]}
