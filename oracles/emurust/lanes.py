"""Many PyBoys in parallel, a thread to each core: `tick` releases Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields, Frame, Start, flatten, take_lanes, unflatten
from twinstep.oracles.emurust.bridge import EmuRustOracle


class EmuRustLanes:
    """An episode in each of some oracles; see protocols.Lanes."""

    def __init__(self, contract: Contract, oracles: list[EmuRustOracle]) -> None:
        count = len(oracles)
        self._oracles = oracles
        for oracle in oracles:
            oracle.stateful = True
        self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        self._rows: dict[str, np.ndarray] = {}
        self._events = np.zeros((count, len(contract.events)), bool)

    def reset(self, starts: Start) -> Frame:
        """Begin one episode per lane."""
        return self.begin(starts, np.arange(len(np.asarray(starts.seed))))

    def begin(self, starts: Start, lanes: Any) -> Frame:
        """Begin an episode in each of these lanes; starts [len(lanes)]."""
        return self._each(
            lanes, lambda place, lane: self._oracles[lane].reset(take_lanes(starts, place))
        )

    def step(self, actions: Any, live: Any) -> Frame:
        """Apply actions [N, 1] to the live lanes."""
        actions = np.asarray(actions)
        return self._each(
            np.flatnonzero(live), lambda _, lane: self._oracles[lane].step(actions[lane])
        )

    def load(self, state: Fields, lanes: Any) -> None:
        """Set the lanes with these indices to states [len(lanes), ...]."""
        for place, lane in enumerate(lanes):
            self._oracles[lane].load({name: value[place] for name, value in state.items()})

    def lean(self) -> EmuRustLanes:
        """Return these lanes with frames that leave the state out; see `fields`."""
        for oracle in self._oracles:
            oracle.stateful = False
        self._rows = {}
        return self

    def fields(self) -> Fields:
        """Return the shown fields of all lanes, [N, ...]."""
        states = list(self._pool.map(EmuRustOracle.fields, self._oracles))
        return {name: np.stack([state[name] for state in states]) for name in states[0]}

    def events(self) -> np.ndarray:
        """Return bool[N, E] of the latest reset or step."""
        return self._events.copy()

    def _each(self, lanes: Iterable[int], act: Callable[[int, int], Frame]) -> Frame:
        """Run something on lanes, in parallel threads; return the present frame of all."""
        made = list(self._pool.map(lambda at: (at[1], act(*at)), enumerate(map(int, lanes))))
        for lane, frame in made:
            self._events[lane] = self._oracles[lane].events()
            for path, value in flatten(frame).items():
                if path not in self._rows:
                    shape = (len(self._oracles), *np.shape(value))
                    self._rows[path] = np.zeros(shape, np.asarray(value).dtype)
                self._rows[path][lane] = value
        return unflatten(self._rows)
