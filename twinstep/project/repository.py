"""The user's own repository: what it has checked out, its commits as packs, a branch to take over.

Git runs without hooks, attributes of the system and replacements of objects.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from twinstep.errors import UserError

_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false", "-c", "core.protectNTFS=true", "-c", "core.protectHFS=true",
)  # fmt: skip
_WHO = ("-c", "user.name=twinstep repair", "-c", "user.email=repair@twinstep.invalid")
#: Variables of git that would lead it elsewhere, or to other objects.
_OWN = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


def git(folder: Path, *args: str, data: bytes | None = None, index: str = "") -> bytes:
    """Run git in a folder and return its output; UserError if it fails.

    index: the file of the index, "" for the repository's own.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= _OWN | ({"GIT_INDEX_FILE": index} if index else {})
    try:
        done = subprocess.run(
            ["git", *_SAFE, *_WHO, *args],
            cwd=folder,
            env=env,
            input=data,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise UserError("git is missing: install it, a run keeps its work in commits") from error
    if done.returncode:
        text = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise UserError(f"git {args[0]} fails: {text.splitlines()[-1] if text else 'no reason'}")
    return done.stdout


@dataclass(frozen=True)
class Repository:
    """The repository around a project.

    root: its top folder. inner: the project's folder in it, "." for the top itself.
    """

    root: Path
    inner: Path

    @classmethod
    def here(cls) -> Repository:
        """Find the repository around the current folder; UserError if there is none."""
        folder = Path.cwd()
        try:
            root = Path(git(folder, "rev-parse", "--show-toplevel").decode().strip())
        except UserError as error:
            raise UserError(
                f"this folder is in no git repository ({error}): `git init && git add . && git "
                "commit`, so that a run has something to begin from"
            ) from error
        return cls(root, folder.resolve().relative_to(root.resolve()))

    def head(self) -> str:
        """Return the commit that is checked out; UserError if tracked files differ from it."""
        changed = git(self.root, "status", "--porcelain", "--untracked-files=no").decode()
        if changed:
            first = changed.splitlines()[0][3:]
            raise UserError(f"{first} is changed: commit it first, a run begins from a commit")
        return git(self.root, "rev-parse", "HEAD").decode().strip()

    @property
    def object_format(self) -> str:
        """The kind of its objects' names, `sha1` or `sha256`."""
        return git(self.root, "rev-parse", "--show-object-format").decode().strip()

    def pack(self, commit: str) -> bytes:
        """Return a commit with all of its files as a pack, without its history."""
        names = git(self.root, "rev-list", "--objects", "--no-walk", commit)
        return git(self.root, "pack-objects", "--quiet", "--stdout", data=names)

    def take_branch(self, branch: str, commit: str, pack: bytes) -> None:
        """Set a branch to a commit that a pack brings. No work tree and no other ref is touched."""
        git(self.root, "unpack-objects", "-q", data=pack)
        # A ref that somebody made a link to another one is replaced, not followed.
        git(self.root, "update-ref", "--no-deref", f"refs/heads/{branch}", commit)
