"""The parent's side of an oracle's child process: start it, send requests, report its death."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from typing import Any

import numpy as np

import twinstep
from twinstep._lib.rpc import ChildProcess, Ended, Silent, ending
from twinstep._lib.spawn import child_command
from twinstep.errors import OracleFailed, OracleMissing
from twinstep.frames import Frame, Start, take_lanes
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.reference import fresh_starts
from twinstep.reference.recording import Trial
from twinstep.reference.worker import LIFE

#: Seconds that fetching and building a reference may take.
SETUP_LIMIT = 900.0
#: Requests that depend on no earlier one, so that a fresh child can answer them as well.
_ALONE = frozenset(
    (
        *("call", "fresh", "places", "steps", "restarts", "replays", "hidden_after"),
        *("record", "record_shipped"),
    )
)
#: The number of child processes started; a test proves it stays 0 on warm traces.
started = 0


class _Crashed(OracleFailed):
    """A signal ended the child."""


class _Raised(OracleFailed):
    """The reference's own code raised."""


class OracleProcess:
    """The oracle of a subject, in a child process that is started at its first use.

    Every request raises OracleFailed if the reference crashes, raises, or shows no sign of
    life for the declaration's `limit` seconds; the next request starts a fresh child.
    After a crash the request is repeated once if a fresh child can answer it: only a repeated crash
    is the request's fault. `crashes` lists the others, and so does the verdict.
    Raises OracleMissing where the reference cannot run here.
    """

    def __init__(self, subject: EnvVariant) -> None:
        self.subject = subject
        self._child: ChildProcess | None = None
        self._offered: list[str] = []
        self.crashes: list[str] = []

    def offers(self, method: str) -> bool:
        """Return True if the oracle has this optional method (starts the child)."""
        self._ensure()
        return method in self._offered

    def reset(self, start: Start) -> Frame:
        """Begin the episode of a single start."""
        return self._ask("reset", start)

    def step(self, action: np.ndarray) -> Frame:
        """Apply an action [P, ...]."""
        return self._ask("step", action)

    def restart(self) -> Frame:
        """Return the frame of the reference's own auto-reset."""
        return self._ask("restart")

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a single state."""
        self._ask("load", state)

    def explain(self, state: dict[str, np.ndarray], action: np.ndarray) -> str:
        """Return the reference's own words for one step."""
        return self._ask("explain", state, action)

    def call(self, module: str, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        """Evaluate a module on inputs with a leading N."""
        return self._ask("call", module, {n: np.asarray(v) for n, v in inputs.items()})

    def fresh(self, seeds: np.ndarray) -> dict[str, np.ndarray]:
        """Begin an episode of its own from each seed u32[N, 2]: frames path -> [N, ...]."""
        return self._ask("fresh", seeds)

    def places(self, count: int, seed: int, dtype: str) -> dict[str, np.ndarray]:
        """Return states and modules' inputs [count, ...] placed by the reference.

        dtype: of the candidate under test.
        """
        return self._ask("places", count, seed, dtype)

    def steps(
        self, states: dict[str, np.ndarray], actions: np.ndarray, begin: Start
    ) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
        """Load states [N, ...] and apply actions [H, N, P, ...]: frames [H, N, ...], events."""
        try:
            return self._ask("steps", states, actions, begin)
        except _Raised as error:
            raise self._of_one_state(error, states, actions, begin) from None

    def restarts(self, states: dict[str, np.ndarray], begin: Start) -> dict[str, np.ndarray]:
        """Load states [N, ...] and restart each: frames path -> [N, ...]."""
        return self._ask("restarts", states, begin)

    def _of_one_state(
        self, error: _Raised, states: dict[str, np.ndarray], actions: np.ndarray, begin: Start
    ) -> OracleFailed:
        """Return an error with the state and the actions at which the oracle raised it.

        Half of the lanes are asked at a time. Where none alone raises, it is the error as it was.
        """
        lanes = np.arange(actions.shape[1])
        while True:
            half = lanes[: (len(lanes) + 1) // 2]
            few = {name: np.asarray(value)[half] for name, value in states.items()}
            try:
                self._ask("steps", few, actions[:, half], take_lanes(begin, half))
                if len(lanes) == 1:
                    return error
                lanes = lanes[len(half) :]
            except _Raised as again:
                if len(lanes) == 1:
                    shown = {name: value[0] for name, value in few.items()}
                    said = ", ".join(f"{name} {_short(value)}" for name, value in shown.items())
                    given = f"{said}; actions {_short(actions[:, half[0]])}"
                    return OracleFailed(f"{again.what} from a placed state ({given})", again.where)
                lanes = half

    def replays(
        self, trials: list[tuple[Start, np.ndarray]]
    ) -> list[tuple[dict[str, np.ndarray], np.ndarray, str]]:
        """Play given actions [T, P, ...] from each single start."""
        return self._ask("replays", trials)

    def hidden_after(self, trials: list[Trial]) -> list[dict[str, np.ndarray]]:
        """Play each trial and return the hidden fields of the state that it leads to."""
        return self._ask("hidden_after", trials)

    def record(
        self, driver: str, starts: Start, horizon: int, lanes: int, folder: str
    ) -> list[dict[str, Any]]:
        """Record the starts into chunk files in `folder`; return their manifest entries."""
        return self._ask("record", driver, starts, horizon, lanes, folder)

    def record_shipped(self, driver: str, seeds: np.ndarray, folder: str) -> list[dict[str, Any]]:
        """Record lanes under same-step auto-reset into `folder`; return the manifest's entry."""
        return self._ask("record_shipped", driver, seeds, folder)

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            child, self._child = self._child, None
            child.close()
            self._life.close()

    def _ensure(self) -> None:
        global started
        if self._child is not None:
            return
        probe = self.subject.probe
        if probe.problem:
            raise OracleMissing(probe.problem, probe.mend)
        started += 1
        handle, place = tempfile.mkstemp(prefix="twinstep-life-")
        try:
            with os.fdopen(handle, "r+b") as file:
                file.write(bytes(LIFE.size))
                file.flush()
                self._life = mmap.mmap(file.fileno(), LIFE.size)
            self._child = ChildProcess.run(
                lambda descriptor: child_command(fresh_starts.__name__, descriptor, place),
                # The oracle never needs JAX's accelerator; a candidate here may hold it all.
                os.environ | {"JAX_PLATFORMS": "cpu"},
            )
            params = dict(self.subject.contract.params)
            where = registry.locator(self.subject.env.name)
            opened = (where, params, twinstep.__file__)
            self._offered = self._ask("open", *opened, limit=SETUP_LIMIT)
        except BaseException:
            self.close()
            raise
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)

    def _ask(self, method: str, *args: Any, limit: float | None = None) -> Any:
        try:
            return self._ask_once(method, *args, limit=limit)
        except _Crashed as crash:
            if method not in _ALONE:
                raise
            answer = self._ask_once(method, *args, limit=limit)
            self.crashes.append(f"{crash}, and answered `{method}` when it was asked again")
            return answer

    def _ask_once(self, method: str, *args: Any, limit: float | None) -> Any:
        self._ensure()
        child = self._child
        assert child is not None
        limit = self.subject.env.oracle.limit if limit is None else limit
        try:
            kind, value = child.ask((method, args), limit, self._life_now)
        except Ended as end:
            where, tail = self._where(), child.last_words()
            self._kill()
            crashed = end.code is not None and end.code < 0
            who = "the oracle's process" if end.code is not None and not crashed else "the oracle"
            text = f"{who} {ending(end.code)}{f' [{tail}]' if tail else ''}"
            raise (_Crashed if crashed else OracleFailed)(text, where) from None
        except Silent:
            where = self._where()
            self._kill()
            text = f"the oracle hung: no sign of life for {limit:g} s"
            raise OracleFailed(text, where) from None
        except KeyboardInterrupt:
            self.close()
            raise
        if kind == "ok":
            return value
        if kind == "raise":
            raise value
        error, trace = value
        child.log(trace)
        raise _Raised(f"the oracle raised {error}", self._where())

    def _life_now(self) -> tuple[int, int, int]:
        return LIFE.unpack_from(self._life, 0)

    def _where(self) -> str:
        _, episode, step = self._life_now()
        return f"start {episode}, step {step}"

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()
            self.close()


def _short(value: np.ndarray) -> str:
    """Return an array as one line, with the middle of a long one left out."""
    text = np.array2string(np.asarray(value), separator=",", threshold=16, edgeitems=4)
    return " ".join(text.split())
