"""Judge a compiled candidate in a fork of this process: a loaded library cannot be unloaded.

A bug may also end the fork, or hang it inside compiled code. Then the current level counts as
having noticed, and another fork runs the remaining levels.
"""

from __future__ import annotations

import ctypes
import importlib
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from twinstep.errors import UserError
from twinstep.mutation.check_order import Watch
from twinstep.mutation.judge import LIMIT, Question
from twinstep.mutation.rust_build import Workshop
from twinstep.mutation.verdict import Judgement, Kill

#: Seconds beyond a level's limit after which the fork is ended, and the limit on wall time as a
#: multiple of the limit on processor time.
_GRACE, _ASLEEP = 10.0, 10


class _Telling(Watch):
    """Reports each check to the waiting process; the order of checks is that of another watch."""

    def __init__(self, end: Connection, known: Watch) -> None:
        super().__init__()
        self._end, self._known = end, known

    def begins(self, level: int, check: str, limit: float) -> None:
        """Report a check."""
        self._end.send(("at", level, check, limit))

    def worth(self, level: int, check: str) -> float:
        """Return the other watch's estimate for a check."""
        return self._known.worth(level, check)


def judged(
    ask: Callable[[Question, Watch], Judgement], question: Question, watch: Watch, shop: Workshop
) -> Judgement:
    """Return the judgement of `ask` in forks of this process that load the workshop's build.

    watch: notes every check.
    """
    settled = dict(question.settled)
    while True:
        rest = partial(ask, replace(question, settled=dict(settled)))
        answer = in_a_copy(rest, watch, shop, question.levels[0])
        if isinstance(answer, Judgement):
            return answer
        settled[answer.level] = answer


def in_a_copy(do: Callable[[Watch], Any], watch: Watch, shop: Workshop, level: int = 0) -> Any:
    """Return the result of `do` in a fork of this process, or the kill of the level that ended it.

    level: the one that counts before the first check. UserError if `do` raises.
    """
    here, there = multiprocessing.Pipe()
    pid = os.fork()
    if not pid:
        here.close()
        _copy(do, _Telling(there, watch), there, shop)
    there.close()
    try:
        return _awaited(here, pid, watch, level)
    finally:
        here.close()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _copy(do: Callable[[Watch], Any], telling: Watch, end: Connection, shop: Workshop) -> None:
    """Run in the fork: call `do`, send its result, exit."""
    message: tuple[str, Any] = ("error", "")
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        # A panic's message is in the verdict.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.path.insert(0, str(shop.place))
        importlib.invalidate_caches()
        for name in shop.modules:
            sys.modules.pop(name, None)
        message = ("done", do(telling))
        for module in filter(None, map(sys.modules.get, shop.modules)):
            assert str(module.__file__).startswith(str(shop.place)), module.__file__
    except OSError as error:
        message = ("error", str(error))
    except BaseException:  # nothing may escape from the fork
        message = ("error", traceback.format_exc())
    finally:
        with suppress(OSError):
            end.send(message)
        os._exit(0)


def _awaited(end: Connection, pid: int, watch: Watch, level: int) -> Any:
    """Wait for a fork's answer."""
    check, limit = "its start", LIMIT
    begin, spent = time.monotonic(), 0.0
    while True:
        try:
            message = end.recv() if end.poll(1.0) else None
        except (EOFError, OSError):
            return Kill(level, check, "crash", "the process ended")
        if message is None:
            late = time.monotonic() - begin > _ASLEEP * limit + _GRACE
            if late or _processor_time(pid) - spent > limit + _GRACE:
                return Kill(level, check, "time", f"not done after {limit:g} s of processor time")
        elif message[0] == "at":
            if message[1] != level:
                begin, spent = time.monotonic(), _processor_time(pid)
            level, check, limit = message[1:]
            watch.begins(level, check, limit)
        elif message[0] == "done":
            return message[1]
        else:
            raise UserError(f"a bug could not be judged: {message[1]}")


def _processor_time(pid: int) -> float:
    """Return the seconds of processor time of a process (Linux), 0 once it has ended."""
    with suppress(OSError):
        return time.clock_gettime((~pid << 3) | 2)
    return 0.0
