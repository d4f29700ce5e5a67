"""Oracles that cache their answers: all mutants send the same requests."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib import paths
from twinstep.contract import Module
from twinstep.project.registry import EnvVariant
from twinstep.reference.process import OracleProcess
from twinstep.testing.harness import Harness
from twinstep.testing.reference import Reference
from twinstep.testing.settings import NeedsOracle

#: Requests whose answers do not depend on earlier requests.
_ALONE = frozenset(("call", "fresh", "places", "steps", "restarts", "replays", "hidden_after"))


class RememberingOracle(OracleProcess):
    """An oracle that caches its answers while `learning` and returns them from then on."""

    def __init__(self, subject: EnvVariant, learning: bool = True) -> None:
        super().__init__(subject)
        self.learning = learning
        self._known: dict[bytes, Any] = {}
        params = sorted(subject.contract.params.items())
        self._name = subject.env.name, [(name, _contents(value)) for name, value in params]

    def _ask(self, method: str, *args: Any, limit: float | None = None) -> Any:
        if method not in _ALONE:
            return super()._ask(method, *args, limit=limit)
        key = hashlib.sha256(pickle.dumps((self._name, method, args))).digest()
        try:
            return self._kept(key)
        except KeyError:
            pass  # The request is sent outside this block: an oracle's failure is not cached.
        answer = super()._ask(method, *args, limit=limit)
        if self.learning:
            self._keep(key, answer)
        return answer

    def _kept(self, key: bytes) -> Any:
        return self._known[key]

    def _keep(self, key: bytes, answer: Any) -> None:
        self._known[key] = answer


class FilingOracle(RememberingOracle):
    """A caching oracle whose answers lie in a folder, for processes with the same requests."""

    def __init__(self, folder: Path, learning: bool, subject: EnvVariant) -> None:
        super().__init__(subject, learning)
        self._folder = folder

    def _kept(self, key: bytes) -> Any:
        try:
            return pickle.loads(zlib.decompress((self._folder / key.hex()).read_bytes()))
        except FileNotFoundError:
            raise KeyError(key) from None

    def _keep(self, key: bytes, answer: Any) -> None:
        paths.write_atomically(self._folder / key.hex(), zlib.compress(pickle.dumps(answer), 1))


class SharingOracle(FilingOracle):
    """A filing oracle that also keeps answers in memory, for a process with repeated requests."""

    def _kept(self, key: bytes) -> Any:
        if key not in self._known:
            self._known[key] = super()._kept(key)
        return self._known[key]


def _contents(value: Any) -> Any:
    """Return a parameter; for a file, whose path may change between runs, return its hash."""
    named = isinstance(value, str) and value and Path(value).is_file()
    return hashlib.sha256(Path(value).read_bytes()).digest() if named else value


class RememberingReference(Reference):
    """A reference with a caching oracle; inputs and states are drawn only once, too.

    folder: where answers are filed for other processes; None: in memory only.
    """

    def __init__(self, harness: Harness, subject: EnvVariant, folder: Path | None = None) -> None:
        super().__init__(harness, subject)
        self._remembering = (
            SharingOracle(folder, True, subject) if folder else RememberingOracle(subject)
        )
        self._drawn: dict[tuple[object, ...], Any] = {}

    @property
    def oracle(self) -> RememberingOracle:
        """The oracle. Raises NeedsOracle when the run works from exported traces."""
        if self.harness.imported:
            raise NeedsOracle("planted bugs are asked of the oracle")
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
