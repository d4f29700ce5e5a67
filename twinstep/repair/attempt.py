"""One try of an agent: a folder of its own, the prompt, and the changes that are taken over."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from twinstep.environment import CandidateRef
from twinstep.project.workspace import (
    Repository,
    changed,
    git,
    import_path,
    may_edit,
    snapshot,
    take_over,
    with_references,
)
from twinstep.repair import sandbox, tamper_check
from twinstep.repair.agents import Agent, ask
from twinstep.walls.view import View


@dataclass(frozen=True)
class Workbench:
    """The workplace of an agent: the run's folder and the branch's work tree in it.

    sandboxed: True if the agent runs behind walls.
    """

    repository: Repository
    run: Path
    candidate: CandidateRef
    agent: Agent
    sandboxed: bool = False

    @property
    def branch(self) -> Path:
        """The work tree for commits. No agent works there."""
        return self.run / "branch"

    @property
    def project(self) -> Path:
        """The project's folder in it."""
        return self.branch / self.repository.inner

    @property
    def reports(self) -> Path:
        """The reports of all checks except those with hidden seeds; an agent gets a copy."""
        return self.run / "reports"

    def ask(
        self, number: int, about: dict[str, str], commit: str, prompt: str, limit: float
    ) -> dict[str, Any]:
        """Run the agent on a commit's files; return the journal's entry, with the new commit.

        Changed files that it may edit are committed. Its other changes stay in its folder, which
        is deleted: `outside` names them. `damage` names changed files outside the folder.
        """
        places = tamper_check.watched(self.repository, self.run)
        before = tamper_check.states(places)
        with tempfile.TemporaryDirectory(prefix="agent-", dir=self.run) as scratch:
            folder = Path(scratch) / "work"
            folder.mkdir()
            project = self.repository.unpack(commit, folder)
            _throwaway_repository(folder)
            files_before = snapshot(folder)
            if self.reports.is_dir():
                shutil.copytree(self.reports, project / ".twinstep" / "reports")
            with_references(project / ".twinstep" / "cache")
            log = self.run / "tries" / f"{number}.log"
            more = {f"TWINSTEP_{name.upper()}": value for name, value in about.items()}
            more |= {"TWINSTEP_CACHE": str(project / ".twinstep" / "cache")}
            more |= {"PYTHONPATH": import_path(project), "PYTHONDONTWRITEBYTECODE": "1"}
            ended, cost = ask(self.agent, prompt, project, log, more, limit, self._view(project))
            touched = changed(files_before, snapshot(folder))
            inner = [_within(path, self.repository.inner) for path in touched]
            mine = [path for path in inner if path and may_edit(self.candidate.edit, path)]
            outside = [t for t, path in zip(touched, inner, strict=True) if path not in mine]
            new_commit = self._commit(commit, project, mine, f"repair {number}: {about['module']}")
        damage = tamper_check.damaged(before, tamper_check.states(places))
        return {
            "number": number,
            "base": commit,
            **about,
            "code": ended.code,
            "seconds": ended.seconds,
            "timed_out": ended.timed_out,
            "leftovers": ended.leftovers,
            "cost": cost,
            "files": mine,
            "outside": outside,
            "damage": damage,
            "commit": new_commit,
            "lines": _lines(self.branch, commit, new_commit),
        }

    def _view(self, project: Path) -> Callable[[Path], View] | None:
        """Return the function from the prompt's file to what the agent sees; None for no walls."""
        if not self.sandboxed:
            return None
        return partial(sandbox.view_of, self.run.parent, project, state=self.agent.state)

    def _commit(self, commit: str, project: Path, files: list[str], message: str) -> str:
        self.repository.branch_off(self.branch, branch_of(self.run), commit)
        take_over(project, self.project, files)
        return commit_all(self.branch, message)

    def restore(self, commit: str, message: str) -> str:
        """Commit the files of an earlier commit once more; return the new commit."""
        git(self.branch, "read-tree", "-u", "--reset", commit)
        return commit_all(self.branch, message)


def commit_all(branch: Path, message: str) -> str:
    """Commit a work tree, even if nothing changed; return the commit."""
    git(branch, "add", "--all", "--force", ".")
    git(branch, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
    return git(branch, "rev-parse", "HEAD").decode().strip()


def branch_of(run: Path) -> str:
    """Return the name of a run's branch."""
    return f"twinstep/{run.name}"


def _within(path: str, inner: Path) -> str:
    """Return a path relative to the project's folder, "" if it lies outside."""
    try:
        return Path(path).relative_to(inner).as_posix()
    except ValueError:
        return ""


def _throwaway_repository(folder: Path) -> None:
    """Create a repository in which the agent can inspect its changes; nothing is read from it."""
    git(folder, "init", "--quiet")
    commit_all(folder, "as it is")


def _lines(branch: Path, before: str, after: str) -> dict[str, int]:
    """Return the numbers of added and removed lines."""
    rows = git(branch, "diff", "--numstat", before, after).decode().splitlines()
    pairs = [row.split("\t")[:2] for row in rows]
    added, removed = (sum(int(p[n]) for p in pairs if p[n] != "-") for n in (0, 1))
    return {"added": added, "removed": removed}


def clear(run: Path) -> None:
    """Remove the folders of tries and checks that a killed run has left."""
    for pattern in ("agent-*", "check-*", "expect-*", "screen-*"):
        for folder in run.glob(pattern):
            shutil.rmtree(folder, ignore_errors=True)
