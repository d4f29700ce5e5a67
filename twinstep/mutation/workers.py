"""Judge mutants in separate processes, each on one core.

A mutant may end the process that runs it, or never answer from inside a compiled program, where no
signal reaches it. Then the current level counts as having noticed, and a new process runs the
remaining levels.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any

from twinstep._lib.rpc import ChildProcess, Ended
from twinstep.errors import OracleMissing, UserError
from twinstep.mutation.campaign import Campaign, Plan, prepare
from twinstep.mutation.check_order import Watch
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.runner import MutantRunner, compilation_cache
from twinstep.mutation.verdict import Kill

#: Processor seconds beyond a level's own limit after which its process is ended.
GRACE = 30.0
#: Limit on wall time, as a multiple of the limit on processor time: a mutant may sleep.
_ASLEEP = 10
DIES_WITH_PARENT = 1, signal.SIGKILL, 0, 0, 0  # PR_SET_PDEATHSIG
#: Number of mutants planted alone after which JAX's caches are cleared.
_KEPT = 20

_Settled = dict[tuple[str, int], Kill]
_Row = dict[str, Any]
_Work = Callable[[connection.Connection, Plan, list[str], int, Path], None]


@dataclass
class _Task:
    """A mutant and its known kills. number: its place, counted from 1."""

    number: int
    mutant: Mutant
    settled: _Settled = field(default_factory=dict)


class _Worker:
    """The parent's handle of a process.

    at: (variant, level, check) that is running; variant None: the candidate without a bug.
    """

    def __init__(self, work: _Work, plan: Plan, names: list[str], folder: Path, core: int) -> None:
        self.core = core
        self.child = ChildProcess.spawn(work, plan, names, core, folder)
        self.task: _Task | None = None
        self.at: tuple[str | None, int, str] | None = None
        self._until = self._wall = float("inf")

    def ask(self, task: _Task | None) -> None:
        """Send a mutant to the process; None: the process may end."""
        self.task, self.at = task, None
        self._until = self._wall = float("inf")
        with suppress(Ended):  # a dead process is noticed when its answer is awaited
            self.child.send(task and (task.mutant.id, task.settled))

    def begins(self, variant: str | None, level: int, check: str, limit: float) -> None:
        """Note the current check: a level's limit begins with its first check."""
        if self.at is None or self.at[:2] != (variant, level):
            self._until = self._spent() + limit + GRACE
            self._wall = time.monotonic() + _ASLEEP * limit + GRACE
        self.at = variant, level, check

    @property
    def over(self) -> bool:
        """True if the current level is over its limit."""
        return time.monotonic() > self._wall or self._spent() > self._until

    def _spent(self) -> float:
        """Return the processor time of the process in seconds, 0 once it has ended."""
        try:
            return time.clock_gettime((~self.child.pid << 3) | 2)  # Linux: a process's CPU clock
        except OSError:
            return 0.0

    def end(self) -> None:
        """Kill the process."""
        self.child.kill()


def _heard(worker: _Worker) -> tuple[Any, ...] | None:
    """Return a worker's message, None if it has ended."""
    try:
        return worker.child.receive()
    except Ended:
        return None


def _lost(worker: _Worker, over: bool) -> _Task:
    """Return the task of a worker that ended or does not answer, with the level's kill.

    UserError if no bug was planted.
    """
    how = "time" if over else "crash"
    detail = f"the process {'does not answer' if over else 'ended'}"
    variant, level, check = worker.at or (None, 0, "its start")
    if worker.task is None or variant is None:
        raise UserError(
            f"{detail} at {check} without a planted bug: run the suite on the candidate"
        )
    worker.task.settled[variant, level] = Kill(level, check, how, detail)
    return worker.task


def _words(worker: _Worker, count: int) -> str:
    task, at = worker.task, worker.at
    assert at is not None
    level = f"level {at[1]}" if at[1] else "the suspect"
    if task is None or at[0] is None:
        return f"without a bug: {level}, {at[2]}"
    mutant = task.mutant
    return f"{task.number} of {count}: {mutant.path}:{mutant.line}, {mutant.what}: {level}"


