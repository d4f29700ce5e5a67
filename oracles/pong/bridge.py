"""PufferLib's C Pong as an oracle: many games in one array, stepped by compiled C.

The state lives in one NumPy structured array whose fields are those of the C structs, so
reading and placing states is plain assignment. No rule of the game is written down here.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.pong import modules, upstream


class Library:
    """The compiled reference.

    lane: NumPy structured type of one lane; its fields are the table that the C file
    exports. functions: the exported functions; arrays are passed by `pointer`.
    """

    def __init__(self, stock: bool) -> None:
        report = _say if sys.stderr.isatty() else lambda text: None
        self._c = ctypes.CDLL(str(upstream.ensure(stock, report)))
        self.lane = fields_of(self._c, "lane_size")
        self.events = ctypes.c_uint64.in_dll(self._c, "event_count").value
        self._c.lanes_step.restype = ctypes.c_int64

    def call(self, name: str, lanes: np.ndarray, *arguments: Any) -> Any:
        """Call an exported function on lanes[n] and further arrays or whole numbers."""
        passed = [
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)
            for a in arguments
        ]
        count = ctypes.c_int64(len(lanes))
        return getattr(self._c, name)(ctypes.c_void_p(lanes.ctypes.data), count, *passed)

    def new_lanes(self, count: int, contract: Contract) -> np.ndarray:
        """Return `count` lanes with the contract's parameters set and nothing played."""
        lanes = np.zeros(count, self.lane)
        p = contract.params
        self.call("lanes_init", lanes, p["max_score"], p["frameskip"], int(p["continuous"]))
        return lanes


class PongLanes:
    """`count` games in parallel; see protocols.Lanes. Frames are copies, never views.

    With rng=stock the draws come from the C library's one stream. That stream cannot be placed,
    so `load` does not exist, and PongOracle offers no lanes except its own one.
    """

    def __init__(self, library: Library, contract: Contract, count: int) -> None:
        self._library = library
        self._contract = contract
        self._lanes = library.new_lanes(count, contract)
        self._state = tuple(field.name for field in contract.state)
        if contract.params["rng"] != "stock":
            self.load = self._load

    def reset(self, starts: Start) -> Frame:
        """Begin one episode per lane, from seed u32[N, 2]; other fields are not used."""
        seed = np.ascontiguousarray(starts.seed, np.uint32)
        if len(seed) != len(self._lanes):  # the last batch may be smaller
            self._lanes = self._library.new_lanes(len(seed), self._contract)
        self._library.call("lanes_reset", self._lanes, seed)
        return self._frame()

    def step(self, actions: Any, live: Any) -> Frame:
        """Apply actions [N, 1] to the lanes with live[N]; other lanes keep their frame."""
        self._lanes["action"] = np.asarray(actions, np.float32)[:, 0]
        live = np.ascontiguousarray(live, np.uint8)
        wrong = self._library.call("lanes_step", self._lanes, live)
        if wrong >= 0:
            raise AssertionError(
                f"lane {wrong}: the terminal frame does not restart as the reference did"
            )
        return self._frame()

    def restart(self, lanes: Any) -> Frame:
        """Begin the next episode of the lanes with these indices as the auto-reset does."""
        which = np.ascontiguousarray(lanes, np.int64)
        if not ((which >= 0) & (which < len(self._lanes))).all():  # C does not check
            raise IndexError(f"no such lane among {len(self._lanes)}: {which}")
        wanted = np.zeros(len(self._lanes), np.uint8)
        wanted[which] = 1
        self._library.call("lanes_restart", self._lanes, wanted)
        return self._frame()

    def events(self) -> np.ndarray:
        """Return bool[N, E]: which contract.events the latest reset or step caused."""
        out = np.empty((len(self._lanes), self._library.events), np.uint8)
        self._library.call("lanes_events", self._lanes, out)
        return out.astype(bool)

    def _load(self, state: Fields, lanes: Any) -> None:
        """Set the lanes with these indices to state fields with a leading len(lanes)."""
        which = np.asarray(lanes)
        for name in self._state:
            self._lanes[name][which] = state[name]
        self._lanes["reward"][which] = 0
        self._lanes["terminal"][which] = 0
        self._lanes["happened"][which] = 0

    def _frame(self) -> Frame:
        lanes = self._lanes
        count = len(lanes)
        return Frame(
            obs=lanes["last_obs"][:, None].copy(),
            reward=lanes["reward"][:, None].copy(),
            terminated=lanes["terminal"].astype(bool),
            truncated=np.zeros(count, bool),
            acting=np.ones((count, 1), bool),
            legal=None,
            state={name: lanes[name].copy() for name in self._state},
        )


