"""Run the suite on an agent's files in a folder the agent never saw, and trust nothing else.

Each check unpacks the commit afresh. The agent's files are screened before anything imports them,
and the candidate runs in a process of its own (`--isolate`). A verdict counts only with this
check's nonce and with every test that the base's own collection expects.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twinstep.diagnosis import report
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project import processes, registry
from twinstep.project.commits import Commits
from twinstep.project.source_hash import cache_hash
from twinstep.project.verdicts import encode
from twinstep.project.workspace import import_path, may_edit, snapshot, with_references
from twinstep.repair.boundaries import clash, new_names
from twinstep.runner.candidate_view import SHOWN_AT
from twinstep.runner.screening import screen

SUITE = (
    "twinstep.properties", "twinstep.interactions", "twinstep.rollouts", "twinstep.transfer",
)  # fmt: skip
#: Prefixes of variables that would change the suite or its search path for packages.
_UNKNOWN = ("PYTEST_", "PYTHON", "TWINSTEP_", "COV_", "GITHUB_", "CI")


@dataclass(frozen=True)
class Stage:
    """The tests of a check.

    levels: numbers. modules: only their tests; () for all. seeds: public, tree or holdout; or
    shipped, hidden ones that no check knew before, for a user's own program alone.
    """

    levels: tuple[int, ...]
    modules: tuple[str, ...] = ()
    seeds: str = "public"

    @property
    def name(self) -> str:
        """`level 1 of ball`, `levels 1 to 3 with tree seeds`."""
        if self.seeds == "shipped":
            return "a user's own program"
        first, last = self.levels[0], self.levels[-1]
        text = f"level {first}" if first == last else f"levels {first} to {last}"
        text += f" of {', '.join(self.modules)}" if self.modules else ""
        return text + (f" with {self.seeds} seeds" if self.seeds != "public" else "")

    @property
    def hidden(self) -> bool:
        """Whether an agent may see no value of it."""
        return self.seeds in ("holdout", "shipped")


@dataclass(frozen=True)
class Result:
    """The findings of a check.

    tests: id -> outcome. why: id -> message of a failed test. unknown: the pairs whose candidate
    could not be built, so that nobody knows what they offer. trouble: why the check as a whole is
    void, "" if it is valid. reports: records, those of lower levels first. verdict: without the
    run's own part.
    """

    tests: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    trouble: str = ""
    reports: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    verdict: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        """The tests that neither passed nor were skipped for a reason."""
        return [t for t, outcome in self.tests.items() if outcome not in ("passed", "skipped")]

    @property
    def passed(self) -> int:
        """Number of passed tests."""
        return sum(outcome == "passed" for outcome in self.tests.values())

    def levels(self) -> dict[str, dict[str, int]]:
        """Return level -> outcome -> number of tests, over all variants."""
        totals: dict[str, dict[str, int]] = {}
        for pair in self.verdict.get("pairs", {}).values():
            for level, counts in pair["levels"].items():
                counted = totals.setdefault(level, {})
                for outcome, count in counts.items():
                    counted[outcome] = counted.get(outcome, 0) + count
        return totals

    @property
    def verdict_bytes(self) -> bytes:
        """The bytes of the verdict file, as pytest writes it."""
        return encode(self.verdict)

    def does_not_apply(self, test: str) -> bool:
        """Return whether the verdict says that a pair offers not what a test of it is about."""
        name, _, inner = test.removesuffix("]").partition("[")
        for label, pair in self.verdict.get("pairs", {}).items():
            if inner != label and not inner.startswith(f"{label}-"):
                continue
            wanted = {name, f"{name}[{inner.removeprefix(label).removeprefix('-')}]"}
            # One of the two has the file's path from further out.
            if any(one == check or one.endswith(f"/{check}") or check.endswith(f"/{one}")
                   for one in wanted for check in pair["does_not_apply"]):  # fmt: skip
                return True
        return False

    @property
    def good(self) -> bool:
        """True if all tests passed, and there was at least one."""
        return not self.trouble and not self.failed and self.passed > 0


class Verifier:
    """Checks commits of one candidate.

    limit: seconds per check. key: the secret of holdout seeds. sandboxed: whether the agent runs
    behind walls. home: the user's own project folder, where a candidate believes to be.
    """

    def __init__(
        self,
        commits: Commits,
        env: str,
        candidate: CandidateRef,
        folder: Path,
        key: str,
        episodes: int,
        workers: int,
        limit: float,
        build: Callable[[Path], dict[str, str]],
        sandboxed: bool,
        home: Path,
    ) -> None:
        self._commits, self._env, self._candidate = commits, env, candidate
        self._folder, self._key = folder, key
        self._episodes, self._workers, self._limit = episodes, workers, limit
        self._build = build
        self._home = home
        # Compiled files beside the sources could have been planted, with their time and size, by an
        # agent without walls.
        compiled = {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
        self._bytecode = {} if sandboxed else compiled
        self._expected: dict[tuple[Stage, str], list[str]] = {}
        self._unknown: dict[tuple[Stage, str], tuple[str, ...]] = {}
        #: Hash of the traces that the last check left; "" if there was none.
        self.cached = ""

    def screened(self, commit: str) -> list[str]:
        """Return the screening's violations in a commit's editable files, a line each."""
        with tempfile.TemporaryDirectory(prefix="screen-", dir=self._folder) as scratch:
            project = self._commits.unpack(commit, Path(scratch))
            files = [project / p for p in snapshot(project) if may_edit(self._candidate.edit, p)]
            if not files:
                return []
            return [str(r) for r in screen(project, files, self._candidate.packages)]

    def check(self, commit: str, base: str, stage: Stage) -> Result:
        """Run a stage on a commit. base: the commit whose collection lists the expected tests."""
        self._drop_foreign_traces()
        with_references(self._cache)
        result = self._checked(commit, base, stage)
        if not result.good:
            return result
        missing = sorted(set(self._expect(base, stage)) - result.tests.keys())
        # What was known of a pair at the base still has to run.
        known = [test for test in missing if not self._unknown_at(base, stage, test)]
        if known or not all(map(result.does_not_apply, missing)):
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            return Result(trouble=f"{missing[0]}{more} did not run", seconds=result.seconds)
        return result

    def _checked(self, commit: str, base: str, stage: Stage) -> Result:
        with tempfile.TemporaryDirectory(prefix="check-", dir=self._folder) as scratch:
            project = self._checkout(commit, Path(scratch) / "tree")
            edit = self._candidate.edit
            if names := new_names(self._commits, project, commit, base, edit):
                return Result(trouble=f"refused before it was run: `{names[0]}` is a new name on "
                              "the search path, where it could stand for a package that is "
                              "installed: put it inside a package of yours")  # fmt: skip
            if (pair := clash(self._commits.paths(commit))) != clash(self._commits.paths(base)):
                return Result(trouble=f"refused before it was run: {pair} are one file on systems "
                              "where case does not count: rename one")  # fmt: skip
            out = Path(scratch) / "out"
            out.mkdir()
            result = self._run(project, out, stage)
            self.cached = cache_hash(self._cache)
        return result

    def _labels(self) -> list[str]:
        """Return the labels of the candidate's pairs."""
        env = registry.environment(self._env)
        subjects = registry.subjects(env, {})
        pairs = [p for one in subjects for p in registry.pairs(one, [self._candidate.name])]
        return [pair.label for pair in pairs]

    def _unknown_at(self, base: str, stage: Stage, test: str) -> bool:
        """Return whether a test is of a pair whose candidate cannot be built at the base.

        Then the checks of every optional method are collected for it, and a try that offers fewer
        has lost none. Where the base offers a method, a try keeps it.
        """
        if (stage, base) not in self._unknown:
            self._unknown[stage, base] = self._checked(base, base, stage).unknown
        label = test.partition("[")[2]
        return any(label == one or label.startswith((f"{one}-", f"{one}]"))
                   for one in self._unknown[stage, base])  # fmt: skip

    @contextlib.contextmanager
    def placed(self, commit: str) -> Iterator[tuple[Path, dict[str, str]]]:
        """Check out and build a commit; yield its project folder and its environment variables.

        UserError if it does not compile.
        """
        with_references(self._cache)
        with tempfile.TemporaryDirectory(prefix="check-", dir=self._folder) as scratch:
            project = self._checkout(commit, Path(scratch) / "tree")
            yield project, self._own_variables(project) | self._build(project)

    def _checkout(self, commit: str, folder: Path) -> Path:
        folder.mkdir()
        project = self._commits.unpack(commit, folder)
        for glob in self._candidate.edit:
            # Commits hold no empty folders, and the package must be found.
            (project / (glob.partition("*")[0] + "x")).parent.mkdir(parents=True, exist_ok=True)
        return project

    @property
    def _cache(self) -> Path:
        return self._folder / "cache"

    def _drop_foreign_traces(self) -> None:
        """Delete the cache if it is not as the last check left it, or if a check was killed."""
        if self._cache.exists() and cache_hash(self._cache) != self.cached:
            shutil.rmtree(self._cache)

    def _arguments(self, stage: Stage) -> list[str]:
        levels = " or ".join(f"level{level}" for level in stage.levels)
        words = ["--env", self._env, "--candidate", self._candidate.name]
        words += ["--seeds", "holdout" if stage.hidden else stage.seeds]
        words += ["--episodes", str(self._episodes)]
        if stage.seeds == "shipped":
            words += ["-m", f"({levels}) or slow", "-k", "users_own_program"]
        else:
            words += ["-m", levels]
        words += [word for module in stage.modules for word in ("--module", module)]
        return [*words, "--require-oracles", "--isolate"]

    def _command(self, project: Path, *args: str) -> list[str]:
        settings = str(project / "pyproject.toml")
        words = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        # The same examples each time: otherwise a try without changes could look worse.
        words += ["--hypothesis-seed=0"]
        return [*words, "-c", settings, "--rootdir", str(project), *args, "--pyargs", *SUITE]

    def _variables(self, project: Path, stage: Stage) -> dict[str, str]:
        variables = {n: v for n, v in os.environ.items() if not n.startswith(_UNKNOWN)}
        variables |= self._own_variables(project)
        key = self._key + ("/shipped" if stage.seeds == "shipped" else "")
        return variables | ({"TWINSTEP_HOLDOUT_KEY": key} if stage.hidden else {})

    def _own_variables(self, project: Path) -> dict[str, str]:
        return {
            SHOWN_AT: os.pathsep.join([str(project.resolve()), str(self._home)]),
            "PYTHONPATH": import_path(project),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TWINSTEP_CACHE": str(self._cache),
            **self._bytecode,
        }

    def _expect(self, base: str, stage: Stage) -> list[str]:
        """Return the tests that the base's own files collect, without any file of an agent."""
        tests = self._expected.get((stage, base))
        if tests is None:
            with tempfile.TemporaryDirectory(prefix="expect-", dir=self._folder) as scratch:
                project = self._checkout(base, Path(scratch) / "tree")
                args = [*self._arguments(stage), "--collect-only"]
                env = self._variables(project, stage)
                log = Path(scratch) / "collect.log"
                done = processes.run(self._command(project, *args), project, env, 600, log)
                tests = [line for line in done.said.splitlines() if "::" in line]
                if done.code or not tests:
                    last = (done.said.strip().splitlines() or ["nothing was printed"])[-1]
                    raise UserError(f"the suite cannot be collected for {stage.name}: {last}")
            self._expected[stage, base] = tests
        return tests

    def _run(self, project: Path, out: Path, stage: Stage) -> Result:
        nonce = secrets.token_hex(16)
        env = self._variables(project, stage)
        try:
            env |= self._build(project)
        except UserError as error:
            return Result(trouble=str(error), unknown=tuple(self._labels()))
        args = [*self._arguments(stage), "--nonce", nonce]
        args += ["--verdict", str(out / "verdict.json"), "--report-dir", str(out / "reports")]
        args += ["-n", str(self._workers), "--dist", "loadgroup"] if self._workers > 1 else []
        log = self._folder / "check.log"
        done = processes.run(self._command(project, *args), project, env, self._limit, log)
        if done.timed_out:
            return Result(trouble=f"it took more than {self._limit:g} s", seconds=done.seconds)
        try:
            verdict = json.loads((out / "verdict.json").read_text())
            run = verdict.pop("run")
            if run["nonce"] != nonce:
                return Result(trouble="the verdict is of another run", seconds=done.seconds)
            if not run["ended"]:
                return Result(trouble="the run did not end", seconds=done.seconds)
            return Result(
                run["tests"],
                run["why"],
                tuple(run["unknown"]),
                reports=_reports(out / "reports", run["why"]),
                seconds=done.seconds,
                verdict=verdict,
            )
        except (OSError, ValueError, KeyError) as error:
            last = (done.said.strip().splitlines() or ["it printed nothing"])[-1]
            why = f"the run left no verdict (exit code {done.code}: {last}; {type(error).__name__})"
            # No candidate in a process of its own can end the run: it is this machine, and an agent
            # would be paid for what it cannot mend.
            raise UserError(f"{stage.name} cannot be checked here: {why}") from error


def _reports(folder: Path, why: dict[str, str]) -> list[dict[str, Any]]:
    """Return the records of the failed tests' reports, those of lower levels first.

    A record without a case, as of a user's own program, is left out where another has one: it shows
    an agent less, and what it says is of a batch drawn anew.
    """
    names = dict.fromkeys(said.split()[1] for said in why.values() if said.startswith("report "))
    records = [report.read(folder / f"{name}.json") for name in names]
    records = [record for record in records if report.has_case(record)] or records
    return sorted(records, key=lambda record: record["context"]["level"])
