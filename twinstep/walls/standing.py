"""Which walls stand on this machine, found by trying them."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from dataclasses import dataclass

from twinstep.walls import landlock
from twinstep.walls.view import SYSTEM, View, python_folders, variables, walled

#: PR_GET_SECCOMP, which answers 2 behind a filter.
_ASKED = "import ctypes; print(ctypes.CDLL(None).prctl(21, 0, 0, 0, 0) == 2)"


@dataclass(frozen=True)
class Standing:
    """The walls that stand here.

    namespaces: whether the view, the process table, the network and the rights are its own; nothing
    else counts without them. why: the reason where they are not. seccomp: whether the kernel
    refuses calls. landlock: its version, 0 for none.
    """

    namespaces: bool
    why: str = ""
    seccomp: bool = False
    landlock: int = 0

    def __str__(self) -> str:
        if not self.namespaces:
            return f"no wall stands here ({self.why}): the verdict rests on trust"
        missing = [] if self.seccomp else ["seccomp"]
        missing += [] if self.landlock else ["Landlock"]
        weaker = f"; without {' and '.join(missing)}" if missing else ""
        return f"walls: namespaces, a read-only view, no capability{weaker}"


@functools.cache
def standing() -> Standing:
    """Build walls around a small program and return which of them stand."""
    if sys.platform != "linux":
        return Standing(False, f"{platform.system()} has no namespaces")
    python = os.path.realpath(sys.executable)
    done = subprocess.run(
        walled([python, "-I", "-S", "-c", _ASKED]),
        env=variables(View((*SYSTEM, *python_folders()))),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return Standing(False, lines[-1].removeprefix("walls: "))
    return Standing(True, "", done.stdout.strip() == "True", landlock.abi())
