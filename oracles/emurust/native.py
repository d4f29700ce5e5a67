"""The reference as a whole environment for `twinstep bench`: PyBoys in threads or in processes.

Each way does what an environment has to: it plays the frames, reads the reward's bytes, copies the
observation, and begins the next episode by loading a saved state. PyBoy's tick lets other threads
run meanwhile, its memory reads do not.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.emurust import contract as make_contract
from twinstep.contracts.emurust_choice import cartridge_of
from twinstep.errors import UserError
from twinstep.frames import Fields
from twinstep.oracles.emurust.episode import Episode
from twinstep.players import Entry
from twinstep.timestep import next_seeds

_NAMES = ("obs", "reward", "terminated", "truncated")
Arrays = dict[str, np.ndarray]


class Slice:
    """Some lanes in turn: N episodes, one PyBoy each."""

    def __init__(self, contract: Contract, lanes: int) -> None:
        rom, _ = cartridge_of(contract.params)
        if rom is None:
            raise UserError(f"rom={contract.params['rom']}: choose one cartridge to be measured")
        self._contract = contract
        self._seeds = np.zeros((lanes, 2), np.uint32)
        self._episodes = [Episode(contract.params, rom) for _ in range(lanes)]

    def begin(self, seeds: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]."""
        self._seeds = seeds.copy()
        for episode, seed in zip(self._episodes, seeds, strict=True):
            episode.begin(seed)

    def play(self, actions: np.ndarray, out: Arrays) -> None:
        """Play actions i32[T, N, 1]; out: [T, N, ...] for each of _NAMES."""
        for t, row in enumerate(actions[:, :, 0].tolist()):
            for lane, episode in enumerate(self._episodes):
                out["reward"][t, lane] = episode.step(row[lane])
                ended, cut = episode.terminated, episode.truncated
                out["terminated"][t, lane], out["truncated"][t, lane] = ended, cut
                if ended or cut:
                    self._seeds[lane] = next_seeds(self._seeds[lane])
                    episode.begin(self._seeds[lane])
                out["obs"][t, lane] = episode.observation()

    def state(self) -> Arrays:
        """Return the shown fields [N, ...]."""
        shown = [episode.fields() for episode in self._episodes]
        return {name: np.stack([fields[name] for fields in shown]) for name in shown[0]}

    def close(self) -> None:
        """Free the PyBoys."""
        for episode in self._episodes:
            episode.boy.close()


class InThreads:
    """Slices side by side in threads; see players.Player."""

    def __init__(self, contract: Contract, lanes: int, steps: int, threads: int) -> None:
        self._edges = _edges(lanes, threads)
        self._slices = [Slice(contract, last - first) for first, last in self._edges]
        self._out: Arrays = {n: np.zeros(s, d) for n, (s, d) in _shapes(contract, lanes, steps)}
        self._actions = np.zeros((steps, lanes, 1), np.int32)
        self._pool = ThreadPoolExecutor(threads)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions i32[T, N, 1] are of every `play`."""
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
        """Return the shown fields [N, ...]."""
        return _joined([part.state() for part in self._slices])


class InProcesses:
    """Slices side by side in processes, which write to shared memory; see players.Player."""

    def __init__(self, contract: Contract, lanes: int, steps: int, threads: int) -> None:
        shapes = _shapes(contract, lanes, steps)
        self._memory, self._out = {}, {}
        for name, (shape, dtype) in shapes:
            size = max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize)
            self._memory[name] = shared_memory.SharedMemory(create=True, size=size)
            self._out[name] = np.ndarray(shape, dtype, self._memory[name].buf)
        self._edges = _edges(lanes, threads)
        names = {name: memory.name for name, memory in self._memory.items()}
        spawn = multiprocessing.get_context("spawn")
        self._pipes, self._children = [], []
        for first, last in self._edges:
            mine, theirs = spawn.Pipe()
            asked = (theirs, dict(contract.params), names, lanes, steps, first, last)
            child = spawn.Process(target=_serve, args=asked, daemon=True)
            child.start()
            self._pipes.append(mine)
            self._children.append(child)

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; actions i32[T, N, 1] are of every `play`."""
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
        """Return the shown fields [N, ...]."""
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


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[Entry]:
    """Return the reference's ways to play N lanes for T steps; with one thread the plain one."""
    about = {"facts": {"Frames per step": contract.params["frame_skip"]}}
    if threads == 1:
        return [Entry("PyBoy, one after another", InThreads(contract, lanes, steps, 1), about)]
    return [
        Entry("PyBoy in processes", InProcesses(contract, lanes, steps, threads), about),
        Entry("PyBoy in threads", InThreads(contract, lanes, steps, threads), about),
    ]


def _serve(
    pipe: Any, params: Any, names: Any, lanes: int, steps: int, first: int, last: int
) -> None:
    """Be one process of InProcesses."""
    contract = make_contract(params)
    part = Slice(contract, last - first)
    memory = {name: shared_memory.SharedMemory(name=where) for name, where in names.items()}
    out = {
        name: np.ndarray(shape, dtype, memory[name].buf)[:, first:last]
        for name, (shape, dtype) in _shapes(contract, lanes, steps)
    }
    actions = np.zeros((steps, last - first, 1), np.int32)
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
) -> list[tuple[str, tuple[tuple[int, ...], str]]]:
    shown = (steps, lanes)
    shapes = ((*shown, *contract.observation.shape), shown, shown, shown)
    return list(zip(_NAMES, zip(shapes, ("u1", "f4", "?", "?"), strict=True), strict=True))


def _edges(lanes: int, parts: int) -> list[tuple[int, int]]:
    """Return the first and last lane of each part that has any."""
    edges = [lanes * part // parts for part in range(parts + 1)]
    return [(a, b) for a, b in zip(edges, edges[1:], strict=False) if a < b]


def _joined(parts: list[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
