"""A trace set on disk: a folder of chunk files and their manifest.

Reading checks everything first: the manifest has its own sha256 and that of each chunk, and its
counts must match the chunks and the key's material.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twinstep.contract import canonical_json
from twinstep.reference.trace_file import ChunkFile, TraceDamaged

MANIFEST = "manifest.json"
COUNTS = ("episodes", "steps", "terminated", "truncated", "cut", "illegal")
_FILE = re.compile(r"[0-9a-z]+\.chunk")


@dataclass(frozen=True)
class TraceSet:
    """Recorded episodes of one driver: a folder with a checked manifest.

    renew: records the set again if its files vanish while it is in use; None for imported traces,
    which cannot be recorded again.
    """

    folder: Path
    manifest: dict[str, Any]
    renew: Callable[[], TraceSet] | None = field(default=None, compare=False)

    def chunks(self) -> Iterator[ChunkFile]:
        """Open each chunk in turn. Raises TraceDamaged if a file differs from the recording."""
        self.touch()
        for entry in self.manifest["chunks"]:
            with contextlib.closing(self._open(entry)) as chunk:
                yield chunk

    def touch(self) -> None:
        """Mark the set as in use, which keeps it from another run's eviction for a while."""
        with contextlib.suppress(OSError):
            os.utime(self.folder)

    def total(self, name: str) -> int:
        """Sum a count over the chunks: episodes, steps, terminated, truncated, cut, illegal.

        illegal: actions that the mask forbade, of players who decided.
        """
        return sum(entry[name] for entry in self.manifest["chunks"])

    def events(self) -> dict[str, int]:
        """Return the count of each declared event."""
        total: dict[str, int] = {}
        for entry in self.manifest["chunks"]:
            for name, count in entry["events"].items():
                total[name] = total.get(name, 0) + count
        return total

    def measures(self) -> dict[str, float]:
        """Return each declared measure over all chunks."""
        values: dict[str, list[float]] = {}
        for entry in self.manifest["chunks"]:
            for name, value in entry["measures"].items():
                values.setdefault(name, []).append(value)
        reducers = {m["name"]: m["reduce"] for m in self.manifest["reduce"]}
        return {n: min(v) if reducers[n] == "min" else max(v) for n, v in values.items()}

    def _open(self, entry: dict[str, Any]) -> ChunkFile:
        path = self.folder / entry["file"]
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return ChunkFile(path, entry["sha256"])
        if self.renew is None:
            raise TraceDamaged(f"{path} has gone while it was in use")
        again = self.renew()
        if again.manifest["chunks"] != self.manifest["chunks"]:
            raise TraceDamaged(
                f"{path} has gone while it was in use, and came out differently when it was "
                "recorded again: the oracle is not deterministic"
            )
        return ChunkFile(again.folder / entry["file"], entry["sha256"])


def write_manifest(
    folder: Path, parts: dict[str, Any], chunks: list[dict[str, Any]], reduce: list[dict[str, str]]
) -> dict[str, Any]:
    """Write the manifest of recorded chunks and return it. parts: the key's material."""
    manifest: dict[str, Any] = {"material": parts, "chunks": chunks, "reduce": reduce}
    _check(manifest)
    manifest["sha256"] = _sha256(manifest)
    (folder / MANIFEST).write_text(canonical_json(manifest))
    return manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest, checked in itself. Raises TraceDamaged with the problem."""
    if folder.is_symlink() or not folder.is_dir():
        raise TraceDamaged("it is no folder")
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        whole = isinstance(manifest, dict) and manifest.get("sha256") == _sha256(manifest)
    except (OSError, ValueError, RecursionError) as error:
        raise TraceDamaged("it has no readable manifest") from error
    if not whole:
        raise TraceDamaged("its manifest is not what was written")
    try:
        _check(manifest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TraceDamaged(f"its manifest does not hold what it must ({error!r})") from error
    return manifest


def read_set(folder: Path) -> TraceSet:
    """Return a folder's trace set, every chunk checked. Raises TraceDamaged with the problem."""
    trace_set = TraceSet(folder, read_manifest(folder))
    try:
        for entry in trace_set.manifest["chunks"]:
            with contextlib.closing(ChunkFile(folder / entry["file"], entry["sha256"])) as chunk:
                counts = chunk.lanes, int(chunk.lengths.sum())
            if counts != (entry["episodes"], entry["steps"]):
                raise TraceDamaged(f"{entry['file']} does not hold what its manifest says")
    except OSError as error:
        raise TraceDamaged(f"{error.filename or folder} cannot be read") from error
    return trace_set


def _sha256(manifest: dict[str, Any]) -> str:
    parts = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


def _check(manifest: dict[str, Any]) -> None:
    """Raise KeyError, TypeError or ValueError if the manifest lacks a required part."""
    parts = manifest["material"]
    reducers = {m["name"]: m["reduce"] for m in manifest["reduce"]}
    _require(set(reducers.values()) <= {"min", "max", "absmax"}, "reduce")
    for entry in manifest["chunks"]:
        _require(_FILE.fullmatch(entry["file"]) is not None, "file")
        _require(isinstance(entry["sha256"], str), "sha256")
        counts = [entry[name] for name in COUNTS] + [*entry["events"].values()]
        _require(all(type(count) is int and count >= 0 for count in counts), "counts")
        _require(entry["episodes"] <= parts["lanes"], "episodes of a chunk")
        _require(entry["measures"].keys() <= reducers.keys(), "measures")
        _require(all(type(v) is float for v in entry["measures"].values()), "measures")
    names = [entry["file"] for entry in manifest["chunks"]]
    _require(len(set(names)) == len(names), "file")
    _require(sum(e["episodes"] for e in manifest["chunks"]) == parts["episodes"], "episodes")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
