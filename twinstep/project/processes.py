"""Run a foreign command with a limit, and end all processes that it started."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
#: Starts a command that gets SIGKILL when this process dies (PR_SET_PDEATHSIG). A preexec_fn would
#: run Python between fork and exec, which JAX warns of.
_TIED = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
#: Bytes of output that are read back; the log has all.
TAIL = 1 << 20


@dataclass(frozen=True)
class Ended:
    """The end of a command.

    code: its exit code, negative for a signal. timed_out: whether it ran past its limit.
    leftovers: count of processes that it left behind, now ended. said: the end of its output.
    """

    code: int
    seconds: float
    timed_out: bool
    leftovers: int
    said: str


def run(
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    limit: float,
    log: Path,
    told: bytes = b"",
) -> Ended:
    """Run a command in its own session until it ends, `limit` seconds at most.

    Then all of its processes are ended: its group by its number, and processes that left the group
    because this process adopts orphans (Linux). The command also ends with this process, however
    that ends. log: the file of its output. told: its standard input. OSError if it cannot be
    started.
    """
    if shutil.which(command[0], path=env.get("PATH")) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    earlier = set(_children(os.getpid()))
    start = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out, _input(told) as source:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TIED, *command],
            cwd=folder,
            env=dict(env),
            stdin=source,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        timed_out = True
        try:
            timed_out = not _ends_within(process.pid, limit)
        finally:
            # It is reaped only after this: until then no other group can have its number.
            leftovers = _end_group(process.pid)
            code = process.wait()
            leftovers |= _end_orphans(earlier)
    with log.open("rb") as output:
        output.seek(max(0, log.stat().st_size - TAIL))
        tail = output.read().decode(errors="replace")
    return Ended(code, round(time.monotonic() - start, 3), timed_out, len(leftovers), tail)


@contextlib.contextmanager
def _input(text: bytes) -> Iterator[int]:
    """Open a text as a file in memory: a pipe blocks for a long text that nobody reads."""
    handle = os.memfd_create("prompt")
    try:
        with os.fdopen(os.dup(handle), "wb") as file:
            file.write(text)
        os.lseek(handle, 0, os.SEEK_SET)
        yield handle
    finally:
        os.close(handle)


def _ends_within(number: int, limit: float) -> bool:
    """Wait for a child to end, and leave it unreaped."""
    handle = os.pidfd_open(number)
    try:
        return bool(select.select([handle], [], [], limit)[0])
    finally:
        os.close(handle)


def _end_group(leader: int) -> set[int]:
    """End a group; return its running processes other than its leader."""
    group = {n for n in _all() if n != leader and _field(n, 2) == leader and _state(n) != "Z"}
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    return group


def _end_orphans(earlier: set[int]) -> set[int]:
    """End and reap this process's children, except the `earlier` ones; return those that ran."""
    ended: set[int] = set()
    for _ in range(1000):
        mine = set(_children(os.getpid())) - earlier
        if not mine:
            break
        for number in mine:
            if _state(number) not in ("Z", ""):
                ended.add(number)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(number, 0)
    return ended


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _children(parent: int) -> list[int]:
    return [number for number in _all() if _field(number, 1) == parent]


def _stat(number: int) -> list[str]:
    """Return /proc/N/stat after the name, which may contain blanks: state, parent, group, ..."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _field(number: int, place: int) -> int:
    fields = _stat(number)
    return int(fields[place]) if fields else -1


def _state(number: int) -> str:
    fields = _stat(number)
    return fields[0] if fields else ""
