"""The seeds of the episodes: public, tree and holdout.

public: the same for everyone, so that the cache has the recorded episodes.
tree: derived from the candidate's own files, so that every edit re-rolls them and anyone can
still compute them. holdout: keyed with a secret that the candidate's author does not have
(TWINSTEP_HOLDOUT_KEY).
"""

from __future__ import annotations

import hashlib
import hmac
import os

import numpy as np

from twinstep.contract import Contract
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.frames import Start, stack_starts
from twinstep.project.source_hash import files_hash, hash_of, matching, package_folder

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


def shipped_seeds(kind: str, count: int, env: str) -> np.ndarray:
    """Return u32[count, 2] seeds of lanes as `make` gives them, then of others.

    The first half is (n, 0), (n + 1, 0), ..., what `reset(seed=n)` begins with: hashed seeds are
    almost never so small, and a candidate that is wrong for small ones was equal. n is 0 for the
    public kind.
    """
    half, rest = -(-count // 2), seeds(kind, count, env)
    first = np.uint64(0)
    if kind != "public":
        word, bits = (int(part) for part in seeds(kind, count + 1, f"{env}/lanes")[-1])
        first = np.uint64(word >> bits % 32)  # every order of magnitude is as likely
    rest[:half, 0] = (first + np.arange(half, dtype=np.uint64)).astype(np.uint32)
    rest[:half, 1] = 0
    return rest


#: The first public seeds: small ones, and the edges of both words. The rest are hashed, so that
#: every bit of a seed is compared.
_PLAIN = (
    (0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 2),
    (2**31 - 1, 0), (2**31, 0), (2**32 - 1, 0), (0, 2**31), (0, 2**32 - 1), (2**32 - 1, 2**32 - 1),
)  # fmt: skip


def _derived(key: bytes, env: str, first: int, last: int) -> np.ndarray:
    """Return the seeds u32[last - first, 2] of a range of numbers under a key."""
    rows = []
    for number in range(first, last):
        word = hmac.new(key, f"{env}/{number}".encode(), hashlib.sha256).digest()
        lane, episode, *sizes = np.frombuffer(word[:10], "<u4,<u4,u1,u1")[0].tolist()
        if key != b"public" and number % 2:
            # As in use: a lane's number, and the number of its episode, of any magnitude.
            lane, episode = lane >> sizes[0] % 32, episode >> 20 + sizes[1] % 12
        rows.append((lane, episode))
    return np.array(rows, np.uint32).reshape(-1, 2)


def starts_of(contract: Contract, seeds: np.ndarray) -> Start:
    """Return the batched start of seeds u32[N, 2], with the contract's fields."""
    make = contract.make_start or (lambda seed: {})
    return stack_starts([Start(seed, make(seed)) for seed in seeds])


def tree_hash(candidate: CandidateRef) -> str:
    """Return the sha256 over a candidate's packages and the files of its `edit` globs.

    UserError if it declares neither: no edit could change its seeds.
    """
    folders = [package_folder(name) for name in candidate.packages]
    edited = sorted({path for glob in candidate.edit for path in matching(glob)})
    if not folders and not edited:
        raise UserError(
            f"tree seeds are made of a candidate's files, and '{candidate.name}' names none that "
            "are here: declare its `packages` or `edit`"
        )
    return hash_of(((path.as_posix(), path) for path in edited), files_hash(folders))
