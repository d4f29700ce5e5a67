"""Notice what an agent changed outside its folder, as far as a verdict hangs on it.

That cannot be taken back, only named: whoever wants it made impossible runs the agent in a sandbox.
"""

from __future__ import annotations

import os
import site
from pathlib import Path

import twinstep
from twinstep.project.workspace import BYPRODUCTS, Repository, git

#: Path -> size, mode, time of change.
States = dict[str, tuple[int, int, int]]
_SKIPPED = {name for name in BYPRODUCTS if "*" not in name and name != ".git"}


def watched(repository: Repository, run: Path) -> list[Path]:
    """Return files and folders that decide what a check imports, records and says."""
    folder = repository.root / os.fsdecode(
        git(repository.root, "rev-parse", "--git-common-dir").strip()
    )
    found = [folder / name for name in ("config", "hooks", "info")]
    found += [run / name for name in ("log.jsonl", "holdout.key", "holdout", "cache", "reports")]
    # What git and cargo read from the user's own folder can name programs that they start.
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
    found += [
        home / ".gitconfig",
        home / ".config" / "git",
        cargo / "config",
        cargo / "config.toml",
    ]
    found += [Path(name) for name in site.getsitepackages()]
    return [*found, *(Path(name) for name in twinstep.__path__)]


def states(places: list[Path]) -> States:
    """Return size, mode and time of change of each file in these places."""
    found: States = {}
    for place in places:
        if place.is_file():
            found[str(place)] = _state(place)
        for base, folders, files in os.walk(place):
            folders[:] = [name for name in folders if name not in _SKIPPED]
            for name in files:
                if not name.endswith(".pyc"):
                    path = Path(base, name)
                    found[str(path)] = _state(path)
    return found


def damaged(before: States, after: States) -> list[str]:
    """Return the files that were changed, added or removed in between, sorted."""
    return sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))


def _state(path: Path) -> tuple[int, int, int]:
    try:
        about = path.lstat()
    except OSError:
        return -1, 0, 0
    return about.st_size, about.st_mode, about.st_mtime_ns
