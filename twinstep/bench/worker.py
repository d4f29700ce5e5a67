"""A measured child process, `python -m twinstep.bench.worker FD`, and the parent's end.

Each backend and number of threads has its own: XLA and rayon size their thread pools at start,
and one backend's memory would count for the next. The parent requests one round at a time, so
that the rounds of all backends alternate.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib import rpc
from twinstep.bench.checksum import Checksum, Digests
from twinstep.bench.dispatch import entries
from twinstep.bench.mean_check import Means, means
from twinstep.bench.targets import FEW, Job, actions_of
from twinstep.env.timestep import lane_seeds
from twinstep.errors import UserError
from twinstep.frames import Fields
from twinstep.runner import wire

#: The limit of one answer in seconds; shorter for a baseline, which may be dropped.
PATIENCE, PEERS_PATIENCE = 1200.0, 240.0
#: Environment variables of every child, in addition to the number of threads. Freed memory is
#: reused: new memory costs more than the games, and other targets write to preallocated arrays.
#: The compilation cache is off: compile seconds would be those of reading it.
#: No process takes a device's whole memory, because several run side by side.
ENVIRONMENT = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TOP_PAD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "JAX_ENABLE_COMPILATION_CACHE": "0",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
#: How a candidate that nobody trusts is asked: reading its answer runs no code.
WIRE = rpc.Codec(wire.pack, wire.unpack, 1 << 24)
_THREADS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: The names of all of these variables.
SETTINGS = (*ENVIRONMENT, *_THREADS)


class Failed(Exception):
    """A child process failed; the text says how, in one line."""


class Child:
    """The parent's end of one child process. Close it, or use it as a context."""

    def __init__(self, job: Job) -> None:
        self.job = job
        variables = ENVIRONMENT | dict.fromkeys(_THREADS, str(job.threads)) | dict(job.variables)
        program = [job.python or sys.executable, "-m", "twinstep.bench.worker"]
        if job.declared:
            program = [sys.executable, "-P", "-m", "twinstep.bench.walled_worker"]
            program += [job.env, job.variant, job.backend]
        self._child = rpc.ChildProcess.run(
            lambda descriptor: [*program, str(descriptor)],
            os.environ | variables,
            cwd=job.folder or None,
            codec=WIRE if job.declared else rpc.PICKLE,
            group=bool(job.declared),
        )
        try:
            self.facts: dict[str, Any] = self.ask(("build", dataclasses.asdict(job)))
        except BaseException:
            self.close()
            raise

    def ask(self, request: tuple[Any, ...]) -> Any:
        """Send a request and return its answer. Raises the child's Failed or UserError."""
        patience = PEERS_PATIENCE if self.job.peer else PATIENCE
        try:
            kind, answer = self._child.ask(request, patience)
        except rpc.Silent:
            raise Failed(f"{self._who()} gave no answer for {patience:.0f} s") from None
        except rpc.Ended as end:
            text = self._child.last_words() or f"exit code {end.code}"
            raise Failed(f"{self._who()} ended: {text}") from None
        except (wire.Garbled, TypeError, ValueError) as error:
            raise Failed(f"{self._who()} sent what is no answer ({error})") from None
        if kind == "usage":
            raise UserError(str(answer))
        if kind == "failed":
            raise Failed(f"{self._who()}: {answer}")
        return answer

    def close(self) -> None:
        """End the process. May be called again."""
        self._child.close(5.0)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _who(self) -> str:
        return f"the process of {self.job.peer or self.job.backend or 'the reference'}"


