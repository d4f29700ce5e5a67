"""Where an agent's files end and the judge's begin: no file and no import name is of both."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import twinstep
from twinstep.environment import CandidateRef, Environment
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.commits import Commits
from twinstep.project.imported import below, imported, installed, seen
from twinstep.project.workspace import import_roots, may_edit


def require_apart(env: Environment, candidate: CandidateRef) -> None:
    """UserError if the judge imports a file that the agent may edit.

    The judge imports the declaration, the contract and the oracle's bridge, and what these import;
    an edit there would run before anything is compared.
    """
    names = [
        registry.locator(env.name),
        env.contract.__module__,
        env.oracle.factory,
        env.oracle.probe,
        registry.locator_of_candidate(env.name, candidate.name),
    ]
    own = [place for name in names if name for place in seen(name.partition(":")[0], whole=False)]
    files = [*own, *imported(own, below([*installed(), *twinstep.__path__]))]
    here = Path.cwd()
    for file in map(Path, files):
        inner = file.relative_to(here).as_posix() if file.is_relative_to(here) else ""
        if inner and may_edit(candidate.edit, inner):
            raise UserError(
                f"{inner} is imported by what judges '{candidate.name}', and its `edit` lets an "
                "agent change it: leave it out of `edit`, or move what it has elsewhere"
            )


def new_names(
    commits: Commits, project: Path, commit: str, base: str, globs: Sequence[str]
) -> list[str]:
    """Return the import names that an agent's files add at the top of the search path, sorted.

    Such a name could be an installed package's, or one that Python looks for when it starts.
    project: a checkout, which tells where the search path begins. globs: the candidate's `edit`.
    """
    roots = [root.relative_to(project) for root in import_roots(project)]
    mine = []
    for path in map(Path, commits.paths(commit)):
        inside = path.is_relative_to(commits.inner)
        if inside and may_edit(globs, path.relative_to(commits.inner).as_posix()):
            mine.append(path)
    before = _names(commits.inner, map(Path, commits.paths(base)), roots)
    return sorted(_names(commits.inner, mine, roots) - before)


def clash(paths: Iterable[str]) -> str:
    """Return two paths that are one where case or accents' form do not count, "" if none are."""
    seen: dict[str, str] = {}
    for path in paths:
        plain = unicodedata.normalize("NFC", path).casefold()
        if plain in seen:
            return f"{seen[plain]} and {path}"
        seen[plain] = path
    return ""


def _names(inner: Path, paths: Iterable[Path], roots: Sequence[Path]) -> set[str]:
    """Return the first parts of what could be imported, from each root."""
    names = set()
    for path in paths:
        for top in (inner / root for root in roots):
            if path.is_relative_to(top):
                first, *more = path.relative_to(top).parts
                if more or first.endswith((".py", ".so", ".pyc", ".pyd", ".pth")):
                    names.add(first)
    return names
