"""Which copy of a candidate is tested: what is imported, or what lies in this folder.

In a second checkout, a worktree or an agent's copy the two may differ, and a run would prove
nothing of the files that were edited.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.registry import Pair
from twinstep.project.source_hash import package_folder


def require_imported(pairs: Iterable[Pair], folder: Path) -> None:
    """Raise UserError if `folder` holds a candidate's files and other ones are imported."""
    for pair in pairs:
        packages = _packages(pair.candidate)
        if not packages or any(_within(path, folder) for path in packages):
            continue
        if (file := next(_edited(pair.candidate, folder), None)) is not None:
            raise UserError(
                f"{pair.label}: {file} of this folder is not what is imported, which is "
                f"{packages[0]}: install this copy (`pip install -e .`), or run where that one lies"
            )


def elsewhere(pairs: Iterable[Pair], folder: Path) -> list[str]:
    """Return a line for the header if candidates are imported from outside `folder`, else none."""
    packages = [path for pair in pairs for path in _packages(pair.candidate)]
    outside = dict.fromkeys(str(path) for path in packages if not _within(path, folder))
    if not outside:
        return []
    first, more = next(iter(outside)), len(outside) - 1
    return [
        f"tested as imported, not as in this folder: {first}"
        + (f" and {more} more" if more else "")
    ]


def _packages(candidate: CandidateRef) -> list[Path]:
    """Return the folders of a candidate's own packages, those that can be found."""
    found = []
    for name in candidate.packages:
        try:
            found.append(package_folder(name).resolve())
        except UserError:
            continue  # its tests say so
    return found


def _within(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder.resolve())


def _edited(candidate: CandidateRef, folder: Path) -> Iterator[str]:
    """Yield the files of a folder that the candidate's `edit` globs name."""
    for glob in candidate.edit:
        plain = glob.partition("*")[0].rpartition("/")[0]
        for base, _, files in os.walk(folder / plain if plain else folder):
            for name in sorted(files):
                path = Path(base, name).relative_to(folder).as_posix()
                if fnmatch.fnmatchcase(path, glob):
                    yield path
