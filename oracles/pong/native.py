"""The reference as a separately compiled program for `twinstep bench`, with flags for speed."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.bench.targets import NamedTarget
from twinstep.contract import Contract
from twinstep.oracles.pong import bridge, upstream

_DRIVER = Path(__file__).with_name("bench.c")
#: upstream's flags come first, so these decide. None may change a result; the checksum shows it.
#: -march=native alone would fuse multiply and add.
_LEVELS = (("-O2",), ("-O3",), ("-O3", "-march=native", "-ffp-contract=off"))
_FINITE = ((), ("-ffinite-math-only", "-fno-signed-zeros"))
#: Games that play all their steps before the next ones begin; 0 for all games step by step.
_ORDERS = {"step by step": 0, "blocks of 64": 64}
_SLICE = 64


class Buffers:
    """Buffers shared by all flag sets: [T, N, ...], N games in rows."""

    def __init__(self, lanes: int, steps: int) -> None:
        self.actions = np.zeros((steps, lanes), np.float32)
        self.obs = np.zeros((steps, lanes, 8), np.float32)
        self.reward = np.zeros((steps, lanes), np.float32)
        self.terminated = np.zeros((steps, lanes), np.uint8)

    def spoil(self) -> None:
        """Overwrite the previous target's output: the next one must write everything itself."""
        self.obs.fill(np.nan)
        self.reward.fill(np.nan)
        self.terminated.fill(2)


class CompiledPong:
    """N games of one compiled library; see targets.Target.

    block: see bench.c. Each thread plays a slice of the games in its own copy of the library,
    because pong.h's driver keeps the drawing game in one variable.
    """

    def __init__(
        self, contract: Contract, libraries: Sequence[ctypes.CDLL], buffers: Buffers, block: int
    ) -> None:
        self._contract = contract
        self._libraries = libraries
        self._buffers = buffers
        lanes = buffers.obs.shape[1]
        self._games: np.ndarray = np.zeros(lanes, bridge.fields_of(libraries[0], "game_size"))
        blocks = -(-lanes // _SLICE)
        edges = [min(lanes, blocks * i // len(libraries) * _SLICE) for i in range(len(libraries))]
        self._slices = [
            (library, first, last)
            for library, first, last in zip(libraries, edges, [*edges[1:], lanes], strict=True)
            if first < last
        ]
        self._block = block
        self._pool = ThreadPoolExecutor(len(libraries))

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin the episodes of seeds u32[N, 2]; every `play` uses actions [T, N, 1]."""
        params = self._contract.params
        rules = [params["max_score"], params["frameskip"], int(params["continuous"])]
        count = ctypes.c_int64(len(self._games))
        seeds = np.ascontiguousarray(seeds, np.uint32)
        self._libraries[0].bench_begin(_at(self._games), count, _at(seeds), *rules)
        self._buffers.actions[:] = actions[..., 0]

    def ready(self) -> None:
        """Make sure that `play` writes everything."""
        self._buffers.spoil()

    def play(self) -> None:
        """Play all steps in all games."""
        if len(self._slices) == 1:
            self._play(self._slices[0])
        else:
            list(self._pool.map(self._play, self._slices))

    def shown(self) -> dict[str, np.ndarray]:
        """Return the outputs of the latest `play`, [T, N, ...]; the next one overwrites them."""
        b = self._buffers
        return {"obs": b.obs, "reward": b.reward, "terminated": b.terminated.view(bool)}

    def state(self) -> dict[str, np.ndarray]:
        """Return the state's fields [N, ...]."""
        named = self._games.dtype.names or ()
        return {f.name: self._games[f.name] for f in self._contract.state if f.name in named}

    def _play(self, part: tuple[ctypes.CDLL, int, int]) -> None:
        library, first, last = part
        b = self._buffers
        steps, lanes = b.actions.shape
        whole = [ctypes.c_int64(n) for n in (last - first, steps, lanes, self._block or lanes)]
        arrays = [a[:, first:] for a in (b.actions, b.obs, b.reward, b.terminated)]
        library.bench_play(_at(self._games[first:]), *whole, *map(_at, arrays))


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[NamedTarget]:
    """Return the reference under every set of flags and in both orders; the first is plain -O2.

    Raises OracleMissing if it is not available. Compiles libraries that the cache lacks.
    """
    buffers = Buffers(lanes, steps)
    found = []
    for level, finite in itertools.product(_LEVELS, _FINITE):
        flags = [*upstream.FLAGS, *level, *finite]
        library = upstream.build(_DRIVER, flags)
        loaded = _load(library, threads)
        for order, block in _ORDERS.items():
            player = CompiledPong(contract, loaded, buffers, block)
            name = f"{' '.join((*level, *finite))}, {order}"
            about = {"compiler": upstream.compiler_name(), "flags": " ".join(flags)}
            found.append(NamedTarget(name, player, about))
    return found


def _load(library: Path, copies: int) -> list[ctypes.CDLL]:
    """Load the library several times: one file would be loaded only once."""
    loaded = [ctypes.CDLL(str(library))]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, copies):
            copy = Path(folder) / f"{number}.so"
            shutil.copy(library, copy)
            loaded.append(ctypes.CDLL(str(copy)))
    return loaded


def _at(array: np.ndarray) -> Any:
    return ctypes.c_void_p(array.ctypes.data)
