"""Pokemon Showdown's battles as an environment: the pokejax oracle."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.contracts.pokejax.events import EVENTS
from twinstep.contracts.pokejax.modules import DEFAULTS, scene_team
from twinstep.errors import ContractBroken
from twinstep.frames import Fields, Frame, Start
from twinstep.oracles.pokejax import upstream
from twinstep.oracles.pokejax.engines import Engine, start

_TEAM = 2 * 6 * 18
#: Parts of a row other than the state, with their dtypes in a frame.
_HEADS = {
    "obs": "int16",
    "terminated": "bool",
    "reward": "float32",
    "acting": "bool",
    "legal": "bool",
}


class Rows:
    """Read the bridge's rows of integers as frames, and write states as such rows."""

    def __init__(self, engine: Engine, contract: Contract) -> None:
        told = json.loads(engine.text("layout", "", np.zeros(0, np.int32)))
        layout = contract.layout()
        paths = [name if name in _HEADS else f"state.{name}" for name, _ in told["layout"]]
        wanted = [*_HEADS, *(f"state.{field.name}" for field in contract.shown)]
        sizes = {path: int(np.prod(layout[path][1], dtype=np.int64)) for path in wanted}
        given = {path: size for path, (_, size) in zip(paths, told["layout"], strict=True)}
        if paths != wanted or given != sizes or tuple(told["events"]) != EVENTS:
            raise ContractBroken(
                "battle.js and the contract differ in a row's layout or the events"
            )
        self._parts, begin = [], 0
        for path in wanted:
            self._parts.append((path, begin, begin + sizes[path], *layout[path]))
            begin += sizes[path]
        self.width = begin
        self.state = next(b for path, b, *_ in self._parts if path.startswith("state."))

    def frame(self, rows: np.ndarray) -> Frame:
        """Return the frame [N, ...] of rows i32[N, width]."""
        named = {
            path: rows[:, begin:end].reshape(len(rows), *shape).astype(dtype)
            for path, begin, end, dtype, shape in self._parts
        }
        state = {p.removeprefix("state."): v for p, v in named.items() if p.startswith("state.")}
        return Frame(
            obs=named["obs"],
            reward=named["reward"],
            terminated=named["terminated"],
            truncated=np.zeros(len(rows), bool),
            acting=named["acting"],
            legal=named["legal"],
            state=state,
        )

    def states(self, state: Fields) -> np.ndarray:
        """Return the part of rows that holds the state, i32[N, width - self.state]."""
        columns = [
            np.asarray(state[path.removeprefix("state.")]).astype(np.int64).reshape(-1, end - begin)
            for path, begin, end, _, _ in self._parts
            if path.startswith("state.")
        ]
        return np.concatenate(columns, 1).astype(np.uint32).view(np.int32)


class PokejaxLanes:
    """Battles in parallel in one JavaScript context; see protocols.Lanes."""

    _groups = itertools.count()

    def __init__(self, engine: Engine, rows: Rows, contract: Contract, count: int) -> None:
        self._engine = engine
        self._rows = rows
        self._group = next(self._groups)
        self._count = count
        self._events = [EVENTS.index(name) for name in contract.events]

    def reset(self, starts: Start) -> Frame:
        """Begin one battle per lane, from seed u32[N, 2] and team u8[N, 2, 6, 18]."""
        self._count = len(np.asarray(starts.seed))
        return self.begin(starts, np.arange(self._count))

    def begin(self, starts: Start, lanes: Any) -> Frame:
        """Begin a battle in each of these lanes; the others keep theirs."""
        head = np.array([self._group, self._count], np.int32)
        given = np.concatenate([np.asarray(lanes, np.int32)[:, None], started(starts)], 1)
        return self._frame("reset", np.concatenate([head, given.reshape(-1)]))

    def step(self, actions: Any, live: Any) -> Frame:
        """Play actions [N, 2] in the lanes with live[N]."""
        chosen = np.asarray(actions, np.int32).reshape(self._count, 2)
        given = np.concatenate([np.asarray(live, np.int32)[:, None], chosen], 1)
        return self._frame("step", np.concatenate([[self._group], given.reshape(-1)]))

    def load(self, state: Fields, lanes: Any) -> None:
        """Continue from states in the lanes with these indices."""
        given = np.concatenate([np.asarray(lanes, np.int32)[:, None], self._rows.states(state)], 1)
        whole = np.concatenate([[self._group], given.reshape(-1)])
        self._engine.integers("load", "", whole)

    def events(self) -> np.ndarray:
        """Return bool[N, E]: which contract.events the latest reset or step caused."""
        found = self._engine.integers("events", "", np.array([self._group], np.int32))
        return found.reshape(self._count, len(EVENTS))[:, self._events].astype(bool)

    def close(self) -> None:
        """Forget the battles."""
        self._engine.integers("close", "", np.array([self._group], np.int32))

    def _frame(self, operation: str, given: np.ndarray) -> Frame:
        rows = self._engine.integers(operation, "", given)
        return self._rows.frame(rows.reshape(self._count, self._rows.width))


