"""The process in which a candidate's probe, or its build's hash, is called. Started by apart.py."""

from __future__ import annotations

import json
from typing import Any

from twinstep.environment import Probe
from twinstep.project.registry import load_object
from twinstep.runner.server import serve_host


class Asked:
    """Calls one function, whose answer is what it says of itself."""

    def __init__(self, *about: Any) -> None:
        *_, path, args = about
        self._answer = load_object(path)(*json.loads(args))

    def about(self) -> list[Any]:
        """Return the answer in plain values."""
        answer = self._answer
        if isinstance(answer, Probe):
            return ["probe", dict(answer.pins), answer.problem, answer.mend]
        return ["text", str(answer)]


def serve(*handles: str | int) -> None:
    """Answer the first message, which names the function and its arguments."""
    serve_host(Asked, *handles)
