"""The process of a candidate as it ships: build it by `make`'s own class and answer requests.

Started by remote.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from twinstep.env.make import Env
from twinstep.environment import CandidateRef, Variant
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner.import_guard import Isolation
from twinstep.runner.server import States, serve_host


class EnvHost:
    """Owns the environment and its states."""

    def __init__(
        self,
        locator: str,
        variant: str,
        params: dict[str, Any],
        name: str,
        factory: str,
        auto_reset: str,
    ) -> None:
        mine = CandidateRef(name, factory)
        env = replace(registry.load_object(locator), candidates=(mine,))
        subject = EnvVariant(env, Variant(variant, params))
        self._isolation = Isolation(Pair(subject, mine))
        self._env = Env(subject, name, auto_reset)
        self._states = States()

    def about(self) -> tuple[str, str]:
        """Return its dtype and its platform."""
        return self._env.dtype, self._env.platform

    def answer(self, method: str, args: tuple[Any, ...], freed: list[int]) -> Any:
        """Call a method of `Env`; time steps come back as tuples."""
        given = self._states.given(args, method in ("frame", "clone", "save"), freed)
        call: Any = self._env._load if method == "load" else getattr(self._env, method)
        if method == "restore":
            given[0] = np.asarray(given[0], np.uint8).tobytes()
        with self._isolation:
            answer = call(*given)
        if method == "frame":
            return answer
        if method == "save":
            return np.frombuffer(answer, np.uint8)
        if method in ("reset", "step", "rollout"):
            return self._states.keep(answer[0]), tuple(answer[1])
        return self._states.keep(answer)


def serve(*handles: str | int) -> None:
    """Answer until the pipe closes; the first message names what to build."""
    serve_host(EnvHost, *handles)
