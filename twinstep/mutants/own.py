"""Ask the tests that an environment has of its own what the generic checks did not notice.

`python -m twinstep.mutants.own ENV CANDIDATE ID OUT ANSWERS LEARNING` plants one bug (`-`: none)
in a process and runs these tests there, up to the first that fails. A bug in Rust is compiled
before, in a copy of the project, and the process runs in that. What the oracle answers without a
bug (LEARNING is `yes`) is filed, and is not played again for each bug.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import importlib
import importlib.util
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from twinstep import harness, registry
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutants.killing import Kill
from twinstep.mutants.mutator import all_mutants, planted
from twinstep.mutants.remembering import FilingOracle
from twinstep.mutants.rust_workshop import Workshop
from twinstep.mutants.sites import Mutant
from twinstep.mutants.workers import DIES_WITH_PARENT
from twinstep.repair import processes

#: Seconds on the clock without a bug that nothing is known of yet.
_FIRST = 3600.0
#: With one: so many, which also compile a crate's tests, and so many times what they take without.
_LEAST, _SLOWER = 120.0, 10
_SUITES = ("properties", "interactions", "rollouts")
_LEVELS = (1, 2, 3)
_GOOD = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class OwnTests:
    """The tests of one candidate's environment: those beside the generic ones in the suite's
    packages, those that the candidate names in `tests`, and those of its Rust crates.

    folder: where a compiled candidate is copied to. Beside it lie the oracle's answers.
    """

    def __init__(self, env: str, ref: CandidateRef, folder: Path) -> None:
        self._env, self._ref = env, ref
        self._answers = folder.absolute().with_name("answers")
        #: Seconds for each crate's tests, and for the others; 0: not known yet.
        self.limits = 0.0, 0.0
        self._shop = Workshop(ref, folder) if ref.build else None

    def begin(self) -> None:
        """Run them without a bug, and set limits by that. UserError if one fails."""
        self._good(_FIRST, _FIRST)  # compiles, and asks the oracle
        crates, others = self._good(_FIRST, _FIRST)
        self.limits = _LEAST + _SLOWER * crates, _LEAST + _SLOWER * others

    def _good(self, *limits: float) -> tuple[float, float]:
        """Return the seconds that they take without a bug."""
        crates, others, found = self._asked(None, *limits)
        if found is not None:
            raise UserError(
                f"{self._env}-{self._ref.name} fails its own tests without a planted bug "
                f"({found.check}: {found.detail}): mend it first"
            )
        return crates, others

    def ask(self, mutant: Mutant) -> Kill | None:
        """Return what the tests make of a mutant, None if all pass."""
        return self._asked(mutant, *self.limits)[-1]

    def _asked(
        self, mutant: Mutant | None, crates: float, others: float
    ) -> tuple[float, float, Kill | None]:
        """Return the seconds of the crates' tests and of the others, and what noticed."""
        shop = self._shop
        if shop is None:
            return 0.0, *self._run(mutant.id if mutant else "-", others, Path.cwd(), {})
        with shop.built(mutant):
            begun = time.monotonic()
            if failed := shop.tested(crates):
                return 0.0, 0.0, Kill(1, "the crates' own tests", "difference", failed)
            seconds = time.monotonic() - begun
            more = {"PYTHONPATH": shop.import_path}
            return seconds, *self._run("-", others, shop.project, more)

    def _run(
        self, mutant: str, limit: float, project: Path, more: dict[str, str]
    ) -> tuple[float, Kill | None]:
        with tempfile.TemporaryDirectory(prefix="twinstep-own-") as held:
            out, log = Path(held) / "found.json", Path(held) / "log"
            command = [sys.executable, "-m", __name__, self._env, self._ref.name, mutant, str(out)]
            # Without a bug there is no limit yet.
            command += [str(self._answers), "no" if any(self.limits) else "yes"]
            ended = processes.run(command, project, os.environ | more, limit, log)
            if ended.timed_out:
                return ended.seconds, Kill(1, "own tests", "time", f"not done after {limit:g} s")
            if not out.is_file():
                last = (ended.said.strip().splitlines() or [f"exit code {ended.code}"])[-1]
                return ended.seconds, Kill(1, "own tests", "crash", last[:200])
            found = json.loads(out.read_text())
            return ended.seconds, Kill(**found) if found else None


def packages(env: str) -> list[str]:
    """Return the packages of the suite that hold an environment's own tests."""
    named = [f"twinstep.{suite}.{env}" for suite in _SUITES]
    return [name for name in named if importlib.util.find_spec(name) is not None]


def from_the_root(name: str) -> str:
    """Return a test's name from the repository's root, wherever pytest counts from.

    Installed, or reached through links, the suite's folders lie elsewhere.
    """
    for folder in (*(f"{suite}/" for suite in _SUITES), "twinstep/tests/"):
        found = re.search(rf"(^|/){folder}", name.partition("::")[0])
        if found:
            return folder + name[found.end() :]
    return name


class _First:
    """A plugin that keeps the first failure."""

    def __init__(self) -> None:
        self.kill: Kill | None = None
        self._level: dict[str, int] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Learn a test's level; one without counts for the first."""
        found = [level for level in _LEVELS if item.get_closest_marker(f"level{level}")]
        self._level[item.nodeid] = found[0] if found else 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Notice a file that cannot be imported."""
        if report.failed:
            self._keep(1, report.nodeid, "build", report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notice a failure, also of a fixture."""
        if report.failed:
            level = self._level.get(report.nodeid, 1)
            self._keep(level, report.nodeid, "difference", report.longreprtext)

    def _keep(self, level: int, name: str, how: str, text: str) -> None:
        said = [line for line in text.splitlines() if line.startswith("E ")] or [text]
        if self.kill is None:
            self.kill = Kill(
                level,
                from_the_root(name),
                how,
                said[0].removeprefix("E ").strip().partition("\n")[0][:200],
            )


