"""Detect an agent's changes outside its folder, as far as a verdict depends on them.

Such changes can only be named, not reverted; a sandbox makes them impossible.
"""

from __future__ import annotations

import os
import site
from pathlib import Path

import twinstep
from twinstep.project.repository import git
from twinstep.project.workspace import BYPRODUCTS

#: Path -> mode, size, time of the last change of its bytes, and of itself: a program can restore
#: the first three, but not the last.
States = dict[str, tuple[int, ...]]
_SKIPPED = {name for name in BYPRODUCTS if "*" not in name and name != ".git"}


def watched(root: Path, run: Path) -> list[Path]:
    """Return the files and folders that affect a check's imports, recordings and outcome.

    root: the top folder of the user's repository. Its settings are the user's own to change while
    an agent works; its hooks would run programs.
    """
    folder = root / os.fsdecode(git(root, "rev-parse", "--git-common-dir").strip())
    places = [folder / "hooks"]
    names = ("log.jsonl", "holdout.key", "holdout", "cache", "reports", "files", "commits.git",
             "bytecode")  # fmt: skip
    places += [run / name for name in names]
    # The user's settings of git and cargo can name programs that these start.
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
    places += [
        home / ".gitconfig",
        home / ".config" / "git",
        cargo / "config",
        cargo / "config.toml",
    ]
    places += [Path(name) for name in site.getsitepackages()]
    return [*places, *(Path(name) for name in twinstep.__path__)]


def states(places: list[Path]) -> States:
    """Return mode, size and times of change of each file in these places."""
    by_path: States = {}
    for place in places:
        if place.is_file():
            by_path[str(place)] = _state(place)
        for base, folders, files in os.walk(place):
            folders[:] = [name for name in folders if name not in _SKIPPED]
            for name in files:
                if not name.endswith(".pyc"):
                    path = Path(base, name)
                    by_path[str(path)] = _state(path)
    return by_path


def damaged(before: States, after: States) -> list[str]:
    """Return the files changed, added or removed in between, sorted."""
    return sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))


def _state(path: Path) -> tuple[int, ...]:
    try:
        about = path.lstat()
    except OSError:
        return ()
    return about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns
