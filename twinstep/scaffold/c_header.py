"""Inspection of a C header, around which `twinstep init` writes a project."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from twinstep.errors import UserError

_LOCAL = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """A header's folder, as a path from the project's root, and pins: file in it -> sha256."""

    folder: str
    pins: dict[str, str]


def inspect(path: Path, project: Path) -> Header:
    """Return the header's folder and the hash of each local file that it includes.

    UserError if it cannot be read.
    """
    pins: dict[str, str] = {}
    pending = [path.name]
    while pending:
        name = pending.pop(0)
        try:
            data = (path.parent / name).read_bytes()
        except OSError as error:
            if name == path.name:
                raise UserError(f"--oracle header:{path}: {error.strerror}") from error
            continue  # the compiler may find it in another folder
        pins[name] = hashlib.sha256(data).hexdigest()
        folder = Path(name).parent
        included = [os.path.normpath(folder / each.decode()) for each in _LOCAL.findall(data)]
        pending += [each for each in included if each not in pins]
    return Header(Path(os.path.relpath(path.parent, project)).as_posix(), pins)
