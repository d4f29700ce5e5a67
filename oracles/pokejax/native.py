"""The reference for `twinstep bench`: battles inside JavaScript, one process per core."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.bench.targets import NamedTarget
from twinstep.contract import Contract
from twinstep.env.timestep import StartTable
from twinstep.frames import Fields
from twinstep.oracles.pokejax import upstream
from twinstep.oracles.pokejax.bridge import Rows, started
from twinstep.oracles.pokejax.engines import InProcess, Node

Engines = list[Node] | list[InProcess]
#: Numbers before the observation: the ended flag, both rewards.
_HEAD = 3


class Battles:
    """N lanes of battles in a number of engines; see targets.Target.

    observes: whether observations are written as well, as every other backend does.
    """

    def __init__(self, engines: Engines, contract: Contract, observes: bool = True) -> None:
        self._engines = engines
        self._contract = contract
        self._rows = Rows(engines[0], contract)
        self._observes = observes
        self._asked: list[np.ndarray] = []
        self._edges: list[int] = []
        self._out: list[np.ndarray] = []
        self._steps = 0

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Begin battles of seeds u32[N, 2]; every `play` uses actions i32[T, N, 2]."""
        rows = StartTable(self._contract).rows
        assert rows is not None
        table = started(rows._replace(seed=np.zeros((len(rows.fields["team"]), 2), np.uint32)))
        self._steps, lanes = actions.shape[:2]
        self._edges = np.linspace(0, lanes, len(self._engines) + 1).astype(int).tolist()
        self._asked = []
        for engine, first, last in self._parts():
            own = seeds[first:last].astype(np.uint32).view(np.int32).reshape(-1)
            head, count = np.int32(len(table)), np.int32(last - first)
            given = np.concatenate([[head], table.reshape(-1), [count], own])
            engine.integers("run_begin", "", given)
            words = np.ascontiguousarray(actions[:, first:last], np.int32).reshape(-1)
            self._asked.append(np.concatenate([[self._steps, self._observes], words]))

    def play(self) -> None:
        """Play all steps in all engines at once."""
        for engine, asked in zip(self._engines, self._asked, strict=True):
            if isinstance(engine, Node):
                engine.send("run", "", asked)
        self._out = [
            engine.received() if isinstance(engine, Node) else engine.integers("run", "", asked)
            for engine, asked in zip(self._engines, self._asked, strict=True)
        ]

    def shown(self) -> Fields:
        """Return the outputs of the latest `play`, [T, N, ...]; nothing without observations."""
        if not self._observes:
            return {}
        parts = [
            out.reshape(self._steps, last - first, -1)
            for out, (_, first, last) in zip(self._out, self._parts(), strict=True)
        ]
        whole = np.concatenate(parts, 1)
        dtype, shape = self._contract.layout()["obs"]
        return {
            "obs": whole[..., _HEAD:].astype(dtype).reshape(*whole.shape[:2], *shape),
            "reward": whole[..., 1:_HEAD].astype(np.float32),
            "terminated": whole[..., 0].astype(bool),
        }

    def state(self) -> Fields:
        """Return the state's fields [N, ...]."""
        rows = [engine.integers("run_rows", "", np.zeros(0, np.int32)) for engine in self._engines]
        return self._rows.frame(np.concatenate(rows).reshape(-1, self._rows.width)).state

    def _parts(self) -> list[tuple[Any, int, int]]:
        return list(zip(self._engines, self._edges, self._edges[1:], strict=False))


def runners(contract: Contract, lanes: int, steps: int, threads: int) -> list[NamedTarget]:
    """Return the reference's ways to play: node with a process per thread, and PythonMonkey."""
    simulator = upstream.ensure()

    def nodes(observes: bool) -> Battles:
        return Battles([Node(simulator) for _ in range(threads)], contract, observes)

    name = "node" if threads == 1 else f"node, {threads} processes"
    found = [NamedTarget(name, nodes(True)), NamedTarget(f"{name}, nothing observed", nodes(False))]
    if threads == 1:
        found.append(NamedTarget("PythonMonkey", Battles([InProcess(simulator)], contract)))
    return found
