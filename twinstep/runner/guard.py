"""Forbid a candidate's process, and its compiled programs, to reach beyond computing.

Static checks of its files come first (screening.py); this is the second line. An audit hook cannot
be removed, but C code that a candidate loads passes below it. The files that it may load are
screened. Bubblewrap around the process is the real boundary.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twinstep._lib.paths import cache_dir, compiled_dir
from twinstep.runner.state_types import traced

#: Primitives of JAX that call back into Python.
CALLBACKS = ("pure_callback", "io_callback", "debug_callback", "python_callback", "infeed")
_FORBIDDEN = (
    "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.kill",
    "os.remove", "os.rename", "os.link", "os.symlink", "os.chmod", "os.truncate", "pty.",
    "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "shutil.",
    "signal.pthread_kill", "sys.setprofile", "sys.settrace", "sys._getframe_all",
)  # fmt: skip
_WRITES = set("wax+")


class Forbidden(RuntimeError):
    """The candidate tried a forbidden operation."""


def begin(pipe: int) -> None:
    """Forbid this process to open files for writing, traces, sockets and processes, from now on.

    Writing stays allowed in the folder of JAX's own compiled programs. pipe: the open descriptor.
    """
    compiled, cache = compiled_dir(), cache_dir()

    def look(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            _look_at_file(args, compiled, cache)
        elif event.startswith(_FORBIDDEN) and not _of_jax(event, args, compiled):
            raise Forbidden(f"a candidate may not do `{event}`")

    sys.addaudithook(look)


def _look_at_file(args: tuple[Any, ...], compiled: Path, cache: Path) -> None:
    path, mode, flags = args
    if isinstance(path, int) or path is None:
        return
    inner = Path(str(path if isinstance(path, str) else bytes(path).decode(errors="replace")))
    inside = _within(inner, compiled)
    writes = bool(_WRITES & set(mode)) if mode else bool(flags & 3)
    if writes and not inside and str(inner) != "/dev/null":
        raise Forbidden(f"a candidate may not write {inner.name}")
    if not inside and _within(inner, cache):
        raise Forbidden("a candidate may not read what the reference recorded")


def _of_jax(event: str, args: tuple[Any, ...], compiled: Path) -> bool:
    """Return True if JAX moves or removes a compiled program of its own."""
    files = [arg for arg in args if isinstance(arg, str | bytes)]
    moves = event.startswith(("os.remove", "os.rename", "shutil."))
    return moves and all(_within(Path(str(file)), compiled) for file in files)


def _within(path: Path, folder: Path) -> bool:
    return Path(path).absolute().resolve().is_relative_to(folder.resolve())


def refused_programs(candidate: Any) -> list[str]:
    """Return the forbidden contents of a JAX candidate's programs, a line each."""
    pure = getattr(candidate, "pure", None)
    if pure is None:
        return []
    return [
        f"{where} calls back into Python ({name}): what it returns could come from anywhere"
        for where, name in sorted(set(_callbacks(candidate)))
    ]


def _callbacks(candidate: Any) -> Iterator[tuple[str, str]]:
    for where, jaxpr in _programs(candidate):
        for equation in _equations(jaxpr):
            if equation.primitive.name in CALLBACKS:
                yield where, equation.primitive.name


def _programs(candidate: Any) -> Iterator[tuple[str, Any]]:
    """Trace reset and step of a single environment."""
    import jax  # takes a second, and not every candidate needs it

    pure = candidate.pure
    with traced(candidate) as (start, action):
        yield "reset", jax.make_jaxpr(pure.reset)(start)
        state = jax.eval_shape(pure.reset, start)
        yield "step", jax.make_jaxpr(pure.step)(state, action)
        yield "its frame", jax.make_jaxpr(pure.frame)(state)


def _equations(jaxpr: Any) -> Iterator[Any]:
    """Return all equations of a jaxpr, nested ones included."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    for equation in inner.eqns:
        yield equation
        for value in equation.params.values():
            for part in value if isinstance(value, list | tuple) else [value]:
                if hasattr(part, "eqns") or hasattr(part, "jaxpr"):
                    yield from _equations(part)
