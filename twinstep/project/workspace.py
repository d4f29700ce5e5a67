"""The folders of a run: its checkouts, what they import, and the changes in one."""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import os
import shutil
import stat
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from twinstep._lib import paths

#: By-products of tools, neither copied nor held against an agent.
BYPRODUCTS = (
    ".git", "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache",
    ".twinstep", "target", "node_modules", ".venv", "*.pyc", "*.egg-info",
    ".aider*",
)  # fmt: skip
#: Files in an agent's folder that it may not edit: they decide what is built, or say what a
#: candidate is worth, or are read by tools and other agents wherever they lie.
NOT_ITS = frozenset((
    "cargo.toml", "cargo.lock", "rust-toolchain", "rust-toolchain.toml",
    "verdict.json", "verdict-gpu.json", "mutants.toml", "mutants-rust.toml", "xfail.toml",
    "provenance.toml", "pyproject.toml", "package.json", "composer.json", "deno.json",
))  # fmt: skip
#: Maximum bytes of a copied file; screening allows less.
LARGEST = 4 << 20
#: What a folder may hold at most: more is no try at an implementation, and is not looked through.
DEEPEST, MOST, TOTAL = 64, 20_000, 256 << 20


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuch(Exception):
    """A folder has more than may be looked through. Its text says what, and where."""


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
    return os.pathsep.join(map(str, import_roots(project)))


def import_roots(project: Path) -> list[Path]:
    """Return the folders in which a checkout's packages lie."""
    inner = _package_map(project).get("", "src" if (project / "src").is_dir() else "")
    return [project / inner, project] if inner else [project]


def _package_map(project: Path) -> dict[str, str]:
    try:
        tool = tomllib.loads((project / "pyproject.toml").read_text()).get("tool", {})
        found = dict(tool.get("setuptools", {}).get("package-dir", {}))
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
    return {name: place for name, place in found.items() if _is_inner(place)}


def _is_inner(place: object) -> bool:
    """Return whether a value names a folder below the project's."""
    return isinstance(place, str) and not {"..", "/"} & set(Path(place).parts)


def with_references(cache: Path) -> None:
    """Copy fetched and built references into a cache, which then needs no network for them."""
    source, here = paths.cache_dir() / "oracles", cache / "oracles"
    if source.is_dir() and not here.exists():
        draft = cache / "oracles.tmp"
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(source, draft, symlinks=True)
        draft.rename(here)


def may_edit(globs: Sequence[str], path: str) -> bool:
    """Return whether an agent may change a file. path: from the project's folder.

    Never one of `NOT_ITS`, nor one that git, a tool or the file system could read in a way of its
    own.
    """
    named = any(fnmatch.fnmatchcase(path, glob) for glob in globs)
    *_, name = parts = path.split("/")
    return named and name.lower() not in NOT_ITS and not any(map(_is_special, parts))


def _is_special(name: str) -> bool:
    """Return whether a name is a tool's (`.gitattributes`, `.vscode`), or is not shown as it is."""
    return name.lower().startswith((".", "git~")) or name != printable(name) or "\\" in name


def printable(text: str) -> str:
    """Return a text that a terminal and a file can take: other characters are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def snapshot(folder: Path, before: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return path -> state of everything below a folder except by-products.

    The state of a file is its hash and whether it is executable, that of a link its target; links
    are not followed. The paths are found by descriptors, so that nothing outside is ever read.
    before: an earlier snapshot; TooMuch is raised where the folder has grown beyond all measure.
    """
    states: dict[str, str] = {}
    most = sys.maxsize if before is None else len(before) + MOST
    left = sys.maxsize if before is None else TOTAL
    deepest = sys.maxsize if before is None else DEEPEST
    todo = [""]
    top = os.open(folder, _FOLDER)
    try:
        while todo:
            inner = todo.pop()
            try:
                place = _opened(top, inner)
            except PermissionError:
                states[inner.rstrip("/")] = "not readable"
                continue
            try:
                for entry in sorted(os.scandir(place), key=lambda one: one.name):
                    if _byproduct(entry.name):
                        continue
                    path = f"{inner}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        if path.count("/") >= deepest:
                            raise TooMuch(f"{path[:80]}...: more than {DEEPEST} folders deep")
                        todo.append(f"{path}/")
                        if len(todo) > most:
                            raise TooMuch(f"more than {MOST} new folders")
                        continue
                    states[path], size = _state(place, entry.name)
                    left -= 0 if before and path in before else size
                    if len(states) > most:
                        raise TooMuch(f"more than {MOST} new files")
                    if left < 0:
                        raise TooMuch(f"more than {TOTAL >> 20} MB of new files")
            finally:
                os.close(place)
    finally:
        os.close(top)
    return states


def _opened(top: int, inner: str) -> int:
    """Open a folder by its path from another one, following no link."""
    place = os.dup(top)
    for part in inner.split("/"):
        if part:
            try:
                deeper = os.open(part, _FOLDER, dir_fd=place)
            finally:
                os.close(place)
            place = deeper
    return place


def read_file(folder: Path, path: str, most: int = LARGEST) -> tuple[str, bytes] | None:
    """Return (mode of git, bytes) of a file or a link below a folder, None if there is none.

    most: bytes; there is none that is larger.

    No link is followed on the way, and none at the end: it is read itself.
    """
    outer, _, name = path.rpartition("/")
    top, place = os.open(folder, _FOLDER), -1
    try:
        place = _opened(top, outer)
        about = os.stat(name, dir_fd=place, follow_symlinks=False)
        if stat.S_ISLNK(about.st_mode):
            return "120000", os.fsencode(os.readlink(name, dir_fd=place))
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            return None
        with open(os.open(name, _READ, dir_fd=place), "rb") as file:
            return "100755" if about.st_mode & 0o111 else "100644", file.read(most)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link on the way
            return None
        raise
    finally:
        os.close(top)
        if place >= 0:
            os.close(place)


def _byproduct(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in BYPRODUCTS)


def _state(place: int, name: str) -> tuple[str, int]:
    """Return the state of an entry of a folder, and its bytes that were read."""
    about = os.stat(name, dir_fd=place, follow_symlinks=False)
    if stat.S_ISLNK(about.st_mode):
        return f"link to {os.readlink(name, dir_fd=place)}", 0
    if not stat.S_ISREG(about.st_mode):
        return "no file", 0
    if about.st_size > LARGEST:
        return f"{about.st_size} bytes", 0
    mark = "x " if about.st_mode & 0o111 else ""
    try:
        with open(os.open(name, _READ, dir_fd=place), "rb") as file:
            return mark + hashlib.sha256(file.read(LARGEST)).hexdigest(), about.st_size
    except PermissionError:
        return "not readable", 0


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the paths that differ between two snapshots, sorted."""
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
