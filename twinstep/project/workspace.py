"""The folders of a run: the branch of its commits, its checkouts, and the changes in one.

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

#: By-products of tools, neither copied nor held against an agent.
BYPRODUCTS = (
    ".git", "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache",
    ".twinstep", "target", "node_modules", ".venv", "*.pyc", "*.egg-info",
    ".aider*",
)  # fmt: skip
#: Files in an agent's folder that it may not edit: they decide the build, not the play.
BUILD = ("Cargo.toml", "Cargo.lock")
#: Maximum bytes of a copied file; screening allows less.
LARGEST = 4 << 20
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
_WHO = ("-c", "user.name=twinstep repair", "-c", "user.email=repair@twinstep.invalid")


def git(folder: Path, *args: str, data: bytes | None = None) -> bytes:
    """Run git without hooks and return its output; UserError if it fails."""
    try:
        done = subprocess.run(
            ["git", *_SAFE, *_WHO, *args], cwd=folder, input=data, capture_output=True, check=False
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

    def branch_off(self, folder: Path, branch: str, commit: str) -> None:
        """Make a folder a work tree of a branch at this commit, whatever the folder contains."""
        git(self.root, "worktree", "prune")
        if not (folder / ".git").exists():
            git(self.root, "worktree", "add", "--force", "-B", branch, str(folder), commit)
        git(folder, "reset", "--quiet", "--hard", commit)
        git(folder, "clean", "--quiet", "-fdx")

    def text(self, commit: str, path: str) -> str:
        """Return the text of a project's file in a commit, "" if the commit lacks it."""
        whole = (self.inner / path).as_posix()
        if not git(self.root, "ls-tree", "--name-only", commit, "--", whole):
            return ""
        return git(self.root, "show", f"{commit}:{whole}").decode(errors="replace")

    def unpack(self, commit: str, folder: Path) -> Path:
        """Write a commit's files to an empty folder; return the project's folder in it."""
        data = git(self.root, "archive", "--format=tar", commit)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="tar")
        project = folder / self.inner
        link_packages(project)
        return project


def copy_project(project: Path, folder: Path) -> None:
    """Copy a project's files without by-products, with new file times, and link its packages.

    New times, because Cargo does not rebuild a file older than the last build of another file in
    its place.
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
    """Link a checkout's packages to their import paths, where setuptools maps other folders."""
    for name, folder in _package_map(project).items():
        place, home = project.joinpath(*name.split(".")), project / folder
        if name and place != home and not place.exists() and home.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.path.relpath(home, place.parent))


def import_path(project: Path) -> str:
    """Return the PYTHONPATH under which a checkout's packages hide the installed ones."""
    inner = _package_map(project).get("", "src" if (project / "src").is_dir() else "")
    return os.pathsep.join([str(project / inner), str(project)] if inner else [str(project)])


def _package_map(project: Path) -> dict[str, str]:
    try:
        tool = tomllib.loads((project / "pyproject.toml").read_text()).get("tool", {})
        return dict(tool.get("setuptools", {}).get("package-dir", {}))
    except (OSError, ValueError):
        return {}


def with_references(cache: Path) -> None:
    """Copy fetched and built references into a cache, which then needs no network for them."""
    source, here = paths.cache_dir() / "oracles", cache / "oracles"
    if source.is_dir() and not here.exists():
        draft = cache / "oracles.tmp"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(source, draft, symlinks=True)
        draft.rename(here)


def may_edit(globs: Sequence[str], path: str) -> bool:
    """Return whether an agent may change a file. path: from the project's folder."""
    named = any(fnmatch.fnmatchcase(path, glob) for glob in globs)
    return named and path.rpartition("/")[2] not in BUILD


def snapshot(folder: Path) -> dict[str, str]:
    """Return path -> state of everything below a folder except by-products.

    The state of a file is its hash and whether it is executable, that of a link its target; links
    are not followed.
    """
    states: dict[str, str] = {}
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _byproduct(name)]
        linked = [name for name in folders if os.path.islink(os.path.join(base, name))]
        for name in [*files, *linked]:
            if not _byproduct(name):
                path = Path(base, name)
                states[path.relative_to(folder).as_posix()] = _state(path)
    return states


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
    """Copy files from one folder to another, and remove those that the first one lacks.

    A link is copied as a link, so that screening sees it.
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
