"""Run an environment's own tests on mutants that the generic checks did not notice.

`python -m twinstep.mutation.env_tests ENV CANDIDATE ID OUT ANSWERS LEARNING [TEST ...]` plants one
bug (`-`: none) in a process and runs these tests, the named ones first, up to the first failure.
A bug in Rust is compiled beforehand in a copy of the project, and the process runs in that copy.
The oracle's answers without a bug (LEARNING is `yes`) are filed and reused for every bug.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import hypothesis
import pytest

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.cached_oracle import FilingOracle
from twinstep.mutation.planting import all_mutants, planted
from twinstep.mutation.python_operators import Mutant
from twinstep.mutation.rust_build import Workshop
from twinstep.mutation.verdict import Kill
from twinstep.project import processes, registry
from twinstep.project.source_hash import package_folder
from twinstep.testing import reference as reference_side

#: Seconds of wall time for the first run without a bug, whose duration is unknown.
_FIRST = 3600.0
#: Limit with a bug: _LEAST seconds, enough to compile a crate's tests, plus _SLOWER times the time
#: without a bug.
_LEAST, _SLOWER = 120.0, 10
_SUITES = ("properties", "interactions", "rollouts")
#: Folder of the tests that a candidate names.
_CORES = "tests/envs/"
_LEVELS = (1, 2, 3)
_GOOD = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class OwnTests:
    """The own tests of one candidate's environment: those next to the generic ones in the suite's
    packages, those that the candidate names in `tests`, and those of its Rust crates.

    folder: copy of a compiled candidate. The oracle's answers lie next to it.
    """

    def __init__(self, env: str, ref: CandidateRef, folder: Path) -> None:
        self._env, self._ref = env, ref
        self._answers = folder.absolute().with_name("answers")
        #: Seconds for each crate's tests, and for the others; 0: not measured yet.
        self.limits = 0.0, 0.0
        self._shop = Workshop(ref, folder) if ref.build else None

    def begin(self) -> None:
        """Run them without a bug and set the limits accordingly. UserError if one fails."""
        self._good(_FIRST, _FIRST)  # compiles, and runs the oracle
        crates, others = self._good(_FIRST, _FIRST)
        self.limits = _LEAST + _SLOWER * crates, _LEAST + _SLOWER * others

    def _good(self, crates: float, others: float) -> tuple[float, float]:
        """Return the seconds that they take without a bug."""
        crates, others, kill = self._asked(None, crates, others)
        if kill is not None:
            raise UserError(
                f"{self._env}-{self._ref.name} fails its own tests without a planted bug "
                f"({kill.check}: {kill.detail}): mend it first"
            )
        return crates, others

    def ask(self, mutant: Mutant, first: Sequence[str] = ()) -> Kill | None:
        """Return the kill of a mutant, None if all tests pass. first: tests to begin with."""
        return self._asked(mutant, *self.limits, first)[-1]

    def _asked(
        self, mutant: Mutant | None, crates: float, others: float, first: Sequence[str] = ()
    ) -> tuple[float, float, Kill | None]:
        """Return the seconds of the crates' tests and of the others, and the kill if any."""
        shop = self._shop
        if shop is None:
            name = mutant.id if mutant else "-"
            return 0.0, *self._run(name, others, Path.cwd(), {}, first)
        with shop.built(mutant):
            begin = time.monotonic()
            if failed := shop.tested(crates):
                return 0.0, 0.0, Kill(1, "the crates' own tests", "difference", failed)
            seconds = time.monotonic() - begin
            more = {"PYTHONPATH": shop.import_path}
            return seconds, *self._run("-", others, shop.project, more, first)

    def _run(
        self,
        mutant: str,
        limit: float,
        project: Path,
        more: dict[str, str],
        first: Sequence[str],
    ) -> tuple[float, Kill | None]:
        with tempfile.TemporaryDirectory(prefix="twinstep-own-") as folder:
            out, log = Path(folder) / "found.json", Path(folder) / "log"
            command = [sys.executable, "-m", __name__, self._env, self._ref.name, mutant, str(out)]
            # Without a bug there is no limit yet.
            command += [str(self._answers), "no" if any(self.limits) else "yes", *first]
            ended = processes.run(command, project, os.environ | more, limit, log)
            if ended.timed_out:
                return ended.seconds, Kill(1, "own tests", "time", f"not done after {limit:g} s")
            if not out.is_file():
                last = (ended.said.strip().splitlines() or [f"exit code {ended.code}"])[-1]
                return ended.seconds, Kill(1, "own tests", "crash", last[:200])
            kill = json.loads(out.read_text())
            return ended.seconds, Kill(**kill) if kill else None


