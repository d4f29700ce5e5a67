"""Answers of a reference to single questions, filed beside the traces: each is asked once.

An answer is found again by everything that can change it: the question, and what the key of a trace
consists of. A run whose questions were all asked before starts no reference.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from twinstep._lib import paths
from twinstep.contract import canonical_json
from twinstep.project.registry import EnvVariant
from twinstep.protocols import ORACLE_LADDER, NotCallable
from twinstep.reference import cache_key, placed_states
from twinstep.reference.process import OracleProcess
from twinstep.runner import wire

#: Questions whose answers depend on no earlier one.
FILED = frozenset(("call", "fresh", "places", "steps", "restarts", "replays", "hidden_after"))
#: The most bytes of filed answers; those unused for longest go first, none of the last hour.
LIMIT = 2e9
_IN_USE = 3600.0
_NAME = re.compile(r"[0-9a-f]{40}")
#: An answer of more bytes than this, unpacked, is asked again instead.
_LARGEST = 256e6


def filed_in() -> Path:
    """Return the folder of filed answers."""
    return paths.cache_dir() / "answers"


class FiledOracle(OracleProcess):
    """An oracle's process that is asked only what is not filed.

    `crashes` and every error are as of OracleProcess; NotCallable is an answer, and filed.
    """

    def __init__(self, subject: EnvVariant) -> None:
        super().__init__(subject)
        self._about = ""
        self._offers: frozenset[str] | None = None

    def offers(self, method: str) -> bool:
        """Return True if the oracle has this optional method; it is started where none is filed."""
        if self._offers is None:
            # Of this ladder: an older one has fewer methods to ask for.
            path = self._path("offers", *sorted(ORACLE_LADDER))
            try:
                self._offers = frozenset(json.loads(_read(path)))
            except (OSError, ValueError, TypeError):
                offered = super().offers  # starts it
                self._offers = frozenset(name for name in ORACLE_LADDER if offered(name))
                with contextlib.suppress(OSError):
                    text = json.dumps(sorted(self._offers)) + "\n"
                    _write(path, text.encode())
        return method in self._offers

    def _ask(self, method: str, *args: Any, limit: float | None = None) -> Any:
        if method not in FILED:
            return super()._ask(method, *args, limit=limit)
        path = self._path(method, *args)
        with contextlib.suppress(OSError, ValueError, zstandard.ZstdError, wire.Garbled):
            answer, refusal = wire.unpack(zstandard.decompress(_read(path)))
            with contextlib.suppress(OSError):
                os.utime(path)
            if refusal is not None:
                raise NotCallable(refusal)
            return answer
        try:
            answer, refusal = super()._ask(method, *args, limit=limit), None
        except NotCallable as refused:
            answer, refusal = None, str(refused)
        packed = wire.pack((answer, refusal))
        if len(packed) < _LARGEST:
            with contextlib.suppress(OSError):
                _write(path, zstandard.compress(packed, 1))
        if refusal is not None:
            raise NotCallable(refusal)
        return answer

    def _path(self, method: str, *args: Any) -> Path:
        self._about = self._about or _about(self.subject)
        name = hashlib.sha256(self._about.encode() + wire.pack((method, args))).hexdigest()
        return filed_in() / name[:40]


def _write(path: Path, data: bytes) -> None:
    """File an answer behind the hash of its bytes and of its name."""
    paths.write_atomically(path, hashlib.sha256(path.name.encode() + data).digest() + data)


def _read(path: Path) -> bytes:
    """Return what was filed; ValueError if it is not that: one bit may be another answer."""
    whole = path.read_bytes()
    data = whole[hashlib.sha256().digest_size :]
    if hashlib.sha256(path.name.encode() + data).digest() != whole[: -len(data) or None]:
        raise ValueError(f"{path} is damaged")
    return data


def _about(subject: EnvVariant) -> str:
    """Return everything but the question that can change an answer."""
    params = {name: _contents(value) for name, value in subject.contract.params.items()}
    return canonical_json(
        {
            "environment": subject.env.name,
            "contract": dataclasses.replace(subject.contract, params=params).digest(),
            "upstream": dict(subject.probe.pins),
            "bridge": cache_key.bridge_sources(subject),
            "asked by": cache_key.sources_of(*cache_key.RECORDERS, placed_states, wire),
            "python": "{}.{}".format(*sys.version_info),
            "numpy": np.__version__,
        }
    )


def _contents(value: Any) -> Any:
    """Return a parameter; for a file, whose path may change between runs, return its hash."""
    if isinstance(value, str) and value and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return value


def evict(limit: float = LIMIT) -> None:
    """Remove filed answers until they take at most `limit` bytes."""
    found, now = [], time.time()
    with contextlib.suppress(OSError):
        for entry in os.scandir(filed_in()):
            if not _NAME.fullmatch(entry.name):  # somebody else's
                continue
            about = entry.stat()
            found.append((about.st_mtime, about.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for used, size, path in sorted(found):
        if total <= limit or now - used < _IN_USE:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