class _Host:
    """The child's side: the targets of one job."""

    def __init__(self, job: Job) -> None:
        os.sched_setaffinity(0, job.cores)
        self._job = job
        self._contract = job.subject().contract
        self._before = peak_memory()
        self._entries = entries(job)
        self._seeds = lane_seeds(0, job.played)
        self._actions = actions_of(job, self._contract)
        self._sums = [self._checksums() for _ in self._entries]
        self._shown: dict[int, Fields] = {}

    def facts(self) -> dict[str, Any]:
        """Return the targets' names, dtype and platform."""
        players = [entry.player for entry in self._entries]
        return {
            "names": [entry.name for entry in self._entries],
            "dtype": next((getattr(p, "dtype", "reference") for p in players), ""),
            "platform": next((getattr(p, "platform", "cpu") for p in players), "cpu"),
        }

    def warm(self, number: int) -> dict[str, Any]:
        """Play twice, then begin again; return the seconds of both."""
        player = self._entries[number].player
        player.begin(self._seeds, self._actions)
        first, second = _timed(player.play), _timed(player.play)
        player.begin(self._seeds, self._actions)
        about = dict(self._entries[number].about) | dict(getattr(player, "about", {}))
        return about | {"first_call_seconds": first, "second_call_seconds": second}

    def ready(self, number: int) -> None:
        """Run a target's untimed preparation."""
        getattr(self._entries[number].player, "ready", lambda: None)()

    def play(self, number: int) -> float:
        """Play once; return the seconds."""
        return _timed(self._entries[number].player.play)

    def played(self, number: int) -> dict[str, Digests]:
        """Return the checksums since the beginning, {} for a target that writes nothing."""
        self._shown[number] = shown = self._entries[number].player.shown()
        if not shown:
            return {}
        return {lanes: total.add(shown) for lanes, total in self._sums[number].items()}

    def means(self, number: int) -> Means:
        """Return the means of the latest round."""
        state = self._entries[number].player.state()
        return means(self._shown[number], state, [int(lanes) for lanes in self._sums[number]])

    def end(self, number: int) -> dict[str, Digests]:
        """Return the checksums of the final state."""
        fields = self._entries[number].player.state()
        return {lanes: total.state(fields) for lanes, total in self._sums[number].items()}

    def after(self, number: int) -> dict[str, Any]:
        """Return a target's facts after its last round."""
        return dict(getattr(self._entries[number].player, "after", dict)())

    def memory(self) -> dict[str, int]:
        """Return peaks in bytes: before the targets were built, now, and on the device."""
        peaks = {"before": self._before, "peak": peak_memory()}
        if "twinstep.bench.jax_targets" in sys.modules:
            from twinstep.bench.jax_targets import device_memory

            peaks["device"] = device_memory()
        return peaks

    def _checksums(self) -> dict[str, Checksum]:
        """Return the checksums over the reference's few lanes, and over all played ones."""
        counts = dict.fromkeys([min(FEW, self._job.played), self._job.played])
        return {str(lanes): Checksum(self._contract, lanes) for lanes in counts}


def peak_memory() -> int:
    """Return the most memory this process had resident, in bytes.

    Linux's own count begins with this program. getrusage's, taken where that is missing, begins
    with the process that started it.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _timed(act: Callable[[], Any]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def serve(handle: int) -> None:
    """Answer until the pipe closes, behind walls: see walled_worker.py."""
    _serve(Connection(int(handle)), WIRE)


def _serve(end: Connection, codec: rpc.Codec) -> None:
    np.seterr(all="ignore")
    host: Any = None

    def answer(request: Any) -> Any:
        nonlocal host
        method, *args = request
        if method == "build":
            host = _Host(Job(**args[0]))
            return "ok", host.facts()
        return "ok", getattr(host, method)(*args)

    with contextlib.suppress(KeyboardInterrupt):
        rpc.serve(end, answer, _failure, codec)


def _failure(error: BaseException) -> tuple[str, str]:
    if isinstance(error, UserError):
        return "usage", str(error)
    if not isinstance(error, Exception):
        raise error
    first = str(error).strip().partition("\n")[0]  # candidates and bridges raise anything
    return "failed", f"{type(error).__name__}: {first}"


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])), rpc.PICKLE)