def packages(env: str) -> list[str]:
    """Return the packages of the suite that hold an environment's own tests."""
    named = [f"twinstep.{suite}.{env}" for suite in _SUITES]
    there = [name for name in named if importlib.util.find_spec(name) is not None]
    return [name for name in there if any(package_folder(name).glob("test_*.py"))]


def groups(env: str, ref: CandidateRef, names: Sequence[str] = ()) -> list[list[str]]:
    """Return pytest's arguments for two runs: the suite's packages, and a candidate's own tests.

    The latter come first if the first of `names` is one of them.
    """
    chosen = ["-m", "not slow and not level4", "--env", env, "--candidate", ref.name]
    runs = [[*chosen, "--pyargs", *packages(env)], ["--pyargs", *ref.tests]]
    if names and names[0].startswith(_CORES):
        runs.reverse()
    return [words for words in runs if words[-1] != "--pyargs"]


def from_the_root(name: str) -> str:
    """Return a test's name relative to the repository's root, whatever it is relative to.

    Installed, or reached through links, the suite's folders lie elsewhere.
    """
    places = [
        (match.end(), folder)
        for folder in (*(f"{suite}/" for suite in _SUITES), _CORES)
        for match in re.finditer(rf"(^|(?<=/)){folder}", name.partition("::")[0])
    ]
    if not places:
        return name
    end, folder = max(places)
    return folder + name[end:]


def _name(item: pytest.Item) -> str:
    """Return a test's name from the root; pytest shortens the path of a file outside its own."""
    return from_the_root(f"{item.path.as_posix()}::{item.nodeid.partition('::')[2]}")


class _First:
    """A plugin that runs some tests first and records the first failure."""

    def __init__(self, names: Sequence[str]) -> None:
        self.kill: Kill | None = None
        self._places = {name: place for place, name in enumerate(names)}
        self._running: pytest.Item

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the tests in order."""
        items.sort(key=lambda item: self._places.get(_name(item), len(self._places)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Note the test of the coming reports."""
        self._running = item

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that cannot be imported."""
        if report.failed:
            self._keep(1, from_the_root(report.nodeid), "build", report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure, also of a fixture. A test without a level counts as level 1."""
        if report.failed:
            levels = [n for n in _LEVELS if self._running.get_closest_marker(f"level{n}")]
            level = levels[0] if levels else 1
            self._keep(level, _name(self._running), "difference", report.longreprtext)

    def _keep(self, level: int, name: str, how: str, text: str) -> None:
        lines = [line for line in text.splitlines() if line.startswith("E ")] or [text]
        if self.kill is None:
            line = lines[0].removeprefix("E ").strip().partition("\n")[0]
            self.kill = Kill(level, name, how, line[:200])


def _main(
    env: str, candidate: str, mutant: str, out: str, answers: str, learning: str, *names: str
) -> None:
    reference_side.FiledOracle = functools.partial(  # pyright: ignore[reportAttributeAccessIssue]
        FilingOracle, Path(answers), learning == "yes"
    )
    ref = next(r for r in registry.environment(env).candidates if r.name == candidate)
    bug = None
    if mutant != "-":
        (bug,) = (m for m in all_mutants(ref) if m.id == mutant)
    # Equal examples for every bug, whatever Hypothesis has stored for earlier ones.
    hypothesis.settings.register_profile("own tests", derandomize=True)
    hypothesis.settings.load_profile("own tests")
    first = _First(names)
    # This process has imported twinstep before pytest could rewrite its assertions.
    quiet = [
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    folder = Path(out).parent
    quiet += ["--verdict", str(folder / "verdict.json"), "--report-dir", str(folder / "reports")]
    with planted(ref, bug):
        if bug is not None:
            # Now: pytest loads modules of a plugin's distribution with a finder of its own.
            importlib.import_module(bug.module)
        for words in groups(env, ref, names):
            if first.kill is not None:
                break
            code = pytest.main([*quiet, *words], plugins=[first])
            if first.kill is None and code not in _GOOD:
                raise SystemExit(f"pytest ended with {int(code)}")
    Path(out).write_text(json.dumps(vars(first.kill) if first.kill else {}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
