"""Inspection of a binary library, around which `twinstep init` writes a project.

Its file is read, not loaded: its functions, and the random ones of the C library that it calls.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from twinstep.chance.c_library import RANDOM
from twinstep.errors import UserError

#: The kind of section that lists the symbols which other files may see.
_DYNAMIC_SYMBOLS = 11
#: Words by which the functions that a project needs are known.
NEEDED = ("reset", "step")


@dataclass(frozen=True)
class Library:
    """A library's path from the project's root and its sha256.

    functions: those it has. random: the C library's random functions that it calls.
    """

    path: str
    sha256: str
    functions: tuple[str, ...]
    random: tuple[str, ...]


def inspect(path: Path, project: Path) -> Library:
    """Return what the library has. UserError if it is none, or has no function to reset or step."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--oracle library:{path}: {error.strerror}") from error
    try:
        symbols = list(_symbols(data))
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise UserError(
            f"--oracle library:{path}: this is no shared library of 64-bit Linux (ELF)"
        ) from error
    functions = sorted(name for name, defined in symbols if defined and not name.startswith("_"))
    for needed in NEEDED:
        if not any(needed in name.lower() for name in functions):
            raise UserError(
                f"--oracle library:{path}: no function of it has `{needed}` in its name (it has "
                f"{', '.join(functions[:12]) or 'none'}): build one that exports it"
            )
    called = {name for name, defined in symbols if not defined}
    return Library(
        Path(os.path.relpath(path, project)).as_posix(),
        hashlib.sha256(data).hexdigest(),
        tuple(functions),
        tuple(sorted(called & RANDOM)),
    )


def _symbols(data: bytes) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is defined here) of the dynamic symbols of an ELF file."""
    if data[:5] != b"\x7fELF\x02" or data[5] != 1:
        raise ValueError("no little-endian ELF file of 64 bits")
    (sections,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    found = [struct.unpack_from("<IIQQQQIIQQ", data, sections + n * size) for n in range(count)]
    for _, kind, _, _, offset, length, link, _, _, entry in found:
        if kind != _DYNAMIC_SYMBOLS:
            continue
        names = found[link][4]
        for at in range(offset, offset + length, entry):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            end = data.index(b"\0", names + name)
            # A version follows an `@` in some files.
            text = data[names + name : end].decode().partition("@")[0]
            if text:
                yield text, section != 0