class _Telling(Watch):
    """Reports each check to the parent."""

    def __init__(self, pipe: connection.Connection) -> None:
        super().__init__()
        self._pipe = pipe

    def begins(self, level: int, check: str, limit: float) -> None:
        """Report a check."""
        self._pipe.send(("at", self.variant, level, check, limit))


def work(
    pipe: connection.Connection,
    plan: Plan,
    names: list[str],
    core: int,
    folder: Path,
    elsewhere: bool = False,
    levels: tuple[int, ...] = (),
) -> None:
    """Judge the mutants that the parent sends, one by one, until it sends None.

    names: ids of all mutants that it may send, in this order. elsewhere: True for all variants
    except the first. levels: for mutants that do not run at every level; (): the plan's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(*DIES_WITH_PARENT)  # even from an endless loop
    os.sched_setaffinity(0, {core})
    try:
        campaign = prepare(plan)
        own = folder / f"core {core}"
        with compilation_cache(campaign, folder):
            mutants = {mutant.id: mutant for mutant in campaign.mutants}
            bench = MutantRunner(
                campaign, _Telling(pipe), own, [mutants[name] for name in names], levels
            )
            try:
                bench.begin(elsewhere)
                pipe.send(("ready",))
                _judge(pipe, bench, mutants, elsewhere)
            finally:
                bench.close()
    except (UserError, OracleMissing) as problem:
        pipe.send(("user", str(problem)))
    except (EOFError, ConnectionError):
        return  # the parent has ended
    except OSError as problem:  # for example a full disk: no verdict on a mutant either
        pipe.send(("user", str(problem)))
    except Exception:  # an error of this program is no verdict on a mutant
        pipe.send(("error", traceback.format_exc()))


def _judge(
    pipe: connection.Connection, bench: MutantRunner, mutants: dict[str, Mutant], elsewhere: bool
) -> None:
    while (request := pipe.recv()) is not None:
        name, settled = request
        pipe.send(("row", bench.row(mutants[name], settled, elsewhere)))
        if bench.alone >= _KEPT:
            import jax

            jax.clear_caches()
            bench.alone = 0


def rows(
    campaign: Campaign,
    mutants: list[Mutant],
    count: int,
    progress: Callable[[str], None],
    folder: Path,
    work: _Work = work,
) -> Iterator[_Row]:
    """Yield a row for each mutant, as results arrive, from `count` processes on one core each.

    folder: for compiled files. work: the function that each process runs. UserError if the
    candidate fails without a bug, or ends its process.
    """
    todo = deque(_Task(number, mutant) for number, mutant in enumerate(mutants, 1))
    cores = sorted(os.sched_getaffinity(0))
    names = [mutant.id for mutant in mutants]
    started = partial(_Worker, work, campaign.plan, names, folder)
    workers = [started(core) for core in cores[: min(count, len(todo))]]
    try:
        while workers:
            ready = connection.wait([worker.child.pipe for worker in workers], timeout=1.0)
            for place, worker in enumerate(list(workers)):
                message, over = None, worker.over
                if worker.child.pipe in ready:
                    message = _heard(worker)
                elif not over:
                    continue
                if message is None:
                    lost = _lost(worker, over)
                    worker.end()
                    todo.appendleft(lost)
                    workers[place] = started(worker.core)
                    continue
                what, *rest = message
                if what == "at":
                    worker.begins(*rest)
                    progress(_words(worker, len(mutants)))
                    continue
                if what == "row":
                    yield rest[0]
                elif what == "user":
                    raise UserError(rest[0])
                elif what == "error":
                    raise RuntimeError(rest[0])
                worker.ask(todo.popleft() if todo else None)
                if worker.task is None:
                    workers.remove(worker)
                    worker.child.exit_code()
    finally:
        for worker in workers:
            worker.end()
