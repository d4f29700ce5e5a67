"""Prove that all backends did the same work: checksums over all outputs.

They cover observations, rewards, ends and the final state, bit by bit. A part is exempt for a
backend whose gate lets its last bits differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.gates import Lockstep

_SHOWN = ("obs", "reward", "terminated", "truncated")

#: part (`obs`, `state.ball_x`) -> checksum, hexadecimal.
Digests = Mapping[str, str]


class Checksum:
    """The chained checksum of the first `lanes` lanes over any number of rounds."""

    def __init__(self, contract: Contract, lanes: int) -> None:
        self._layout = contract.layout()
        self._compared = contract.compared_paths()
        self._lanes = lanes
        self._parts = {path: hashlib.sha256() for path in _SHOWN}

    def add(self, shown: Fields) -> Digests:
        """Add one round's arrays [T, N, ...]; return the checksums so far."""
        for path, total in self._parts.items():
            values = shown.get(path)
            if values is None:  # nothing was truncated
                values = np.zeros(np.shape(shown["reward"])[:2], bool)
            self._take(total, path, np.asarray(values)[:, : self._lanes])
        return {path: total.hexdigest() for path, total in self._parts.items()}

    def state(self, fields: Fields) -> Digests:
        """Return the checksums of a state's fields [N, ...]."""
        found = {}
        for path in self._compared:
            name = path.removeprefix("state.")
            if name != path and name in fields:
                total = hashlib.sha256()
                self._take(total, path, np.asarray(fields[name])[: self._lanes])
                found[path] = total.hexdigest()
        return found

    def _take(self, total: hashlib._Hash, path: str, values: np.ndarray) -> None:
        """Add the values' bytes. A wrong dtype changes the sum, a player axis of 1 does not."""
        if values.dtype != self._layout[path][0]:
            total.update(str(values.dtype).encode())
        total.update(np.ascontiguousarray(values).data)


def held_parts(contract: Contract, backend: str, dtype: str, platform: str) -> set[str]:
    """Return the parts that a backend must share with the reference to the bit."""
    found = set()
    for path in contract.compared_paths():
        gate = contract.gate(path, candidate=backend, dtype=dtype, platform=platform)
        if isinstance(gate, Lockstep) and gate.exact:
            found.add(path)
    return found


class Comparison:
    """Compare checksums of several backends, the reference's first."""

    def __init__(self) -> None:
        self._expected: dict[tuple[str, str], tuple[str, str]] = {}

    def differences(self, name: str, digests: Mapping[str, Digests], held: set[str]) -> list[str]:
        """Return one sentence per part in which `name` differs from an earlier backend.

        digests: number of lanes -> checksums; held: parts that must be equal.
        """
        sentences = []
        for lanes, parts in digests.items():
            for part in sorted(held & parts.keys()):
                value = parts[part]
                want, who = self._expected.setdefault((lanes, part), (value, name))
                if value != want:
                    sentences.append(f"{name} differs from {who} in {part}")
        return list(dict.fromkeys(sentences))


def joined(parts: Digests, only: Iterable[str] | None = None) -> str:
    """Return one short checksum of many."""
    names = sorted(parts if only is None else only)
    total = hashlib.sha256("".join(f"{name}={parts[name]};" for name in names).encode())
    return total.hexdigest()[:16]
