"""Remove a folder that somebody else filled: of any depth, with any rights, no link followed.

`shutil.rmtree` ends in a RecursionError for a thousand folders in each other.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it. OSError where the system refuses it.

    Each folder inside is emptied into the outermost one before it goes, so that two are open.
    """
    os.chmod(folder, 0o700)
    top = os.open(folder, _FOLDER)
    try:
        while names := os.listdir(top):
            for name in names:
                if not _is_folder(name, top):
                    os.unlink(name, dir_fd=top)
                    continue
                os.chmod(name, 0o700, dir_fd=top)
                inner = os.open(name, _FOLDER, dir_fd=top)
                try:
                    for entry in os.listdir(inner):
                        if not _is_folder(entry, inner):
                            os.unlink(entry, dir_fd=inner)
                            continue
                        os.chmod(entry, 0o700, dir_fd=inner)
                        free = secrets.token_hex(16)  # a name that nobody could have taken
                        os.rename(entry, free, src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def _is_folder(name: str, place: int) -> bool:
    about = os.stat(name, dir_fd=place, follow_symlinks=False)
    return (about.st_mode & 0o170000) == 0o040000


@contextlib.contextmanager
def scratch_folder(prefix: str, folder: Path) -> Iterator[Path]:
    """Give a new folder in another one, and remove it whatever was put there."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    try:
        yield made
    finally:
        remove(made)
