"""Find and hash the files of import packages without importing them."""

from __future__ import annotations

import fnmatch
import hashlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

from twinstep.errors import UserError


def _matching(glob: str) -> list[Path]:
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
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if _is_source(path, inner):
                _add(total, path, inner)
    return total.hexdigest()


def _is_source(path: Path, inner: Path) -> bool:
    hidden = any(part.startswith(".") or part in _SKIPPED for part in inner.parts)
    about = (PACKAGED, PACKAGED_GPU, *ABOUT_MUTANTS)
    derived = path.suffix in (".pyc", ".so") or inner.as_posix() in about
    return path.is_file() and not hidden and not derived


def _add(total: hashlib._Hash, path: Path, inner: Path) -> None:
    data = path.read_bytes()
    total.update(f"{inner.as_posix()}\0{len(data)}\0".encode() + data)


#: The verdicts in a candidate's package, of a CPU and of a GPU; they describe the other files.
PACKAGED, PACKAGED_GPU = "verdict.json", "verdict-gpu.json"


#: The lists of equivalent mutants, of Python and Rust, which describe other files too.
ABOUT_MUTANTS = ("mutants.toml", "mutants-rust.toml")


_SKIPPED = {"__pycache__", "target", "node_modules"}
