"""The candidate's process: build the candidate and answer requests.

Started by remote.py. The requests are those of the Candidate protocol (protocols.py). A state
stays in this process under a number.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from twinstep._lib.rpc import serve as serve_requests
from twinstep._lib.said import text_of, trace_of
from twinstep.environment import CandidateRef, Variant
from twinstep.frames import Frame
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.protocols import CANDIDATE_LADDER, offers
from twinstep.runner import callbacks, shared_memory
from twinstep.runner.runner import Runner
from twinstep.runner.wire import Held

#: Optional methods that work across processes: the ladder's without auto-reset, and two more.
METHODS = (*(n for n in CANDIDATE_LADDER if n != "auto_step"), "copy", "frame")


class States:
    """The states of this process, under numbers that the other side knows."""

    def __init__(self) -> None:
        self._states: dict[int, Any] = {}
        self._next = 0

    def keep(self, state: Any) -> Held:
        """Return the number of a new state."""
        self._next += 1
        self._states[self._next] = state
        return Held(self._next)

    def given(self, args: tuple[Any, ...], looks: bool, freed: list[int]) -> list[Any]:
        """Return arguments with states in their numbers' place.

        looks: whether the states stay. freed: numbers that go.
        """
        for number in freed:
            self._states.pop(number, None)
        take = self._states.__getitem__ if looks else self._states.pop
        return [take(arg.number) if isinstance(arg, Held) else arg for arg in args]


class CandidateHost:
    """Owns the candidate and its states."""

    def __init__(
        self, locator: str, variant: str, params: dict[str, Any], name: str, factory: str
    ) -> None:
        env = registry.load_object(locator)
        subject = EnvVariant(env, Variant(variant, params))
        runner = Runner.of(Pair(subject, CandidateRef(name, factory)))
        self._isolation = runner.isolation
        self._sides = [runner.candidate]
        self._states = States()
        self._untraced: Exception | None = None

    def about(self) -> dict[str, Any]:
        """Return the candidate's dtype, platform, optional methods and refused programs.

        The programs of an untraceable candidate cannot be inspected. It may have modules before it
        has a step, so that only its modules are called.
        """
        side = self._sides[0]
        refused: list[str] = []
        try:
            with self._isolation:
                refused = callbacks.refused_programs(side)
        except Exception as error:
            self._untraced = error
        return {
            "dtype": side.dtype,
            "platform": side.platform,
            "any_size": bool(getattr(side, "any_size", False)),
            "methods": [name for name in METHODS if offers(side, name)],
            "ships": [name for name in ("auto_step", "pure") if hasattr(side, name)],
            "refused": refused,
        }

    def answer(self, side: int, method: str, args: tuple[Any, ...], freed: list[int]) -> Any:
        """Call a method. It consumes the given states, except `copy` and `frame`."""
        looks = method in ("copy", "frame")
        arguments = self._states.given(args, looks, freed)
        if self._untraced is not None and method not in ("call", "eager"):
            raise self._untraced
        if method == "eager":
            with self._isolation:
                self._sides.append(self._sides[0].eager())
            return len(self._sides) - 1
        with self._isolation:
            answer = getattr(self._sides[side], method)(*arguments)
        if method in ("load", "copy"):
            return self._states.keep(answer)
        if isinstance(answer, tuple) and len(answer) == 2 and not isinstance(answer, Frame):
            return self._states.keep(answer[0]), answer[1]
        return answer


def serve(*handles: str | int) -> None:
    """Answer until the pipe closes; the first message names the candidate to build."""
    serve_host(CandidateHost, *handles)


def serve_host(build: Callable[..., Any], pipe: str | int, memory: str | int | None = None) -> None:
    """Answer by what `build` makes of the first request: its `about` first, then its answers.

    pipe, memory: descriptors; without memory all arrays go through the pipe.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    codec = shared_memory.codec(None if memory is None else int(memory), shared_memory.CANDIDATE)
    if memory is not None:
        os.close(int(memory))
    host: Any = None

    def answer(request: Any) -> Any:
        nonlocal host
        if host is None:
            host = build(*request)
            return "ok", host.about()
        return "ok", host.answer(*request)

    serve_requests(Connection(int(pipe)), answer, _failure, codec)
    os._exit(0)


def _failure(error: BaseException) -> tuple[str, ...]:
    return "raised", type(error).__name__, text_of(error), trace_of(error)
