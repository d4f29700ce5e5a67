"""A pool of threads or processes over a single-lane reference, for `twinstep bench`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory
from typing import Any, NoReturn, Protocol

import numpy as np

from twinstep._lib.rpc import ChildProcess, serve
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

        They have the contract's layout, player axis included.
        """
        ...

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        ...


class InThreads:
    """Slices side by side in threads; see targets.Target.

    make: `module:callable`, called as `make(params, lanes) -> Slice`.
    """

    def __init__(
        self, make: str, contract: Contract, lanes: int, steps: int, threads: int = 1
    ) -> None:
        self._edges = _edges(lanes, threads)
        factory = registry.load_object(make)
        self._slices = [factory(contract.params, last - first) for first, last in self._edges]
        shapes = _shapes(contract, lanes, steps)
        self._out = {name: np.zeros(shape, dtype) for name, (dtype, shape) in shapes.items()}
        self._actions = np.zeros((steps, lanes, *contract.action_layout()[1]), np.int32)
        self._pool = ThreadPoolExecutor(threads)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; every `play` takes the actions [T, N, P, ...]."""
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
        """Return the latest `play`'s outputs [T, N, ...]; the next one overwrites them."""
        return self._out

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        return _joined([part.state() for part in self._slices])


class InProcesses:
    """Slices side by side in processes that write to shared memory; see targets.Target.

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
        shared = make, dict(contract.params), names, shapes
        self._children = [ChildProcess.spawn(_serve, *shared, *edge) for edge in self._edges]

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; every `play` takes the actions [T, N, P, ...]."""
        for child, (first, last) in zip(self._children, self._edges, strict=True):
            child.send(("begin", seeds[first:last], np.array(actions[:, first:last])))
        self._answers()

    def play(self) -> None:
        """Play all steps."""
        for child in self._children:
            child.send(("play",))
        self._answers()

    def shown(self) -> Fields:
        """Return the latest `play`'s outputs [T, N, ...]; the next one overwrites them."""
        return self._out

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        for child in self._children:
            child.send(("state",))
        return _joined(self._answers())

    def _answers(self) -> list[Any]:
        return [child.receive() for child in self._children]

    def __del__(self) -> None:
        for child in self._children:
            child.kill()
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
    """Run one process of InProcesses."""
    part: Slice = registry.load_object(make)(params, last - first)
    memory = {name: shared_memory.SharedMemory(name=where) for name, where in names.items()}
    out = {
        name: np.ndarray(shape, dtype, memory[name].buf)[:, first:last]
        for name, (dtype, shape) in shapes.items()
    }
    actions: Any = None

    def answer(request: tuple[Any, ...]) -> Fields | None:
        nonlocal actions
        if request[0] == "begin":
            actions = request[2]
            part.begin(request[1])
        elif request[0] == "play":
            part.play(actions, out)
        else:
            return part.state()
        return None

    serve(pipe, answer, _raised)


def _raised(error: BaseException) -> NoReturn:
    raise error  # ends the process, with its traceback on the terminal


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
