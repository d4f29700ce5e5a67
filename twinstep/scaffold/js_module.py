"""Inspection of a JavaScript module, around which `twinstep init` writes a project.

Node.js loads it once, to see what it exports.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from twinstep.errors import UserError
from twinstep.inward.node import NodeModule
from twinstep.scaffold.c_library import NEEDED

_LOCAL = re.compile(r"""(?:require\(|from\s|import\s)\s*["'](\.{1,2}/[^"']+)["']""")
_ENDINGS = ("", ".js", ".cjs", ".mjs", ".json", "/index.js")


@dataclass(frozen=True)
class JsModule:
    """A module's folder and name, as paths from the project's root, and what it has.

    pins: file -> sha256, of it and of the local files that it loads. maker: the exported class
    that has reset and step, "" if the module has them itself. functions: those of `maker`. draws:
    whether one of the files may have Math.random.
    """

    folder: str
    pins: dict[str, str]
    maker: str
    functions: tuple[str, ...]
    draws: bool


def inspect(path: Path, project: Path) -> JsModule:
    """Return what the module has. UserError if it cannot be loaded, or cannot reset and step."""
    if not path.is_file():
        raise UserError(f"--oracle node:{path}: No such file or directory")
    module = NodeModule(path.resolve())
    try:
        exports = module.exports
    except RuntimeError as error:
        raise UserError(f"--oracle node:{path}: Node.js cannot load it: {error}") from error
    finally:
        module.close()
    # Functions of the module itself come before those of a class.
    plain = [name for name, methods in exports.items() if name and not methods]
    classes = [(name, methods) for name, methods in exports.items() if methods]
    fit = [each for each in (("", plain), *classes) if _has_needed(each[1])]
    if not fit:
        known = ", ".join(filter(None, exports)) or "none"
        raise UserError(
            f"--oracle node:{path}: neither its functions nor a class of it have `reset` and "
            f"`step` in their names (it exports {known}): export a class or functions that do"
        )
    maker, functions = fit[0]
    files = _files(path)
    return JsModule(
        Path(os.path.relpath(path.parent, project)).as_posix(),
        {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        maker,
        tuple(functions),
        # `const { random } = Math` too. A row that nothing draws from does no harm.
        any(b"Math" in data and b"random" in data for data in files.values()),
    )


def _has_needed(functions: list[str]) -> bool:
    return all(any(word in each.lower() for each in functions) for word in NEEDED)


def _files(path: Path) -> dict[str, bytes]:
    """Return the module and the local files that it loads, by path from its folder."""
    found: dict[str, bytes] = {}
    pending = [path.name]
    while pending:
        name = pending.pop(0)
        if name in found:
            continue
        found[name] = (path.parent / name).read_bytes()
        for each in _LOCAL.findall(found[name].decode(errors="replace")):
            stem = os.path.normpath(Path(name).parent / each)
            loaded = (f"{stem}{ending}" for ending in _ENDINGS)
            pending += [file for file in loaded if (path.parent / file).is_file()][:1]
    return found
