"""The trace cache: recorded episodes on disk, found again by what they depend on.

An entry is a folder `traces/<key>` that holds a trace set; see cache_key.py for the key.
An entry appears whole or not at all. A damaged one is recorded again.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from twinstep._lib import paths
from twinstep.errors import UserError
from twinstep.reference import locks
from twinstep.reference.cache_key import key_of, material, sources_of
from twinstep.reference.export import export, read_export
from twinstep.reference.trace_file import TraceDamaged
from twinstep.reference.trace_set import TraceSet, read_manifest, read_set, write_manifest

#: The cache's limit in gigabytes; TWINSTEP_CACHE_GB overrides it.
DEFAULT_GIGABYTES = 10.0
#: Seconds after its last use in which an entry is never evicted: another run may be reading it.
IN_USE = 3600.0


class CacheWarning(UserWarning):
    """The cache is damaged or not writable; the run goes on without it."""


class CacheEntry(NamedTuple):
    """One entry of the cache. used: the time of its last use. parts: its material."""

    key: str
    used: float
    size: int
    parts: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """A requested set. record: called with a folder; returns the chunks written there."""

    key: str
    parts: dict[str, Any]
    record: Callable[[str], list[dict[str, Any]]]
    reduce: list[dict[str, str]]


#: The name of an entry.
_KEY = re.compile(r"[0-9a-f]{40}")


class TraceCache:
    """Find trace sets, or record them.

    An unwritable or full folder is no error: traces then go to a temporary folder until this object
    is closed, with one warning.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or paths.cache_dir()) / "traces"
        self._spare: tempfile.TemporaryDirectory[str] | None = None
        self._warned = False
        self._used: set[str] = set()

    def get(
        self,
        parts: dict[str, Any],
        record: Callable[[str], list[dict[str, Any]]],
        reduce: list[dict[str, str]],
    ) -> TraceSet:
        """Return the set for `parts`; call `record(folder)` if the cache lacks it.

        reduce: name and reduction of each measure, kept in the manifest.
        """
        wanted = _Wanted(key_of(parts), parts, record, reduce)
        trace_set = self._find_or_make(wanted)
        trace_set.touch()
        self._used.add(wanted.key)
        return dataclasses.replace(trace_set, renew=lambda: self.get(parts, record, reduce))

    def close(self) -> None:
        """Remove the temporary folder, if the cache was unusable."""
        if self._spare is not None:
            self._spare.cleanup()
            self._spare = None

    def find(self, key: str) -> TraceSet | None:
        """Return the entry with this key if it exists and its material has this key."""
        try:
            manifest = read_manifest(self.root / key)
        except TraceDamaged:
            return None
        return TraceSet(self.root / key, manifest) if key_of(manifest["material"]) == key else None

    def entries(self) -> list[CacheEntry]:
        """List the entries, least recently used first. Entries removed meanwhile are left out."""
        entries = []
        for path in self.root.iterdir() if self.root.is_dir() else ():
            if not _KEY.fullmatch(path.name):  # somebody else's, or a draft
                continue
            try:
                used = path.lstat().st_mtime
            except OSError:
                continue
            trace_set = self.find(path.name)
            parts = trace_set.manifest["material"] if trace_set is not None else {}
            entries.append(CacheEntry(path.name, used, locks.size_of(path), parts))
        return sorted(entries, key=lambda entry: entry.used)

    def damage(self, key: str) -> str:
        """Check every byte of an entry; return the problem, or ""."""
        try:
            if key_of(read_set(self.root / key).manifest["material"]) != key:
                raise TraceDamaged("it belongs to other sources")
        except TraceDamaged as problem:
            return str(problem)
        return ""

    def evict(self, limit: float | None = None) -> list[str]:
        """Drop the least recently used entries until the cache is within its limit.

        Entries that this object returned, or that any run used in the last hour, are never evicted.
        """
        if limit is None:
            limit = _gigabytes() * 1e9
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        dropped = []
        for entry in entries:
            if total <= limit:
                break
            if entry.key not in self._used and time.time() - entry.used > IN_USE:
                self.drop(entry.key)
                dropped.append(entry.key)
                total -= entry.size
        return dropped

    def drop(self, key: str) -> None:
        """Remove an entry; readers keep the files that they have open."""
        locks.tombstone(self.root, key)

    def _find_or_make(self, wanted: _Wanted) -> TraceSet:
        key, parts = wanted.key, wanted.parts
        if self._spare is not None:
            trace_set, _ = _look(Path(self._spare.name) / key, parts)
            if trace_set is not None:
                return trace_set
        trace_set, problem = _look(self.root / key, parts)
        if trace_set is not None:
            return trace_set
        if paths.writable(self.root):
            try:
                with locks.locked(self.root, key):
                    # Another run may have recorded or repaired it while this one waited.
                    trace_set, problem = _look(self.root / key, parts)
                    if trace_set is not None:
                        return trace_set
                    if problem:
                        self._warn_damaged(key, problem)
                        self.drop(key)
                    recorded = self._make(self.root, wanted)
                self._used.add(key)
                locks.collect_garbage(self.root)
                self.evict()
                return recorded
            except OSError as error:
                if error.errno not in (*paths.DISK_FULL, errno.EACCES):
                    raise
                self._warn_unusable(f"trace cache {self.root}: {error.strerror}")
        else:
            if problem:
                self._warn_damaged(key, problem)
            self._warn_unusable(f"trace cache {self.root} cannot be written")
        return self._in_spare(wanted)

    def _make(self, root: Path, wanted: _Wanted) -> TraceSet:
        draft = locks.draft(root, wanted.key)
        try:
            chunks = wanted.record(str(draft))
            manifest = write_manifest(draft, wanted.parts, chunks, wanted.reduce)
            os.rename(draft, root / wanted.key)
        except BaseException:
            locks.remove(draft)
            raise
        return TraceSet(root / wanted.key, manifest)

    def _in_spare(self, wanted: _Wanted) -> TraceSet:
        if self._spare is None:
            self._spare = tempfile.TemporaryDirectory(prefix="twinstep-traces-")
        root = Path(self._spare.name)
        try:
            locks.tombstone(root, wanted.key)  # what is there was found damaged
            return self._make(root, wanted)
        except OSError as error:
            raise UserError(
                f"traces can be written neither to {self.root} nor to {root} "
                f"({error.strerror}): free some space or set TWINSTEP_CACHE"
            ) from error

    def _warn_damaged(self, key: str, why: str) -> None:
        self._warn(f"cached trace {key[:8]} is not usable ({why}); recording it again")

    def _warn_unusable(self, why: str) -> None:
        """Warn once that no traces are kept."""
        if not self._warned:
            self._warned = True
            self._warn(f"{why}: traces are recorded anew in each run; set TWINSTEP_CACHE")

    def _warn(self, text: str) -> None:
        warnings.warn(text, CacheWarning, stacklevel=3)


def _look(folder: Path, parts: dict[str, Any]) -> tuple[TraceSet | None, str]:
    """Return the set in a folder if it is whole and has these parts, else the problem."""
    if not os.path.lexists(folder):
        return None, ""
    try:
        trace_set = read_set(folder)
        if trace_set.manifest["material"] != parts:
            raise TraceDamaged("it belongs to other sources")
    except TraceDamaged as problem:
        return None, str(problem)
    return trace_set, ""


def _gigabytes() -> float:
    text = os.environ.get("TWINSTEP_CACHE_GB", "")
    try:
        return float(text) if text else DEFAULT_GIGABYTES
    except ValueError as error:
        raise UserError(f"TWINSTEP_CACHE_GB is '{text}', not a number of gigabytes") from error


__all__ = [
    "CacheWarning",
    "CacheEntry",
    "TraceCache",
    "TraceDamaged",
    "TraceSet",
    "export",
    "key_of",
    "material",
    "read_export",
    "sources_of",
]
