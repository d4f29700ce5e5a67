"""Which episodes are played: public, tree and holdout seeds.

public: 0, 1, 2, ...; the same for everyone, so recorded episodes are found in the cache.
tree: derived from the candidate's own files, so that every edit re-rolls them and yet anyone
can compute them again. holdout: keyed with a secret that the candidate's author has not
got (TWINSTEP_HOLDOUT_KEY).
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import os
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
        return np.stack([np.arange(count), np.zeros(count)], -1).astype(np.uint32)
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
    words = [
        hmac.new(key, f"{env}/{number}".encode(), hashlib.sha256).digest()[:8]
        for number in range(count)
    ]
    return np.array([np.frombuffer(word, "<u4") for word in words], np.uint32)


def starts_of(contract: Contract, seeds: np.ndarray) -> Start:
    """Return the batched start of seeds u32[N, 2], with the fields the contract makes."""
    made = [Start(seed, contract.make_start(seed) if contract.make_start else {}) for seed in seeds]
    return stack_starts(made)


def tree_hash(candidate: CandidateRef) -> str:
    """Return the sha256 over the files of a candidate's packages and editable folders."""
    folders = [package_folder(name) for name in candidate.packages]
    folders += [Path(glob.split("*")[0]) for glob in candidate.edit]
    return files_hash([folder for folder in folders if folder.is_dir()])


def package_folder(name: str) -> Path:
    """Return the folder of an import package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"package {name} cannot be found: install the project (make setup)")
    return Path(next(iter(spec.submodule_search_locations)))


def files_hash(folders: list[Path]) -> str:
    """Return the sha256 over names and bytes of all source files below the folders."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            hidden = any(part.startswith(".") or part in _SKIPPED for part in inner.parts)
            if path.is_file() and not hidden and path.suffix not in (".pyc", ".so"):
                total.update(f"{inner.as_posix()}\0{path.stat().st_size}\0".encode())
                total.update(path.read_bytes())
    return total.hexdigest()


_SKIPPED = {"__pycache__", "target", "node_modules"}
