"""A run's folders: the branch that its commits are on, checkouts, and what changed in one.

Git runs without hooks. A checkout is unpacked from the commit itself, so that nothing in it comes
from a work tree, and it has no `.git`.
"""

from __future__ import annotations

import fnmatch
import hashlib
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from twinstep._lib import paths
from twinstep.errors import UserError

#: What tools leave behind wherever they run; it is neither taken over nor held against an agent.
BYPRODUCTS = (
    ".git", "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache",
    ".twinstep", "target", "node_modules", ".venv", "*.pyc", "*.egg-info",
    ".aider*",
)  # fmt: skip
#: Files inside an agent's folder that are not its own: they decide what is built, not how it plays.
BUILD = ("Cargo.toml", "Cargo.lock")
#: Bytes of a file that are taken over at most; screening allows less.
LARGEST = 4 << 20
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
_WHO = ("-c", "user.name=twinstep repair", "-c", "user.email=repair@twinstep.invalid")


def git(folder: Path, *args: str, data: bytes | None = None) -> bytes:
    """Run git without hooks and return what it prints; UserError if it fails."""
    try:
        done = subprocess.run(
            ["git", *_SAFE, *_WHO, *args], cwd=folder, input=data, capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise UserError("git is missing: install it, a run keeps its work in commits") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise UserError(f"git {args[0]} fails: {said.splitlines()[-1] if said else 'no reason'}")
    return done.stdout


@dataclass(frozen=True)
class Repository:
    """The repository that a project lies in.

    root: its top folder. inner: the project's folder from there, "." if it is the top itself.
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
        """Return the commit that is checked out; UserError where tracked files differ from it."""
        changed = git(self.root, "status", "--porcelain", "--untracked-files=no").decode()
        if changed:
            first = changed.splitlines()[0][3:]
            raise UserError(f"{first} is changed: commit it first, a run begins from a commit")
        return git(self.root, "rev-parse", "HEAD").decode().strip()

    def branch_off(self, folder: Path, branch: str, commit: str) -> None:
        """Have a work tree of a branch in a folder, at this commit, whatever was there."""
        git(self.root, "worktree", "prune")
        if not (folder / ".git").exists():
            git(self.root, "worktree", "add", "--force", "-B", branch, str(folder), commit)
        git(folder, "reset", "--quiet", "--hard", commit)
        git(folder, "clean", "--quiet", "-fdx")

    def text(self, commit: str, path: str) -> str:
        """Return a file of the project as a commit has it, "" if it has none."""
        whole = (self.inner / path).as_posix()
        if not git(self.root, "ls-tree", "--name-only", commit, "--", whole):
            return ""
        return git(self.root, "show", f"{commit}:{whole}").decode(errors="replace")

    def unpack(self, commit: str, folder: Path) -> Path:
        """Write a commit's files to an empty folder; return the project's folder in it."""
        data = git(self.root, "archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(data)) as held:
            held.extractall(folder, filter="tar")
        project = folder / self.inner
        link_packages(project)
        return project


def copy_project(project: Path, folder: Path) -> None:
    """Copy a project's files without by-products, each as of now, and link its packages.

    As of now: Cargo takes a file for compiled that is older than what was compiled of another file
    in its place.
    """
    shutil.copytree(
        project,
        folder,
        symlinks=True,
        ignore=shutil.ignore_patterns(*BYPRODUCTS),
        copy_function=shutil.copy,
    )
    link_packages(folder)


def link_packages(project: Path) -> None:
    """Let a checkout's packages be imported from it, where setuptools has them in other folders."""
    for name, folder in _package_map(project).items():
        place, home = project.joinpath(*name.split(".")), project / folder
        if name and place != home and not place.exists() and home.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.path.relpath(home, place.parent))


def import_path(project: Path) -> str:
    """Return the PYTHONPATH under which a checkout's packages hide those that are installed."""
    inner = _package_map(project).get("", "src" if (project / "src").is_dir() else "")
    return os.pathsep.join([str(project / inner), str(project)] if inner else [str(project)])


def _package_map(project: Path) -> dict[str, str]:
    try:
        tool = tomllib.loads((project / "pyproject.toml").read_text()).get("tool", {})
        return dict(tool.get("setuptools", {}).get("package-dir", {}))
    except (OSError, ValueError):
        return {}


def with_references(cache: Path) -> None:
    """Give a cache what was fetched or built of references once: that must not need a network."""
    known, here = paths.cache_dir() / "oracles", cache / "oracles"
    if known.is_dir() and not here.exists():
        draft = cache / "oracles.tmp"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(known, draft, symlinks=True)
        draft.rename(here)


def may_edit(globs: Sequence[str], path: str) -> bool:
    """Whether an agent may change a file. path: from the project's folder."""
    named = any(fnmatch.fnmatchcase(path, glob) for glob in globs)
    return named and path.rpartition("/")[2] not in BUILD


def snapshot(folder: Path) -> dict[str, str]:
    """Return path -> what is there, of everything below a folder but by-products.

    A file's hash and whether it is executable, where a link leads; nothing is followed.
    """
    found: dict[str, str] = {}
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _byproduct(name)]
        linked = [name for name in folders if os.path.islink(os.path.join(base, name))]
        for name in [*files, *linked]:
            if not _byproduct(name):
                path = Path(base, name)
                found[path.relative_to(folder).as_posix()] = _state(path)
    return found


def _byproduct(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in BYPRODUCTS)


def _state(path: Path) -> str:
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return f"link to {os.readlink(path)}"
    if not stat.S_ISREG(about.st_mode):
        return "no file"
    if about.st_size > LARGEST:
        return f"{about.st_size} bytes"
    mark = "x " if about.st_mode & 0o111 else ""
    return mark + hashlib.sha256(path.read_bytes()).hexdigest()


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the paths that differ between two snapshots, sorted."""
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))


def take_over(source: Path, target: Path, files: Iterable[str]) -> None:
    """Make files of one folder those of another: copied, or removed where they are gone.

    A link is copied as a link, for the screening to see.
    """
    for name in files:
        there, here = source / name, target / name
        if here.is_symlink() or here.is_file():
            here.unlink()
        elif here.is_dir():
            shutil.rmtree(here)
        if there.is_symlink():
            here.parent.mkdir(parents=True, exist_ok=True)
            here.symlink_to(os.readlink(there))
        elif there.is_file() and there.stat().st_size <= LARGEST:
            paths.write_atomically(here, there.read_bytes())
            here.chmod(0o755 if there.stat().st_mode & 0o111 else 0o644)
