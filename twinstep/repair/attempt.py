"""One try of an agent: a folder of its own, the prompt, and the changes that are taken over."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from twinstep._lib.removal import remove, scratch_folder
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.commits import Commits, File
from twinstep.project.repository import git
from twinstep.project.workspace import (
    TooMuch,
    changed,
    import_path,
    may_edit,
    printable,
    read_file,
    snapshot,
    with_references,
)
from twinstep.repair import sandbox, tamper_check
from twinstep.repair.agent_state import StateCopy
from twinstep.repair.agents import Agent, ask
from twinstep.walls.view import View

#: The run's own repository, in its folder.
COMMITS = "commits.git"
#: Bytes that have to be free before an agent is asked.
ROOM = 64 << 20


@dataclass(frozen=True)
class Workbench:
    """The workplace of an agent: the run's folder, its commits, and the newest one's files.

    root: the top folder of the user's repository. sandboxed: True if the agent runs behind walls.
    """

    root: Path
    commits: Commits
    run: Path
    candidate: CandidateRef
    agent: Agent
    sandboxed: bool = False

    @property
    def project(self) -> Path:
        """The project's folder in the files that prompts and reports are written from."""
        return self.run / "files" / self.commits.inner

    def show(self, commit: str) -> str:
        """Write a commit's files to the folder of `project`; return the commit."""
        folder = self.run / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.commits.unpack(commit, folder)
        return commit

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
        _require_room(self.run)
        # Behind walls there is nothing else that it could change.
        places = [] if self.sandboxed else tamper_check.watched(self.root, self.run)
        before = tamper_check.states(places)
        inside = self.commits.inner
        with scratch_folder("agent-", self.run) as scratch:
            folder = scratch / "work"
            folder.mkdir()
            project = self.commits.unpack(commit, folder)
            _throwaway_repository(folder)
            files_before = snapshot(folder)
            if self.reports.is_dir():
                shutil.copytree(self.reports, project / ".twinstep" / "reports")
            with_references(project / ".twinstep" / "cache")
            log = self.run / "tries" / f"{number}.log"
            more = {f"TWINSTEP_{name.upper()}": value for name, value in about.items()}
            more |= {"TWINSTEP_CACHE": str(project / ".twinstep" / "cache")}
            more |= {"PYTHONPATH": import_path(project), "PYTHONDONTWRITEBYTECODE": "1"}
            state = StateCopy(self.agent.state if self.sandboxed else (), scratch / "state")
            view = self._view(project, state)
            ended, cost = ask(self.agent, prompt, project, log, more, limit, view)
            if self.sandboxed:
                state.give_back(self.agent.returns)
            try:
                os.chmod(folder, 0o700)  # an agent may have locked itself out
                after = snapshot(folder, files_before)
                touched = changed(files_before, after)
                inner = [_within(path, inside) for path in touched]
                mine = [path for path in inner if path and may_edit(self.candidate.edit, path)]
                files = {path: read_file(folder / inside, path) for path in mine}
                # A pipe or a file beyond all measure is none that could be committed.
                gone = {path for path in mine if (inside / path).as_posix() not in after}
                mine = [path for path in mine if files[path] is not None or path in gone]
                others = [t for t, path in zip(touched, inner, strict=True) if path not in mine]
            except TooMuch as much:
                mine, others, files = [], [str(much)], {}
        damage = tamper_check.damaged(before, tamper_check.states(places))
        taken = {path: (found := files[path]) and File(*found) for path in mine}
        new_commit = self.commits.commit(commit, taken, f"repair {number}: {about['module']}")
        self.show(new_commit)
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
            "outside": list(map(printable, others)),
            "damage": list(map(printable, damage)),
            "commit": new_commit,
            "lines": self.commits.lines(commit, new_commit),
        }

    def _view(self, project: Path, state: StateCopy) -> Callable[[Path], View] | None:
        """Return the function from the prompt's file to what the agent sees; None for no walls."""
        if not self.sandboxed:
            return None
        return partial(sandbox.view_of, self.run.parent, project, state=state.shown)

    def restore(self, newest: str, commit: str, message: str) -> str:
        """Commit the files of an earlier commit after the newest; return the new commit."""
        return self.show(self.commits.again(newest, commit, message))


def _require_room(run: Path) -> None:
    """UserError before an agent is paid for a try that the disk cannot hold."""
    about = os.statvfs(run)
    left = about.f_bavail * about.f_frsize
    if left < ROOM:
        raise UserError(
            f"{run} has room for {left >> 20} MB, less than the {ROOM >> 20} that a try and its "
            f"check need: free some, then `twinstep repair --resume {run.name}`"
        )


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
    git(folder, "add", "--all", "--force", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", "as it is")


def clear(run: Path) -> None:
    """Remove the folders of tries and checks that a killed run has left."""
    for pattern in ("agent-*", "check-*", "expect-*", "screen-*"):
        for folder in run.glob(pattern):
            with contextlib.suppress(OSError):
                remove(folder)
