"""A candidate as a user plays it: a short program in a fresh process, read from its standard input.

It overwrites what it was given, as code that scales observations in place does, and begins another
variant beside. Nothing of the suite is imported there, its command line is `python -`, and its
folder is the project's: a candidate that is right only where it finds a check finds none.
"""

from __future__ import annotations

import base64
import contextlib
import io
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twinstep._lib.rpc import ending
from twinstep.env.timestep import TimeStep
from twinstep.errors import CandidateBroken
from twinstep.frames import Array
from twinstep.project.registry import Pair
from twinstep.runner.candidate_view import view_of
from twinstep.walls.standing import standing
from twinstep.walls.view import variables, walled

#: The environment variables that a program inherits, beside those of the locale.
_KNOWN = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "JAX_PLATFORMS", "XLA_FLAGS",
          "CUDA_VISIBLE_DEVICES")  # fmt: skip
#: Kinds of arrays that it may give: truth values and numbers.
_KINDS = "biuf"
#: Bytes of a line that announces an array.
_LINE = 200
#: Bytes of its messages that are kept.
_SAID = 1 << 16

_PROGRAM = """
import base64, io, os, sys
import numpy as np
import twinstep

out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def save(name, array):
    array = np.asarray(array)
    shape = ",".join(map(str, array.shape))
    out.write(f"{{name}} {{array.dtype.str}} {{shape}}\\n".encode() + array.tobytes())
    if array.flags.writeable:
        array[...] = 1


data = np.load(io.BytesIO(base64.b85decode({data!r})))
env = twinstep.make({id!r}, {backend!r}, auto_reset={auto_reset!r}, **{params!r})
state, step = env.reset(data["seeds"])
save("obs", step.obs)
for params in {others!r}:
    twinstep.make({id!r}, {backend!r}, auto_reset="off", **params).reset(lanes=3)
actions = np.asfortranarray(data["actions"])
for begin in range(0, len(actions), {window}):
    state, step = env.rollout(state, actions[begin : begin + {window}])
    for name, array in step._asdict().items():
        if array is not None:
            save(name, array)
    out.flush()
"""


class UsersProgram:
    """A running program. `steps` yields what it plays; `close` ends it.

    CandidateBroken is raised if it ends early, is silent for the candidate's limit or gives what is
    no step.
    """

    def __init__(
        self, pair: Pair, auto_reset: str, seeds: Array, actions: Array, window: int, apart: bool
    ) -> None:
        """Start it. seeds: u32[N, 2]. actions: [T, N, ...]. apart: behind walls, if any stand."""
        self._limit = pair.candidate.limit
        self._shape = np.asarray(actions).shape[:2]
        self._window, self._unread = window, bytearray()
        packed = io.BytesIO()
        np.savez_compressed(packed, seeds=np.asarray(seeds), actions=np.asarray(actions))
        contract = pair.subject.contract
        text = _PROGRAM.format(
            data=base64.b85encode(packed.getvalue()).decode(),
            id=contract.version,
            backend=pair.candidate.name,
            auto_reset=auto_reset,
            params=dict(pair.subject.variant.params),
            others=_others(pair),
            window=window,
        )
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the program
        self._process = _started(pair, apart, self._errors)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as source:
            source.write(text.encode())

    def begun(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the observations [N, ...] at reset. shape: of one lane's."""
        return self._array("obs", (self._shape[1], *shape))

    def steps(self, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[slice, TimeStep]]:
        """Yield (rows, the steps of these). shapes: of one lane's fields that are not None."""
        total, lanes = self._shape
        for begin in range(0, total, self._window):
            rows = slice(begin, min(begin + self._window, total))
            batch = rows.stop - rows.start, lanes
            yield rows, TimeStep(*[
                self._array(name, (*batch, *shapes[name])) if name in shapes else None
                for name in TimeStep._fields
            ])  # fmt: skip

    def close(self) -> None:
        """End it and all of its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> UsersProgram:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        given, kind, size = (*self._line().split(" "), "", "")[:3]
        wanted = ",".join(map(str, shape))
        try:
            dtype = np.dtype(kind)
        except TypeError:
            raise self._broken("gives what is no step") from None
        if given != name or dtype.kind not in _KINDS or size != wanted:
            raise self._broken(f"gives `{given}` {dtype}[{size}], expected `{name}` [{wanted}]")
        count = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._bytes(count), dtype).reshape(shape)

    def _line(self) -> str:
        while (end := self._unread.find(b"\n")) < 0:
            if len(self._unread) > _LINE:
                raise self._broken("gives what is no step")
            self._read()
        line = self._unread[:end].decode(errors="replace")
        del self._unread[: end + 1]
        return line

    def _bytes(self, size: int) -> bytearray:
        while len(self._unread) < size:
            self._read()
        part = self._unread[:size]
        del self._unread[:size]
        return part

    def _read(self) -> None:
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        if not select.select([handle], [], [], self._limit)[0]:
            raise self._broken(f"says nothing for {self._limit:g} s")
        part = os.read(handle, 1 << 20)
        if not part:
            raise self._broken(ending(self._process.wait(), "ends"))
        self._unread += part

    def _broken(self, what: str) -> CandidateBroken:
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _SAID))
        said = self._errors.read(_SAID).decode(errors="replace").strip()
        last = f": {said.splitlines()[-1][:300]}" if said else ""
        return CandidateBroken(f"a user's program of it {what}{last}", said)


def _others(pair: Pair) -> list[dict[str, Any]]:
    """Return the parameters of another variant, drawn anew: it begins in the same process."""
    if pair.candidate.slow_to_compile:
        return []
    own, name = pair.subject.contract.params, pair.candidate.name
    variants = [
        dict(variant.params)
        for variant in pair.subject.env.variants
        if pair.subject.env.params(variant.params) != own
        and (not variant.candidates or name in variant.candidates)
    ]
    return random.SystemRandom().sample(variants, min(1, len(variants)))


def _started(pair: Pair, apart: bool, errors: Any) -> subprocess.Popen[bytes]:
    folder = str(Path.cwd())
    passed = {name: os.environ[name] for name in _KNOWN if name in os.environ}
    passed["PYTHONWARNINGS"] = "ignore"
    command = [sys.executable, "-"]
    if apart and standing().namespaces:
        view = view_of(pair, [str(Path(folder, "pyproject.toml"))], folder)
        search = passed.get("PYTHONPATH", "").split(os.pathsep)
        passed["PYTHONPATH"] = os.pathsep.join(view.inside(part) for part in search if part)
        passed |= {**variables(view), "HOME": "/tmp"}
        command = walled([view.inside(sys.executable), "-"])
    elif "HOME" in os.environ:
        passed["HOME"] = os.environ["HOME"]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=passed,
        cwd=folder,
        start_new_session=True,
    )