class PokejaxOracle:
    """One battle; see protocols.Oracle. Raises OracleMissing if the reference is not available.

    simulator: a folder with another one, for a test that both are told apart.
    """

    def __init__(self, contract: Contract, simulator: Path | None = None) -> None:
        self._contract = contract
        engine = str(contract.params["engine"])
        upstream.require_engine(engine)
        self._engine = start(engine, simulator or upstream.ensure(_say))
        self._rows = Rows(self._engine, contract)
        self._one = PokejaxLanes(self._engine, self._rows, contract, 1)

    def reset(self, start: Start) -> Frame:
        """Begin the battle of a seed u32[2] and teams u8[2, 6, 18]."""
        return _single(self._one.reset(_batched(start)))

    def step(self, action: Any) -> Frame:
        """Play the actions [2]."""
        return _single(self._one.step(np.asarray(action)[None], np.ones(1, bool)))

    def load(self, state: Fields) -> None:
        """Continue from a state."""
        self._one.load({name: np.asarray(value)[None] for name, value in state.items()}, [0])

    def events(self) -> np.ndarray:
        """Return bool[E]: which contract.events the latest reset or step caused."""
        return self._one.events()[0]

    def lanes(self, count: int) -> PokejaxLanes:
        """Return `count` further battles."""
        return PokejaxLanes(self._engine, self._rows, self._contract, count)

    def explain(self, state: Fields, action: Any) -> str:
        """Return the log of one step, and the place where each of its numbers was drawn."""
        one = {name: np.asarray(value)[None] for name, value in state.items()}
        given = np.concatenate([self._rows.states(one)[0], np.asarray(action, np.int32)])
        return self._engine.text("explain", "", given)

    def call(self, module: str, inputs: Fields) -> Fields:
        """Evaluate a module of the contract on inputs [N, ...]; see modules.js."""
        declared = self._contract.module(module)
        count = len(next(iter(inputs.values())))
        placed = {name: np.broadcast_to(v, (count, *v.shape)) for name, v in DEFAULTS.items()}
        rows = {name: np.asarray(value) for name, value in {**placed, **inputs}.items()}
        flat = [value.astype(np.int64).reshape(count, -1) for value in rows.values()]
        sizes = {f.name: int(np.prod(f.shape, dtype=int)) for f in declared.outputs}
        told = {
            "module": module,
            "inputs": [[n, v.shape[1]] for n, v in zip(rows, flat, strict=True)],
            "outputs": list(sizes.items()),
            "team": scene_team().reshape(-1).tolist(),
        }
        given = np.concatenate(flat, 1).astype(np.uint32).view(np.int32).reshape(-1)
        answers = self._engine.integers("call", json.dumps(told), given).reshape(count, -1)
        ends = np.cumsum(list(sizes.values()))
        parts = zip(declared.outputs, np.split(answers, ends[:-1], 1), strict=True)
        return {f.name: part.reshape(count, *f.shape).astype(f.dtype) for f, part in parts}

    def draws(self, start: Start, actions: Any) -> tuple[dict[str, int], np.ndarray]:
        """Play actions [T, 2]; return the draws by place, and the last seed u32[2]."""
        chosen = np.asarray(actions, np.int32).reshape(-1)
        given = np.concatenate([started(_batched(start))[0], chosen])
        told = json.loads(self._engine.text("draws", "", given))
        return told["places"], np.array(told["seed"], np.int64).astype(np.uint32)

    def log(self, start: Start, actions: Any) -> str:
        """Return the simulator's log of a battle: actions [T, 2]."""
        chosen = np.asarray(actions, np.int32).reshape(-1)
        return self._engine.text("log", "", np.concatenate([started(_batched(start))[0], chosen]))

    def play(self, start: Start, actions: Any) -> Frame:
        """Play a whole battle in one call: actions [T, 2] give frames [T + 1, ...] or fewer."""
        chosen = np.asarray(actions, np.int32).reshape(-1)
        given = np.concatenate([started(_batched(start))[0], chosen])
        rows = self._engine.integers("play", "", given)
        return self._rows.frame(rows.reshape(-1, self._rows.width))

    def close(self) -> None:
        """End the engine."""
        self._engine.close()


def _batched(start: Start) -> Start:
    fields = {name: np.asarray(value)[None] for name, value in start.fields.items()}
    return Start(np.asarray(start.seed)[None], fields)


def started(starts: Start) -> np.ndarray:
    """Return starts as the bridge takes them, i32[N, ...]: seed, rules, teams."""
    seed = np.asarray(starts.seed, np.uint32).view(np.int32)
    rules = np.asarray(starts.fields["rules"], np.int32).reshape(len(seed), 1)
    team = np.asarray(starts.fields["team"], np.int32).reshape(len(seed), _TEAM)
    return np.concatenate([seed, rules, team], 1)


def _single(frame: Frame) -> Frame:
    heads = {name: getattr(frame, name) for name in Frame._fields if name != "state"}
    kept = {name: None if value is None else value[0] for name, value in heads.items()}
    return Frame(**kept, state={name: value[0] for name, value in frame.state.items()})


def _say(text: str) -> None:
    print(f"pokejax oracle: {text}", file=sys.stderr)
