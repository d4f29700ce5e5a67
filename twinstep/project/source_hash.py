"""Find and hash the files of import packages without importing them, and the trace cache.

Each hash is stored somewhere (verdicts, cache keys), so its bytes must not change. The hash of the
Rust sources is in rust_sources.py, which candidates import.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project.registry import called


def matching(glob: str) -> list[Path]:
    """Return the source files of a glob; `*` matches across folders."""
    if "*" not in glob:
        return [Path(glob)] if Path(glob).is_file() else []
    folder = Path(glob.partition("*")[0] + "x").parent
    return [
        path
        for path in folder.rglob("*")
        if fnmatch.fnmatchcase(path.as_posix(), glob) and _is_source(path, path.relative_to(folder))
    ]


def package_folder(name: str) -> Path:
    """Return the folder of an import package, importing neither it nor its parents.

    A candidate's parents must not be imported before the oracle is put out of its reach.
    """
    inside: Sequence[str] | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        try:
            spec = _spec(".".join(parts[:end]), inside)
            inside = spec.submodule_search_locations if spec is not None else None
        except KeyError:
            # A folder without __init__.py, as before its first file is written: Python finds such a
            # package only after an import of its parent.
            folders = [Path(base, parts[end - 1]) for base in inside or ()]
            inside = [str(folder) for folder in folders if folder.is_dir()]
        if not inside:
            raise UserError(f"package {name} cannot be found: install the project (make setup)")
    return Path(next(iter(inside or ())))


def _spec(name: str, inside: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, inside) if find is not None else None
        if spec is not None:
            return spec
    return None


def files_hash(folders: list[Path]) -> str:
    """Return the sha256 over names and bytes of all source files below the folders."""
    files = ((path.relative_to(folder), path) for folder in folders for path in _sorted(folder))
    return hash_of((inner.as_posix(), path) for inner, path in files if _is_source(path, inner))


def all_files(folder: Path) -> list[Path]:
    """Return every file below a package's folder that it could load, behind links too.

    Without byte-code, a Cargo build's own folder, and the verdict and the lists of mutants, which
    describe the other files and which a candidate behind walls cannot see.
    """
    found: list[Path] = []
    done: set[str] = set()
    for base, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(base)
        folders[:] = sorted(set(folders) - {"__pycache__"})
        if real in done or "CACHEDIR.TAG" in names:
            folders.clear()
            continue
        done.add(real)
        found += [Path(base, name) for name in names if base != str(folder) or name not in ABOUT]
    return sorted(path for path in found if path.is_file())


def _is_source(path: Path, inner: Path) -> bool:
    derived = path.suffix in (".pyc", ".so") or inner.as_posix() in ABOUT
    return path.is_file() and not _is_hidden(inner) and not derived


def hash_of(files: Iterable[tuple[str, Path]], before: str = "") -> str:
    """Return the sha256 over the names and bytes of files. before: text that comes first."""
    total = hashlib.sha256(before.encode())
    for name, path in files:
        data = path.read_bytes()
        total.update(f"{name}\0{len(data)}\0".encode() + data)
    return total.hexdigest()


def sources_below(folder: Path, without: Iterable[Path] = ()) -> str:
    """Return the sha256 over names and bytes of a package's files, compiled modules included.

    without: folders inside it that do not count.
    """
    left_out = set(without)
    files = []
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        counts = not _is_hidden(inner) and path.suffix != ".pyc"
        if counts and left_out.isdisjoint(path.parents):
            files.append((inner.as_posix(), path))
    return hash_of((name, path) for name, path in sorted(files) if path.is_file())


def cache_hash(folder: Path) -> str:
    """Return the sha256 over the names and bytes of a cache's traces, not of JAX's programs."""
    total = hashlib.sha256()
    for path in _sorted(folder):
        inner = path.relative_to(folder)
        if path.is_file() and inner.parts[0] != "jax":
            total.update(f"{inner}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def sources_hash(candidate: CandidateRef) -> str:
    """Return the hash of what makes up a candidate here: its packages and its compiled part."""
    try:
        hashed = files_hash([package_folder(name) for name in candidate.packages])
        return hashed + (called(candidate, candidate.build) if candidate.build else "")
    except (UserError, ImportError):
        return ""


def _sorted(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def _is_hidden(inner: Path) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in inner.parts)


#: The verdicts in a candidate's package, of a CPU and of a GPU; they describe the other files.
PACKAGED, PACKAGED_GPU = "verdict.json", "verdict-gpu.json"


#: The lists of equivalent mutants, of Python and Rust, which describe other files too.
ABOUT_MUTANTS = ("mutants.toml", "mutants-rust.toml")
#: The files of a candidate's package that describe the others.
ABOUT = (PACKAGED, PACKAGED_GPU, *ABOUT_MUTANTS)


_SKIPPED = {"__pycache__", "target", "node_modules"}
