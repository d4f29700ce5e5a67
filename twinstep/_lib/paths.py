"""The folders of the cache, whose contents can be made again, and atomic writes."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from twinstep.errors import UserError

#: What writing fails with where no more may be written.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


def cache_dir() -> Path:
    """Return the cache's folder; it may not exist yet.

    TWINSTEP_CACHE if set, else `twinstep` under XDG_CACHE_HOME or `~/.cache`. UserError where
    there is no home folder.
    """
    chosen = os.environ.get("TWINSTEP_CACHE")
    base = chosen or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(base).expanduser().absolute()
    except RuntimeError as error:
        raise UserError(f"there is no home folder for {base}: set TWINSTEP_CACHE") from error
    return folder if chosen else folder / "twinstep"


def compiled_dir() -> Path:
    """Return the folder of JAX's compiled programs, which TWINSTEP_CACHE_GB does not count."""
    return cache_dir() / "jax"


def writable(folder: Path) -> bool:
    """Return whether files can be created in `folder`; try to create the folder itself."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, probe = tempfile.mkstemp(prefix=".writable-", dir=folder)
        os.close(handle)
        os.unlink(probe)
    except OSError:
        return False
    return True


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that readers see the old bytes or the new ones, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
