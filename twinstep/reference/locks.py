"""The trace cache's locks, tombstones and garbage collection.

A trace set is recorded in a folder `.draft-<key>-*` under the lock of its key. A dropped entry is
first renamed to a tombstone `.dropped-*`. A draft whose lock is free has no writer.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: Seconds after which a short-lived probe file counts as garbage.
OLD = 3600.0
_DRAFT, _DROPPED, _PROBE = ".draft-", ".dropped-", ".writable-"


@contextlib.contextmanager
def locked(root: Path, key: str, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a key; without `wait`, yield False if another process holds it."""
    # The few lock files stay: removing one while another run waits on it would let two in.
    with (root / f".lock-{key[:2]}").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def draft(root: Path, key: str) -> Path:
    """Make the folder for recording a set. The caller holds the key's lock."""
    return Path(tempfile.mkdtemp(prefix=f"{_DRAFT}{key[:8]}-", dir=root))


def tombstone(root: Path, name: str) -> None:
    """Rename an entry to a tombstone at once, then remove it.

    Readers keep the files that they have open.
    """
    dropped = root / f"{_DROPPED}{name}-{os.getpid()}-{time.monotonic_ns()}"
    with contextlib.suppress(FileNotFoundError):
        os.rename(root / name, dropped)
        remove(dropped)


def remove(path: Path) -> None:
    """Remove a folder or file as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def size_of(path: Path) -> int:
    """Return the bytes of a file or of a folder's files; vanished ones count 0."""
    total = 0
    with contextlib.suppress(OSError):
        files = list(path.iterdir()) if path.is_dir() else [path]
        for file in files:
            with contextlib.suppress(OSError):
                total += file.lstat().st_size
    return total


def left(root: Path) -> list[Path]:
    """List the garbage of killed runs."""
    return [path for path in _hidden(root) if _abandoned(root, path)]


def collect_garbage(root: Path) -> int:
    """Remove the garbage of killed runs; return the number of entries removed."""
    count = 0
    for path in _hidden(root):
        with _lock_of(root, path) as free:
            if free and _is_old_enough(path):
                remove(path)
                count += not path.exists()
    return count


def _hidden(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [p for p in sorted(root.iterdir()) if p.name.startswith((_DRAFT, _DROPPED, _PROBE))]


def _abandoned(root: Path, path: Path) -> bool:
    with _lock_of(root, path) as free:
        return free and _is_old_enough(path)


@contextlib.contextmanager
def _lock_of(root: Path, path: Path) -> Iterator[bool]:
    """Hold the lock of a draft; other paths need none."""
    if not path.name.startswith(_DRAFT):
        yield True
        return
    if not os.access(root, os.W_OK):
        yield False
        return
    with locked(root, path.name.removeprefix(_DRAFT), wait=False) as free:
        yield free


def _is_old_enough(path: Path) -> bool:
    """Return True if no process can still use a path whose lock is free.

    That holds for drafts and tombstones at once, for probes after OLD seconds.
    """
    try:
        return not path.name.startswith(_PROBE) or time.time() - path.lstat().st_mtime > OLD
    except OSError:
        return False
