"""The commits of a run, in a bare repository of its own: bytes go in, and the same bytes come out.

There is no work tree, so that no attribute, filter, ignore rule or link of a folder has a say. The
user's repository gives the first commit and gets the finished branch.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from twinstep.errors import UserError
from twinstep.project.repository import Repository, git
from twinstep.project.workspace import link_packages

#: Modes of git: a file, a program, a symbolic link, another repository.
FILE, PROGRAM, LINK, FOREIGN = "100644", "100755", "120000", "160000"


class File(NamedTuple):
    """A file's mode in git, and its bytes; of a link, those of its target."""

    mode: str
    data: bytes


@dataclass(frozen=True)
class Commits:
    """The run's own repository.

    folder: the bare repository. inner: the project's folder in its commits.
    """

    folder: Path
    inner: Path

    @classmethod
    def of(cls, folder: Path, user: Repository, base: str) -> Commits:
        """Open the repository in a folder, or begin it with a commit of the user's."""
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix="begin-", dir=folder.parent) as scratch:
                draft = Path(scratch) / "git"
                draft.mkdir()
                git(draft, "init", "--bare", "--quiet", f"--object-format={user.object_format}")
                git(draft, "unpack-objects", "-q", data=user.pack(base))
                # The commits before it stay where they are.
                (draft / "shallow").write_text(f"{base}\n")
                draft.rename(folder)
        return cls(folder, user.inner)

    def files(self, commit: str) -> Iterator[tuple[str, File]]:
        """Yield (path from the repository's top, file) of every file of a commit."""
        rows = git(self.folder, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
        entries: list[tuple[str, str, str]] = []
        for row in rows:
            about, _, path = row.partition(b"\t")
            mode, _, name = about.decode().split()
            entries.append((os.fsdecode(path), mode, name))
        asked = "".join(f"{name}\n" for _, mode, name in entries if mode != FOREIGN)
        answer = memoryview(git(self.folder, "cat-file", "--batch", data=asked.encode()))
        place = 0
        for path, mode, name in entries:
            if mode == FOREIGN:
                yield path, File(mode, name.encode())
                continue
            end = bytes(answer[place : place + 200]).index(b"\n") + place
            found, kind, size = bytes(answer[place:end]).decode().split()
            if (found, kind) != (name, "blob"):
                raise UserError(f"{path} in commit {commit} is no file")
            place = end + 1 + int(size) + 1
            yield path, File(mode, bytes(answer[end + 1 : place - 1]))

    def paths(self, commit: str) -> list[str]:
        """Return the paths of a commit's files, from the repository's top."""
        rows = git(self.folder, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        return [os.fsdecode(row) for row in rows.split(b"\0")[:-1]]

    def digest(self, commit: str) -> str:
        """Return the sha256 over mode, path and bytes of every file of a commit."""
        total = hashlib.sha256()
        for path, file in sorted(self.files(commit)):
            total.update(f"{file.mode} {len(file.data)} ".encode() + os.fsencode(path) + b"\0")
            total.update(file.data)
        return total.hexdigest()

    def unpack(self, commit: str, folder: Path) -> Path:
        """Write a commit's files to an empty folder; return the project's folder in it."""
        # Links last: none leads a file that comes after it out of the folder.
        for path, file in sorted(self.files(commit), key=lambda one: one[1].mode == LINK):
            _require_inside(path)
            place = folder / path
            (place if file.mode == FOREIGN else place.parent).mkdir(parents=True, exist_ok=True)
            if file.mode == LINK:
                os.symlink(file.data, os.fsencode(place))
            elif file.mode != FOREIGN:
                mode = 0o755 if file.mode == PROGRAM else 0o644
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with open(os.open(place, flags, mode), "wb") as out:
                    out.write(file.data)
        project = folder / self.inner
        link_packages(project)
        return project

    def text(self, commit: str, path: str) -> str:
        """Return the text of a project's file in a commit, "" if the commit lacks it."""
        whole = (self.inner / path).as_posix()
        if not git(self.folder, "ls-tree", "--name-only", commit, "--", whole):
            return ""
        return git(self.folder, "cat-file", "blob", f"{commit}:{whole}").decode(errors="replace")

    def commit(self, parent: str, files: Mapping[str, File | None], message: str) -> str:
        """Commit changed files of the project, None for one that goes; return the commit."""
        with tempfile.TemporaryDirectory(prefix="index-", dir=self.folder) as scratch:
            index = str(Path(scratch) / "index")
            git(self.folder, "read-tree", parent, index=index)
            rows = []
            for path, file in files.items():
                name = "0" * len(parent) if file is None else self._blob(file.data)
                mode = "0" if file is None else file.mode
                whole = (self.inner / path).as_posix()
                _require_inside(path)
                rows.append(f"{mode} {name}\t".encode() + os.fsencode(whole) + b"\0")
            git(self.folder, "update-index", "-z", "--index-info", data=b"".join(rows), index=index)
            tree = git(self.folder, "write-tree", index=index).decode().strip()
        return self._made(parent, tree, message)

    def again(self, parent: str, commit: str, message: str) -> str:
        """Commit the files of an earlier commit once more; return the new commit."""
        return self._made(parent, f"{commit}^{{tree}}", message)

    def lines(self, before: str, after: str) -> dict[str, int]:
        """Return the numbers of lines that a commit added to another one, and removed."""
        args = ("diff-tree", "-r", "--numstat", "--no-renames", "--no-textconv", "--no-ext-diff")
        rows = git(self.folder, *args, before, after).decode(errors="replace").splitlines()
        pairs = [row.split("\t")[:2] for row in rows]
        added, removed = (sum(int(p[n]) for p in pairs if p[n] != "-") for n in (0, 1))
        return {"added": added, "removed": removed}

    def deliver(self, user: Repository, branch: str, base: str, commit: str) -> None:
        """Set a branch of the user's repository to a commit. base: one that it has."""
        names = git(self.folder, "rev-list", "--objects", commit, f"^{base}")
        pack = git(self.folder, "pack-objects", "--quiet", "--stdout", data=names)
        user.take_branch(branch, commit, pack)

    def _blob(self, data: bytes) -> str:
        return git(self.folder, "hash-object", "-w", "--stdin", data=data).decode().strip()

    def _made(self, parent: str, tree: str, message: str) -> str:
        args = ("commit-tree", "-p", parent, "-F", "-", tree)
        made = git(self.folder, *args, data=message.encode())
        return made.decode().strip()


def _require_inside(path: str) -> None:
    """UserError if a path leads out of its folder, or into git's own."""
    if {"", ".", "..", ".git"} & set(path.lower().split("/")):
        raise UserError(f"{path!r} is no path of a file in a commit")
