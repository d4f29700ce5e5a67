"""A header of PufferLib's as it is; Pong's oracle comes from the same archive."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from twinstep._lib import paths
from twinstep.oracles.pong import upstream

#: Game -> sha256 of its header in PufferLib 3.0.0.
HEADERS = {"cartpole": "4ca653a419baac138b8b0615531d3775e667f042e4bd0821b52b11f94883e9a0"}


def folder(game: str) -> Path:
    """Return the folder that holds the game's header, fetched if need be. Raises OracleMissing."""
    sha256 = HEADERS[game]
    path = paths.cache_dir() / "audits" / "pufferlib" / sha256[:16] / f"{game}.h"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        path.parent.mkdir(parents=True, exist_ok=True)
        inside = f"{upstream.PACKAGE}-{upstream.VERSION}/pufferlib/ocean/{game}/{path.name}"
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            archived = upstream.archive(Path(scratch))
            upstream.extract(archived, path.parent, {path.name: (inside, sha256)})
    return path.parent
