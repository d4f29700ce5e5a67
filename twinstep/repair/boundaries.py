"""Where an agent's files end and the judge's begin: no file and no import name is of both."""

from __future__ import annotations

from pathlib import Path

import twinstep
from twinstep.environment import CandidateRef, Environment
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.commits import Commits
from twinstep.project.imported import imported, installed, seen
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
        candidate.probe,
    ]
    own = [place for name in names if name for place in seen(name.partition(":")[0], whole=False)]
    files = [*own, *imported(own, [*installed(), *twinstep.__path__])]
    here = Path.cwd()
    for file in map(Path, files):
        inner = file.relative_to(here).as_posix() if file.is_relative_to(here) else ""
        if inner and may_edit(candidate.edit, inner):
            raise UserError(
                f"{inner} is imported by what judges '{candidate.name}', and its `edit` lets an "
                "agent change it: leave it out of `edit`, or move what it has elsewhere"
            )


def new_names(commits: Commits, project: Path, commit: str, base: str) -> list[str]:
    """Return the import names that a commit adds at the top of the search path, sorted.

    Such a name could be an installed package's, or one that Python looks for when it starts.
    project: a checkout, which tells where the search path begins.
    """
    roots = [root.relative_to(project) for root in import_roots(project)]
    before, after = (_names(commits, one, roots) for one in (base, commit))
    return sorted(after - before)


def _names(commits: Commits, commit: str, roots: list[Path]) -> set[str]:
    names = set()
    for path in commits.paths(commit):
        for root in roots:
            top = commits.inner / root
            if Path(path).is_relative_to(top):
                first, *inner = Path(path).relative_to(top).parts
                if inner or first.endswith((".py", ".so", ".pyc", ".pyd", ".pth")):
                    names.add(first)
    return names
