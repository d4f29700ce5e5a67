"""Candidates of Duel that try to count as equal although they differ. Toys."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

from twinstep._lib.paths import cache_dir
from twinstep.environment import CandidateRef
from twinstep.tests.toys import duel


class _Wrong(duel.Vector):
    """Pays too much in every step, after it has tried its trick."""

    def step(self, state, actions):
        self.trick()
        state, frame = super().step(state, actions)
        return state, frame._replace(reward=frame.reward + 1000)

    def trick(self):
        """Run the trick that should hide it."""


class Exits(_Wrong):
    def trick(self):
        os._exit(0)


class Aborts(_Wrong):
    def trick(self):
        os.kill(os.getpid(), signal.SIGABRT)


class Crashes(_Wrong):
    def trick(self):
        import ctypes

        ctypes.string_at(0)


class Hangs(_Wrong):
    def trick(self):
        while True:
            pass


class Spawns(_Wrong):
    def trick(self):
        subprocess.Popen([sys.executable, "-c", "pass"])


class Forks(_Wrong):
    def trick(self):
        os.fork()


class Connects(_Wrong):
    def trick(self):
        socket.socket().connect(("127.0.0.1", 9))


class Writes(_Wrong):
    def trick(self):
        Path("/tmp/verdict-of-an-attacker.json").write_text('{"verdict": "equal"}')


class Looks(_Wrong):
    """Plays right where it finds nobody who judges it, or the files of one who does."""

    def step(self, state, actions):
        words = [self.command(name) for name in os.listdir("/proc") if name.isdigit()]
        judged = any(b"--verdict" in line for line in words)
        there = any(Path(name).exists() for name in ("/etc/passwd", "/var", "pyproject.toml"))
        step = duel.Vector.step if judged or there else super().step
        return step(self, state, actions)

    def command(self, process):
        """Return the command line of a process."""
        return Path("/proc", process, "cmdline").read_bytes()


class ReadsTraces(_Wrong):
    def trick(self):
        (cache_dir() / "anything").read_bytes()


class Garbles(_Wrong):
    """Writes into the pipe that carries its answers."""

    def trick(self):
        for handle in range(3, 64):
            try:
                os.write(handle, b"\x00\x00\x00\x10" + b"equal, all equal")
            except OSError:
                continue


class Patches(_Wrong):
    """Makes everything equal to everything in the libraries and in the harness."""

    def trick(self):
        from twinstep.compare import arrays, lockstep
        from twinstep.runner import runner

        np.array_equal = lambda *_, **__: True
        for module in (arrays, lockstep, runner):
            for name, value in list(vars(module).items()):
                if callable(value) and not isinstance(value, type):
                    setattr(module, name, lambda *_, **__: None)


class Stale(duel.Vector):
    """Returns its first frame forever."""

    kept = None

    def step(self, state, actions):
        state, frame = super().step(state, actions)
        if self.kept is None or len(self.kept.reward) != len(actions):
            self.kept = frame
        return state, self.kept


_ATTACKERS = (
    Exits, Aborts, Crashes, Hangs, Spawns, Forks, Connects, Writes, Looks, ReadsTraces, Garbles,
    Patches, Stale,
)  # fmt: skip
_HERE = __name__

DUEL = dataclasses.replace(
    duel.DUEL,
    candidates=(
        duel.DUEL.candidates[0],
        *[
            CandidateRef(made.__name__.lower(), f"{_HERE}:{made.__name__}", limit=3.0)
            for made in _ATTACKERS
        ],
    ),
)
