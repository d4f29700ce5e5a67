"""Run own tests on a campaign's survivors; tests that noticed bugs of the same file go first."""

from __future__ import annotations

import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.mutation.campaign import Campaign
from twinstep.mutation.env_tests import OwnTests, packages
from twinstep.mutation.planting import all_mutants
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.verdict import Kill
from twinstep.mutation.workers import DIES_WITH_PARENT
from twinstep.project import registry

#: Maximum number of tests that are moved to the front.
_FIRST = 5


def run_own_tests(
    campaign: Campaign, tell: Callable[[str], None], folder: Path, count: int = 1
) -> Iterator[dict[str, Any]]:
    """Run own tests on each survivor among a campaign's rows; yield each row when it is updated.

    `own` in a row: True if these tests noticed. folder: for compiled files. count: processes, one
    core each. UserError if a test fails without a bug.
    """
    env, ref = campaign.plan.env, campaign.pair.candidate
    todo = {r["id"]: r for r in campaign.rows if r["class"] == "survivor" and "own" not in r}
    order = _Order(campaign.rows)
    if not todo or not (packages(env) or ref.tests or ref.build):
        return
    tell("the environment's own tests, without a bug")
    tests = OwnTests(env, ref, folder / "own")
    tests.begin()
    answers = _answers(campaign, todo, order, folder, tests, count)
    for number, (name, kill) in enumerate(answers, 1):
        row = todo[name]
        row["own"] = kill is not None
        if kill is not None:
            kills = {str(kill.level): kill.named()}
            row |= {"class": "killed", "first": kill.level, "kills": kills}
            row.pop("diff", None)
            order.learn(row)
        tell(f"the environment's own tests, {number} of {len(todo)}: {row['path']}:{row['line']}")
        yield row


class _Order:
    """The order of own tests: those that noticed bugs of the same file go first."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._noticed: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            if row.get("own"):
                self.learn(row)

    def learn(self, row: dict[str, Any]) -> None:
        """Count the test that noticed a row's bug."""
        self._noticed[row["path"]].update(kill["check"] for kill in row["kills"].values())

    def of(self, path: str) -> list[str]:
        """Return the tests that noticed the most bugs of a file."""
        return [name for name, _ in self._noticed[path].most_common(_FIRST)]


def _answers(
    campaign: Campaign,
    rows: dict[str, dict[str, Any]],
    order: _Order,
    folder: Path,
    tests: OwnTests,
    count: int,
) -> Iterator[tuple[str, Kill | None]]:
    """Yield (mutant id, kill or None) for the mutants of these rows, as results arrive."""
    mutants = {mutant.id: mutant for mutant in campaign.mutants}
    if count == 1:
        for name, row in rows.items():
            yield name, tests.ask(mutants[name], order.of(row["path"]))
        return
    # Processes, not threads: ending one command's processes would end those of another, too.
    spawning = multiprocessing.get_context("spawn")
    each = sorted(os.sched_getaffinity(0))[: min(count, len(rows))]
    cores = spawning.Queue()
    for core in each:
        cores.put(core)
    before = set(multiprocessing.active_children())
    pool = concurrent.futures.ProcessPoolExecutor(
        len(each),
        spawning,
        _begin,
        (cores, campaign.plan.env, campaign.plan.candidate, folder, tests.limits),
    )
    try:
        todo, under_way = deque(rows.items()), {}
        while todo or under_way:
            # No more than can run at once: each result improves the order of later tests.
            while todo and len(under_way) < len(each):
                name, row = todo.popleft()
                under_way[_submitted(pool, name, order.of(row["path"]))] = name
            ended = concurrent.futures.FIRST_COMPLETED
            for done in concurrent.futures.wait(under_way, return_when=ended).done:
                yield under_way.pop(done), done.result()
    except concurrent.futures.BrokenExecutor as broken:
        raise UserError(
            "a process that asks own tests was ended from outside, for memory perhaps: "
            "`--resume` goes on, with fewer --workers"
        ) from broken
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        processes_left = set(multiprocessing.active_children()) - before
        for process in processes_left:
            process.terminate()  # each ends what it has started
        for process in processes_left:
            process.join(_TO_END)
            process.kill()
            # The pool's thread may have reaped it without recording that yet: join sees nothing.
            while process.is_alive():
                time.sleep(0.01)


#: Seconds that a process may take to end its command.
_TO_END = 10.0
#: Set in each process of the pool.
_here: tuple[OwnTests, dict[str, Mutant]]


def _begin(
    cores: multiprocessing.Queue[int],
    env: str,
    candidate: str,
    folder: Path,
    limits: tuple[float, float],
) -> None:
    """Initialise a process of the pool, which ends with its parent."""
    global _here  # noqa: PLW0603 - state of a pool's initializer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    # SIGTERM, not SIGKILL: it has to end the tests that it started, which may loop forever.
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT[0], signal.SIGTERM, *DIES_WITH_PARENT[2:])
    core = cores.get()
    os.sched_setaffinity(0, {core})
    ref = next(r for r in registry.environment(env).candidates if r.name == candidate)
    tests = OwnTests(env, ref, folder / f"own {core}")
    tests.limits = limits
    _here = tests, {mutant.id: mutant for mutant in all_mutants(ref)}


def _submitted(
    pool: concurrent.futures.ProcessPoolExecutor, name: str, first: list[str]
) -> concurrent.futures.Future[Kill | None]:
    try:
        return pool.submit(_ask, name, first)
    except OSError as closed:  # another process ended, and the pool closed this one's pipe
        raise concurrent.futures.BrokenExecutor from closed


def _ask(name: str, first: list[str]) -> Kill | None:
    tests, mutants = _here
    return tests.ask(mutants[name], first)
