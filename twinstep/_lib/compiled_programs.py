"""JAX's compiled programs on disk, with a checksum of ours: JAX runs what it reads.

One flipped bit in a program crashed runs, or made a right candidate differ; a truncated one was
warned of for ever and never replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from twinstep._lib import paths

#: The folder of the checksums, beside the programs.
_SUMS = ".sums"


def check(folder: Path, new: bool = False) -> list[str]:
    """Remove each program that is not as it was first seen; return their names.

    One without a checksum gets it now. JAX compiles anew what is not there. Nothing is done where
    the folder cannot be written. new: look at no program that has a checksum.
    """
    dropped = []
    with contextlib.suppress(OSError):
        for program in sorted(folder.glob("*-cache")):
            filed = folder / _SUMS / program.name
            if new and filed.exists():
                continue
            found = hashlib.sha256(program.name.encode() + program.read_bytes()).hexdigest()
            try:
                known = filed.read_text()
            except (OSError, ValueError):
                paths.write_atomically(filed, found.encode())
                continue
            if known != found:
                program.unlink(missing_ok=True)
                filed.unlink(missing_ok=True)
                dropped.append(program.name)
        for filed in (folder / _SUMS).glob("*-cache"):
            if not (folder / filed.name).exists():
                filed.unlink(missing_ok=True)
    return dropped