class PongOracle:
    """One game; see protocols.Oracle. Raises OracleMissing if the reference is not available.

    With rng=stock `load` and `lanes` do not exist: the C library has one stream of draws,
    and only srand(seed[0]) at a reset can place it.
    """

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        stock = contract.params["rng"] == "stock"
        self._library = Library(stock)
        self._one = PongLanes(self._library, contract, 1)
        if not stock:
            self.load = self._load
            self.lanes = self._lanes

    def reset(self, start: Start) -> Frame:
        """Begin the episode of seed u32[2]; other fields are not used."""
        return _single(self._one.reset(Start(np.asarray(start.seed)[None])))

    def step(self, action: Any) -> Frame:
        """Apply an action [1]: 0 stay, 1 up, 2 down, or a direction if continuous."""
        return _single(self._one.step(np.asarray(action)[None], np.ones(1, bool)))

    def restart(self) -> Frame:
        """Begin the next episode as the reference's auto-reset does."""
        return _single(self._one.restart([0]))

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step caused."""
        return self._one.events()[0]

    def call(self, module: str, inputs: Fields) -> dict[str, np.ndarray]:
        """Evaluate one module on inputs with a leading N.

        Raises NotCallable if the reference cannot be led to some of them.
        """
        return modules.call(self._library, self._contract, module, inputs)

    def close(self) -> None:
        """Free the game. The compiled library stays with the process."""
        del self._one

    def _load(self, state: Fields) -> None:
        """Continue from one lane's state fields."""
        fields = {field.name: np.asarray(state[field.name])[None] for field in self._contract.state}
        self._one.load(fields, [0])

    def _lanes(self, count: int) -> PongLanes:
        """Return `count` further games, independent of this one."""
        return PongLanes(self._library, self._contract, count)


class _Entry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("offset", ctypes.c_uint64),
        ("type", ctypes.c_char_p),
        ("length", ctypes.c_uint64),
    )


def fields_of(library: ctypes.CDLL, size: str) -> np.dtype:
    """Return the structured type of a lane, whose size the library exports under this name."""
    table = _Entry.in_dll(library, "lane_table")
    rows = ctypes.cast(ctypes.pointer(table), ctypes.POINTER(_Entry))
    # The table ends with an entry without a name.
    entries = list(itertools.takewhile(lambda entry: entry.name, (rows[i] for i in range(99))))
    itemsize = ctypes.c_uint64.in_dll(library, size).value
    entries = [entry for entry in entries if entry.offset < itemsize]
    kinds = [(e.type.decode(), (e.length,)) if e.length else e.type.decode() for e in entries]
    return np.dtype(
        {
            "names": [entry.name.decode() for entry in entries],
            "formats": kinds,
            "offsets": [entry.offset for entry in entries],
            "itemsize": itemsize,
        }
    )


def _single(frame: Frame) -> Frame:
    heads = {name: getattr(frame, name) for name in Frame._fields if name != "state"}
    kept = {name: None if value is None else value[0] for name, value in heads.items()}
    return Frame(**kept, state={name: value[0] for name, value in frame.state.items()})


def _say(text: str) -> None:
    print(f"pong oracle: {text}", file=sys.stderr)
