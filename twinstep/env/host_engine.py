"""Auto-reset for environments that are not JAX programs: a native candidate, the oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.env.timestep import StartTable, TimeStep, next_seeds, timestep
from twinstep.errors import UserError
from twinstep.frames import Array, Fields, Frame, Start, flatten, take_lanes, unflatten
from twinstep.protocols import Lanes, Oracle, offers


class NativeEngine:
    """A candidate that resets ended lanes by itself (`auto_step`), or never (`off`)."""

    def __init__(
        self, contract: Contract, candidate: Any, auto_reset: str, table: StartTable
    ) -> None:
        self._contract = contract
        self._candidate = candidate
        self._mode = auto_reset
        self._table = table
        if auto_reset != "off" and not offers(candidate, "auto_step"):
            raise UserError(
                f"this backend of {contract.version} has no `auto_step`: use auto_reset='off'"
            )

    def reset(self, seeds: Array) -> tuple[Any, TimeStep]:
        """Begin one episode per seed u32[N, 2]."""
        state, frame = self._candidate.reset(self._table.of(np.asarray(seeds, np.uint32)))
        return state, timestep(self._contract, frame, frame.obs)

    def step(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Apply actions [N, P, ...]; the step consumes the state."""
        actions = np.asarray(actions)
        if self._mode == "off":
            state, frame = self._candidate.step(state, actions)
            return state, timestep(self._contract, frame, frame.obs)
        out = self._buffers(actions.shape[:1])
        state, frame, final = self._candidate.auto_step(state, actions, self._mode, **out)
        return state, timestep(self._contract, frame, final)

    def rollout(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Apply actions [T, N, P, ...], in one call if the candidate offers it."""
        actions = np.asarray(actions)
        if self._mode == "off" and offers(self._candidate, "rollout"):
            state, frame = self._candidate.rollout(state, actions)
            return state, timestep(self._contract, frame, frame.obs)
        if self._mode != "off" and offers(self._candidate, "auto_rollout"):
            out = self._buffers(actions.shape[:2])
            state, frame, final = self._candidate.auto_rollout(state, actions, self._mode, **out)
            return state, timestep(self._contract, frame, final)
        return loop(self.step, state, actions)

    def frame(self, state: Any) -> Frame:
        """Return the present frame with the inner fields."""
        return self._candidate.frame(state)

    def load(self, fields: Fields, seed: Array, ended: Array) -> Any:
        """Continue from a frame's fields. UserError if a lane waits for its next-step reset."""
        if self._mode == "next-step" and np.asarray(ended).any():
            raise UserError(
                "a lane of this state waits for its next episode, which this backend cannot "
                "restore: save it one step later, or restore it in a JAX backend"
            )
        if "seeds" in inspect.signature(self._candidate.load).parameters:
            return self._candidate.load(dict(fields), seeds=np.asarray(seed))
        return self._candidate.load(dict(fields))

    def clone(self, state: Any) -> Any:
        """Return a state that a later step does not consume."""
        return self._candidate.copy(state)

    def _buffers(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return new output arrays without the frame's state, if the candidate takes them."""
        if not offers(self._candidate, "buffers"):
            return {}
        return {"out": self._candidate.buffers(shape, minimal=True, final_obs=True)}


class OracleState:
    """The lanes of a reference: one object, which each step changes.

    frame: the present one. seeds: u32[N, 2], of the running episodes.
    """

    def __init__(self, lanes: Lanes, frame: Frame, seeds: np.ndarray) -> None:
        self.lanes = lanes
        self.frame = frame
        self.seeds = seeds


class OracleEngine:
    """The reference itself under the same auto-reset as the candidates.

    It uses the reference's own restart (reset_mode `same-step`), or else a reset to the next seed.
    lean: omit the state from frames where the reference supports it; `frame` still returns it.
    """

    def __init__(
        self,
        contract: Contract,
        make: Callable[[], Oracle],
        auto_reset: str,
        table: StartTable,
        lean: bool = False,
    ) -> None:
        self._contract = contract
        self._lean = lean
        self._make = make
        self._mode = auto_reset
        self._table = table
        self._first = make()

    def reset(self, seeds: Array) -> tuple[OracleState, TimeStep]:
        """Begin one episode per seed u32[N, 2]."""
        seeds = np.array(seeds, np.uint32)
        lanes = self._lanes(len(seeds))
        frame = _copied(lanes.reset(self._table.of(seeds)))
        return OracleState(lanes, frame, seeds), timestep(self._contract, frame, frame.obs)

    def step(self, state: OracleState, actions: Array) -> tuple[OracleState, TimeStep]:
        """Apply actions [N, P, ...]; the step consumes the state."""
        actions = np.asarray(actions)
        before = state.frame
        waited = np.zeros(len(state.seeds), bool)
        if self._mode == "next-step":
            waited = before.terminated | before.truncated
        last = _copied(state.lanes.step(actions, ~waited))
        if self._mode == "off":
            state.frame = last
            return state, timestep(self._contract, last, last.obs)
        if self._mode == "same-step":
            ended = (last.terminated, last.truncated)
            first = self._renewed(state, last, *ended)
            state.frame = first._replace(
                reward=last.reward, terminated=last.terminated, truncated=last.truncated
            )
            return state, timestep(self._contract, state.frame, last.obs)
        ended = (before.terminated & waited, before.truncated & waited)
        first = self._renewed(state, before, *ended)
        state.frame = _merged(first, last, waited)
        return state, timestep(self._contract, state.frame, state.frame.obs)

    def rollout(self, state: OracleState, actions: Array) -> tuple[OracleState, TimeStep]:
        """Apply actions [T, N, P, ...]."""
        return loop(self.step, state, np.asarray(actions))

    def frame(self, state: OracleState) -> Frame:
        """Return the present frame with the inner fields."""
        if state.frame.state:
            return state.frame
        return state.frame._replace(state=state.lanes.fields())  # type: ignore[attr-defined]

    def close(self) -> None:
        """Free the reference."""
        self._first.close()

    def _lanes(self, count: int) -> Lanes:
        restarts = self._contract.reset_mode == "same-step" or self._mode == "off"
        if offers(self._first, "lanes"):
            lanes = self._first.lanes(count)  # type: ignore[attr-defined]
            if restarts or offers(lanes, "begin"):
                return lanes.lean() if self._lean and offers(lanes, "lean") else lanes
        return _Scalars([self._make() for _ in range(count)])

    def _renewed(
        self, state: OracleState, last: Frame, terminated: np.ndarray, truncated: np.ndarray
    ) -> Frame:
        """Begin the next episode in the lanes that ended; other lanes keep `last`."""
        ended = terminated | truncated
        if not ended.any():
            return last
        if self._contract.reset_mode == "same-step" and offers(state.lanes, "restart"):
            if (truncated & ~terminated).any():
                raise UserError("a truncated episode has no restart; use auto_reset='off'")
            frame = state.lanes.restart(np.flatnonzero(terminated))  # type: ignore[attr-defined]
            return _merged(frame, last, ended)
        state.seeds = np.where(ended[:, None], next_seeds(state.seeds), state.seeds)
        which = np.flatnonzero(ended)
        starts = self._table.of(state.seeds[which])
        frame = state.lanes.begin(starts, which)  # type: ignore[attr-defined]
        return _merged(frame, last, ended)


class _Scalars:
    """One live episode per instance of a scalar oracle, in shared arrays [N, ...]."""

    def __init__(self, oracles: list[Oracle]) -> None:
        self._oracles = oracles
        self._rows: dict[str, np.ndarray] = {}
        if all(offers(oracle, "restart") for oracle in oracles):
            self.restart = self._restart

    def reset(self, starts: Start) -> Frame:
        self._rows = {}
        return self.begin(starts, np.arange(len(self._oracles)))

    def step(self, actions: Array, live: Array) -> Frame:
        for i in np.flatnonzero(live):
            self._put(i, self._oracles[i].step(actions[i]))
        return unflatten(self._rows)

    def begin(self, starts: Start, lanes: Any) -> Frame:
        for place, lane in enumerate(lanes):
            self._put(lane, self._oracles[lane].reset(take_lanes(starts, place)))
        return unflatten(self._rows)

    def _restart(self, lanes: Any) -> Frame:
        for i in lanes:
            self._put(i, self._oracles[i].restart())  # type: ignore[attr-defined]
        return unflatten(self._rows)

    def _put(self, lane: Any, frame: Frame) -> None:
        for path, value in flatten(frame).items():
            if path not in self._rows:
                shape = (len(self._oracles), *np.shape(value))
                self._rows[path] = np.zeros(shape, np.asarray(value).dtype)
            self._rows[path][lane] = value


def loop(step: Any, state: Any, actions: np.ndarray) -> tuple[Any, TimeStep]:
    """Apply actions [T, N, P, ...] step by step; time steps have a leading [T, N]."""
    rows: list[TimeStep] = []
    for action in actions:
        state, now = step(state, action)
        rows.append(TimeStep(*(None if v is None else np.array(v) for v in now)))
    columns = zip(*rows, strict=True)
    return state, TimeStep(*(None if c[0] is None else np.stack(c) for c in columns))


def _copied(frame: Frame) -> Frame:
    return unflatten({path: np.array(value) for path, value in flatten(frame).items()})


def _merged(yes: Frame, no: Frame, which: np.ndarray) -> Frame:
    """Join lanes `which` of one frame, as first frames of episodes, with the rest of another."""
    merged = {path: np.array(value) for path, value in flatten(no).items()}
    for path, value in flatten(yes).items():
        new = np.asarray(value)
        if path in ("reward", "terminated", "truncated"):
            new = np.zeros_like(new)
        merged[path][which] = new[which]
    return unflatten(merged)
