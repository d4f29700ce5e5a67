"""What runs that were killed left in the trace cache, and its locks.

A trace set is recorded in a folder `.draft-<key>-*` under the lock of its key, and dropped by
way of `.dropped-*`. A draft whose lock is free has nobody who writes it.
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

#: Seconds after which a file that lives for an instant only counts as left behind.
OLD = 3600.0
_DRAFT, _DROPPED, _PROBE = ".draft-", ".dropped-", ".writable-"


@contextlib.contextmanager
def locked(root: Path, key: str, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a key; with `wait` off, say whether it was free."""
    # A few lasting lock files: removing one while another run waits on it would let two in.
    with (root / f".lock-{key[:2]}").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def draft(root: Path, key: str) -> Path:
    """Make the folder in which a set is recorded; the key's lock is held."""
    return Path(tempfile.mkdtemp(prefix=f"{_DRAFT}{key[:8]}-", dir=root))


def tombstone(root: Path, name: str) -> None:
    """Take an entry away at once, whatever it is, then remove it.

    A reader that has its files open is not disturbed.
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
    """Return the bytes of a file or of a folder's files, as far as they are still there."""
    total = 0
    with contextlib.suppress(OSError):
        files = list(path.iterdir()) if path.is_dir() else [path]
        for file in files:
            with contextlib.suppress(OSError):
                total += file.lstat().st_size
    return total


def left(root: Path) -> list[Path]:
    """List what killed runs left behind."""
    return [path for path in _hidden(root) if _abandoned(root, path)]


def collect_garbage(root: Path) -> int:
    """Remove what killed runs left behind; return how much that was."""
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
    """Hold the lock under which a draft is written; what is no draft needs none."""
    if not path.name.startswith(_DRAFT):
        yield True
        return
    if not os.access(root, os.W_OK):
        yield False
        return
    with locked(root, path.name.removeprefix(_DRAFT), wait=False) as free:
        yield free


def _is_old_enough(path: Path) -> bool:
    """Whether nobody can be at it: a draft by its lock, a grave at any time, else by its age."""
    try:
        return not path.name.startswith(_PROBE) or time.time() - path.lstat().st_mtime > OLD
    except OSError:
        return False
