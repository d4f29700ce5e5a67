"""An agent's own state behind walls: a copy for each try, of which only renewed keys come back.

What an agent leaves in its settings, a hook that its next session runs for one, would run later as
the user, without any wall.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from twinstep._lib import paths
from twinstep.errors import UserError
from twinstep.project.workspace import read_file

#: Bytes of a file that may come back.
KEY = 1 << 16
#: Bytes of a file that is copied: what is larger is a log or a binary of the agent's.
LARGE = 64 << 20
#: Bytes that are copied at most.
TOTAL = 512 << 20


class StateCopy:
    """Copies of an agent's state in a folder. shown: (the copy, where the agent finds it)."""

    def __init__(self, state: Sequence[str], folder: Path) -> None:
        """Copy it. UserError if it is too much to copy for each try."""
        self.shown: list[tuple[str, str]] = []
        folder.mkdir()
        for number, name in enumerate(state):
            place, copy = Path(os.path.expanduser(name)), folder / str(number)
            if (size := _size(place)) > TOTAL:
                raise UserError(
                    f"{place} has {size >> 20} MB, more than the {TOTAL >> 20} that are copied for "
                    "an agent: name the parts that it needs in `state`"
                )
            if place.is_dir():
                # What goes or changes meanwhile, as a lock does, is not missed.
                with contextlib.suppress(shutil.Error):
                    shutil.copytree(place, copy, symlinks=True, ignore=_left_out)
            elif place.is_file():
                shutil.copy2(place, copy)
            else:
                continue
            self.shown.append((str(copy), str(place)))

    def give_back(self, names: Sequence[str]) -> list[str]:
        """Write renewed files back, if they are JSON; return their names."""
        renewed = []
        for name in names:
            place = Path(os.path.expanduser(name))
            for copy, shown in self.shown:
                if not place.is_relative_to(shown):
                    continue
                folder, inner = Path(copy), place.relative_to(shown).as_posix()
                if inner == ".":
                    folder, inner = folder.parent, folder.name
                found = read_file(folder, inner, KEY)
                if found is None or found[0] == "120000" or not _is_json(found[1]):
                    continue
                if place.is_file() and place.read_bytes() == found[1]:
                    continue
                paths.write_atomically(place, found[1])
                place.chmod(0o600)
                renewed.append(name)
        return renewed


def _size(place: Path) -> int:
    """Return the bytes of what would be copied."""
    total = 0
    for base, _, names in os.walk(place):
        for name in set(names) - _left_out(base, names):
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_size
    return total


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Return what is not copied: sockets and pipes, and files beyond all measure."""
    left = set()
    for name in names:
        path = Path(folder, name)
        if not path.is_symlink() and not path.is_dir():
            left |= {name} if not path.is_file() or path.stat().st_size > LARGE else set()
    return left


def _is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