def _main(env: str, candidate: str, mutant: str, out: str, answers: str, learning: str) -> None:
    harness.OracleProcess = functools.partial(  # pyright: ignore[reportAttributeAccessIssue]
        FilingOracle, Path(answers), learning == "yes"
    )
    ref = next(r for r in registry.environment(env).candidates if r.name == candidate)
    bug = None
    if mutant != "-":
        (bug,) = (m for m in all_mutants(ref) if m.id == mutant)
    # The same for every bug, whatever earlier ones made Hypothesis remember: no verdict by luck.
    hypothesis.settings.register_profile("own tests", derandomize=True)
    hypothesis.settings.load_profile("own tests")
    first = _First()
    # This process has imported twinstep before pytest could rewrite its assertions.
    quiet = [
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    chosen = ["-m", "not slow and not level4", "--env", env, "--candidate", candidate]
    beside = Path(out).parent
    quiet += ["--verdict", str(beside / "verdict.json"), "--report-dir", str(beside / "reports")]
    with planted(ref, bug):
        if bug is not None:
            # At once: pytest loads what belongs to a plugin's distribution by a finder of its own.
            importlib.import_module(bug.module)
        for words in ([*chosen, "--pyargs", *packages(env)], ["--pyargs", *ref.tests]):
            if words[-1] == "--pyargs" or first.kill is not None:
                continue
            code = pytest.main([*quiet, *words], plugins=[first])
            if first.kill is None and code not in _GOOD:
                raise SystemExit(f"pytest ended with {int(code)}")
    Path(out).write_text(json.dumps(vars(first.kill) if first.kill else {}))


def asked(
    env: str,
    ref: CandidateRef,
    rows: list[dict[str, Any]],
    tell: Callable[[str], None],
    folder: Path,
    count: int = 1,
) -> Iterator[dict[str, Any]]:
    """Ask of each survivor among a campaign's rows; yield the row as it comes back, changed.

    `own` in it: whether these tests noticed. folder: for what is compiled. count: processes, of
    which each has a core. UserError if one fails without a bug.
    """
    todo = {row["id"]: row for row in rows if row["class"] == "survivor" and "own" not in row}
    if not todo or not (packages(env) or ref.tests or ref.build):
        return
    tell("the environment's own tests, without a bug")
    tests = OwnTests(env, ref, folder / "own")
    tests.begin()
    answers = _answers(env, ref, list(todo), folder, tests, count)
    for number, (name, kill) in enumerate(answers, 1):
        row = todo[name]
        row["own"] = kill is not None
        if kill is not None:
            kills = {str(kill.level): kill.named()}
            row |= {"class": "killed", "first": kill.level, "kills": kills}
            row.pop("diff", None)
        tell(f"the environment's own tests, {number} of {len(todo)}: {row['path']}:{row['line']}")
        yield row


def _answers(
    env: str, ref: CandidateRef, names: list[str], folder: Path, tests: OwnTests, count: int
) -> Iterator[tuple[str, Kill | None]]:
    """Yield what the tests make of the mutants of these names, as it comes."""
    mutants = {mutant.id: mutant for mutant in all_mutants(ref)}
    if count == 1:
        yield from ((name, tests.ask(mutants[name])) for name in names)
        return
    # Processes, not threads: what ends a command's processes would end those of another, too.
    spawning = multiprocessing.get_context("spawn")
    each = sorted(os.sched_getaffinity(0))[: min(count, len(names))]
    cores = spawning.Queue()
    for core in each:
        cores.put(core)
    before = set(multiprocessing.active_children())
    pool = concurrent.futures.ProcessPoolExecutor(
        len(each), spawning, _begin, (cores, env, ref.name, folder, tests.limits)
    )
    try:
        under_way = {pool.submit(_ask, name): name for name in names}
        for done in concurrent.futures.as_completed(under_way):
            yield under_way[done], done.result()
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
            # The pool's thread may have reaped it, and not yet have said so: join sees nothing.
            while process.is_alive():
                time.sleep(0.01)


#: Seconds that a process may take to end its command.
_TO_END = 10.0
#: Of a process that asks.
_here: tuple[OwnTests, dict[str, Mutant]]


def _begin(
    cores: multiprocessing.Queue[int],
    env: str,
    candidate: str,
    folder: Path,
    limits: tuple[float, float],
) -> None:
    """Make ready, in a process that ends with its parent."""
    global _here  # noqa: PLW0603 - what a pool's initializer leaves
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    # Not killed: it has to end the tests that it started, which may loop for ever.
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT[0], signal.SIGTERM, *DIES_WITH_PARENT[2:])
    core = cores.get()
    os.sched_setaffinity(0, {core})
    ref = next(r for r in registry.environment(env).candidates if r.name == candidate)
    tests = OwnTests(env, ref, folder / f"own {core}")
    tests.limits = limits
    _here = tests, {mutant.id: mutant for mutant in all_mutants(ref)}


def _ask(name: str) -> Kill | None:
    tests, mutants = _here
    return tests.ask(mutants[name])


if __name__ == "__main__":
    _main(*sys.argv[1:])
