"""Which episodes are played: public, tree and holdout seeds.

public: the same for everyone, so recorded episodes are found in the cache.
tree: derived from the candidate's own files, so that every edit re-rolls them and yet anyone
can compute them again. holdout: keyed with a secret that the candidate's author has not
got (TWINSTEP_HOLDOUT_KEY).
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np

from twinstep.contract import Contract
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.frames import Start, stack_starts

KINDS = ("public", "tree", "holdout")


def seeds(kind: str, count: int, env: str, candidate: CandidateRef | None = None) -> np.ndarray:
    """Return u32[count, 2] seeds; UserError if the kind is unknown or lacks its secret."""
    if kind == "public":
        plain = np.array(_PLAIN[:count], np.uint32).reshape(-1, 2)
        return np.concatenate([plain, _derived(b"public", "", len(plain), count)])
    if kind == "tree":
        if candidate is None:
            raise UserError("tree seeds belong to a candidate: choose one with --candidate")
        key = tree_hash(candidate).encode()
    elif kind == "holdout":
        secret = os.environ.get("TWINSTEP_HOLDOUT_KEY", "")
        if not secret:
            raise UserError("holdout seeds need a secret: set TWINSTEP_HOLDOUT_KEY")
        key = secret.encode()
    else:
        raise UserError(f"unknown seeds '{kind}' (known: {', '.join(KINDS)})")
    return _derived(key, env, 0, count)


#: The first public seeds: easy to name, and the edges of both words. The rest are hashed, so
#: that every bit of a seed is compared.
_PLAIN = (
    (0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 2),
    (2**31 - 1, 0), (2**31, 0), (2**32 - 1, 0), (0, 2**31), (0, 2**32 - 1), (2**32 - 1, 2**32 - 1),
)  # fmt: skip


def _derived(key: bytes, env: str, first: int, last: int) -> np.ndarray:
    """Return the seeds u32[last - first, 2] with these numbers under a key."""
    words = [
        hmac.new(key, f"{env}/{number}".encode(), hashlib.sha256).digest()[:8]
        for number in range(first, last)
    ]
    rows = [np.frombuffer(word, "<u4") for word in words]
    return np.array(rows, np.uint32).reshape(-1, 2)


def starts_of(contract: Contract, seeds: np.ndarray) -> Start:
    """Return the batched start of seeds u32[N, 2], with the fields the contract makes."""
    made = [Start(seed, contract.make_start(seed) if contract.make_start else {}) for seed in seeds]
    return stack_starts(made)


def tree_hash(candidate: CandidateRef) -> str:
    """Return the sha256 over a candidate's packages and the files that its `edit` globs name.

    UserError if it declares neither: then no edit could change its seeds.
    """
    folders = [package_folder(name) for name in candidate.packages]
    edited = sorted({path for glob in candidate.edit for path in _matching(glob)})
    if not folders and not edited:
        raise UserError(
            f"tree seeds are made of a candidate's files, and '{candidate.name}' names none that "
            "are here: declare its `packages` or `edit`"
        )
    total = hashlib.sha256(files_hash(folders).encode())
    for path in edited:
        _add(total, path, path)
    return total.hexdigest()


def _matching(glob: str) -> list[Path]:
    """Return the source files that a glob names; `*` matches across folders."""
    if "*" not in glob:
        return [Path(glob)] if Path(glob).is_file() else []
    folder = Path(glob.partition("*")[0] + "x").parent
    return [
        path
        for path in folder.rglob("*")
        if fnmatch.fnmatchcase(path.as_posix(), glob) and _is_source(path, path.relative_to(folder))
    ]


def package_folder(name: str) -> Path:
    """Return the folder of an import package, importing neither it nor what it lies in.

    A candidate's parents must not be imported before the oracle is put out of its reach.
    """
    inside: Sequence[str] | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        try:
            spec = _spec(".".join(parts[:end]), inside)
            inside = spec.submodule_search_locations if spec is not None else None
        except KeyError:
            # A folder without __init__.py, as before its first file is written: to find such a
            # package Python wants its parent imported.
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


#: The verdicts that a candidate's package brings along, of a CPU and of a GPU; they are about the
#: other files.
PACKAGED, PACKAGED_GPU = "verdict.json", "verdict-gpu.json"
#: The lists of mutants that are equivalent, of Python and Rust, which are about other files too.
ABOUT_MUTANTS = ("mutants.toml", "mutants-rust.toml")
_SKIPPED = {"__pycache__", "target", "node_modules"}
