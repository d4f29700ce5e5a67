"""Oracles that answer what was asked before from memory: all mutants ask the same."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import paths
from twinstep.contract import Module
from twinstep.harness import Harness, OracleNeeded, Reference
from twinstep.registry import Subject
from twinstep.supervisor import OracleProcess

#: Requests whose answers hang on nothing asked before.
_ALONE = frozenset(("call", "places", "steps", "restarts", "replays", "hidden_after"))


class RememberingOracle(OracleProcess):
    """An oracle that keeps its answers while `learning`, and gives them again ever after."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.learning = True
        self._known: dict[bytes, Any] = {}

    def _ask(self, method: str, *args: Any, limit: float | None = None) -> Any:
        if method not in _ALONE:
            return super()._ask(method, *args, limit=limit)
        key = hashlib.sha256(pickle.dumps((method, args))).digest()
        if key in self._known:
            return self._known[key]
        answer = super()._ask(method, *args, limit=limit)
        if self.learning:
            self._known[key] = answer
        return answer


class FilingOracle(OracleProcess):
    """An oracle whose answers lie in a folder, for processes that ask the same in turn.

    learning: whether it files what is asked for the first time.
    """

    def __init__(self, folder: Path, learning: bool, subject: Subject) -> None:
        super().__init__(subject)
        self._folder, self._learning = folder, learning
        params = sorted(subject.contract.params.items())
        self._name = subject.env.name, [(name, _contents(value)) for name, value in params]

    def _ask(self, method: str, *args: Any, limit: float | None = None) -> Any:
        if method not in _ALONE:
            return super()._ask(method, *args, limit=limit)
        asked = pickle.dumps((self._name, method, args))
        file = self._folder / hashlib.sha256(asked).hexdigest()
        if file.exists():
            return pickle.loads(zlib.decompress(file.read_bytes()))
        answer = super()._ask(method, *args, limit=limit)
        if self._learning:
            paths.write_atomically(file, zlib.compress(pickle.dumps(answer), 1))
        return answer


def _contents(value: Any) -> Any:
    """Return a parameter; of a file, which may lie elsewhere the next time, a hash of it."""
    named = isinstance(value, str) and value and Path(value).is_file()
    return hashlib.sha256(Path(value).read_bytes()).digest() if named else value


class RememberingReference(Reference):
    """A reference whose oracle remembers; inputs and states are drawn but once, too."""

    def __init__(self, harness: Harness, subject: Subject) -> None:
        super().__init__(harness, subject)
        self._remembering = RememberingOracle(subject)
        self._drawn: dict[tuple[object, ...], Any] = {}

    @property
    def oracle(self) -> RememberingOracle:
        """The oracle. Raises OracleNeeded when the run works from exported traces."""
        if self.harness.imported:
            raise OracleNeeded("planted bugs are asked of the oracle")
        return self._remembering

    def module_inputs(
        self, module: Module, count: int, *parts: object, dtype: str = "float64"
    ) -> dict[str, np.ndarray]:
        """Draw a module's inputs as `Reference` does, once."""
        key = ("inputs", module.name, count, parts, dtype)
        if key not in self._drawn:
            self._drawn[key] = super().module_inputs(module, count, *parts, dtype=dtype)
        return dict(self._drawn[key])

    def states(
        self, count: int, *parts: object, dtype: str = "float64"
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draw placed states and actions as `Reference` does, once."""
        key = ("states", count, parts, dtype)
        if key not in self._drawn:
            self._drawn[key] = super().states(count, *parts, dtype=dtype)
        states, actions = self._drawn[key]
        return dict(states), actions

    def close(self) -> None:
        """End the oracle's process."""
        self._remembering.close()
