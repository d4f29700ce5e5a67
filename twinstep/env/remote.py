"""A candidate as it ships, in a process of its own: what `make` gives, without its code here."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

from twinstep.env import server
from twinstep.env.timestep import TimeStep
from twinstep.errors import CandidateBroken
from twinstep.frames import Array, Fields, Frame
from twinstep.project.registry import Pair
from twinstep.runner.remote import CandidateDied, CandidateProcess, CandidateRaised, RemoteState


class RemoteEnv:
    """The part of `Env` that comparisons and training need.

    Arrays are NumPy's; a step consumes its state. dtype, platform: what the process says of itself.
    """

    traceable, independent = False, True

    def __init__(self, pair: Pair, auto_reset: str) -> None:
        self.contract = pair.subject.contract
        self.id, self.backend = self.contract.version, pair.candidate.name
        self.auto_reset = auto_reset
        with _its_own():
            self._process = CandidateProcess(pair, server.__name__, auto_reset)
            self.dtype, self.platform = (str(word) for word in self._process.about)

    def reset(self, seeds: Array) -> tuple[Any, TimeStep]:
        """Begin an episode for each seed u32[N, 2]."""
        return self._moved("reset", np.asarray(seeds))

    def step(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Apply actions [N, ...], with more than one player [N, P, ...]."""
        return self._moved("step", state.held, np.asarray(actions))

    def rollout(self, state: RemoteState, actions: Array) -> tuple[RemoteState, TimeStep]:
        """Apply actions [T, N, ...]; time steps have a leading [T, N]."""
        return self._moved("rollout", state.held, np.asarray(actions))

    def frame(self, state: RemoteState) -> Frame:
        """Return the present frame."""
        with _its_own():
            return self._process.ask("frame", (state.held,))

    def clone(self, state: RemoteState) -> RemoteState:
        """Return a state that a later step does not consume."""
        with _its_own():
            return self._process.state(self._process.ask("clone", (state.held,)))

    def save(self, state: RemoteState) -> bytes:
        """Return a state as bytes."""
        with _its_own():
            return np.asarray(self._process.ask("save", (state.held,)), np.uint8).tobytes()

    def restore(self, data: bytes) -> RemoteState:
        """Return the saved state."""
        with _its_own():
            held = self._process.ask("restore", (np.frombuffer(data, np.uint8),))
            return self._process.state(held)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _load(self, fields: Fields, seed: Array, ended: Array) -> RemoteState:
        named = {name: np.asarray(value) for name, value in fields.items()}
        with _its_own():
            held = self._process.ask("load", (named, np.asarray(seed), np.asarray(ended)))
            return self._process.state(held)

    def _moved(self, method: str, *args: Any) -> tuple[RemoteState, TimeStep]:
        with _its_own():
            answer = self._process.ask(method, args)
            pair = isinstance(answer, tuple) and len(answer) == 2
            if not (pair and isinstance(answer[1], tuple)):
                raise CandidateDied("it sent no state and time step where it owes them")
            if len(answer[1]) != len(TimeStep._fields):
                raise CandidateDied(f"it sent a time step of {len(answer[1])} parts")
            return self._process.state(answer[0]), TimeStep(*answer[1])


@contextlib.contextmanager
def _its_own() -> Iterator[None]:
    """Turn what the candidate's process raises, or its end, into a failure of the candidate."""
    try:
        yield
    except (CandidateDied, CandidateRaised) as error:
        text = f"the candidate raised {type(error).__name__}: {error}"
        detail = getattr(error, "detail", None) or traceback.format_exc()
        raise CandidateBroken(text, detail) from error
