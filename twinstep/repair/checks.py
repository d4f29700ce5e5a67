"""Checks of a commit as journal entries, and the loop's view of these entries."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.diagnosis import markdown, regressions, report
from twinstep.project.commits import FILE, File
from twinstep.repair.attempt import Workbench, branch_of
from twinstep.repair.verifier import Result, Stage, Verifier

#: The file of the tests that repeat kept inputs.
REGRESSIONS = "test_regressions.py"


@dataclass(frozen=True)
class CheckResult:
    """A check as the journal holds it. The fields are those of verifier.Result."""

    stage: str
    good: bool
    passed: int
    failed: tuple[str, ...]
    why: dict[str, str]
    trouble: str
    reports: tuple[str, ...]
    suspect: str

    @property
    def summary(self) -> str:
        """`12 passed`, `3 of 15 fail`, or the problem of the check as a whole."""
        if self.trouble:
            return self.trouble.partition("\n")[0]
        tests = self.passed + len(self.failed)
        return f"{len(self.failed)} of {tests} fail" if self.failed else f"{self.passed} passed"

    def failed_of(self, module: str) -> bool:
        """Return True if a test of a module failed."""
        return any(_is_of(test, module) for test in self.failed)

    def worse_than(self, other: CheckResult) -> bool:
        """Return True if more tests fail than in another check of the same stage.

        Regressions do not count: each check adds some.
        """
        if bool(self.trouble) != bool(other.trouble):
            return bool(self.trouble)
        return self._failures() > other._failures()

    def _failures(self) -> int:
        return sum(REGRESSIONS not in test for test in self.failed)


def _is_of(test: str, module: str) -> bool:
    return test.endswith(f"-{module}]")


class Checks:
    """Runs the verifier and keeps its findings in the run's folder.

    base: the commit that the run began from.
    """

    def __init__(self, verifier: Verifier, bench: Workbench, base: str) -> None:
        self._verifier, self._bench, self.base = verifier, bench, base
        self._reports = bench.reports

    def run(self, commit: str, stage: Stage) -> dict[str, Any]:
        """Check a commit; return the journal's entry."""
        violations = self._verifier.screened(commit)
        if violations:
            lines = "\n".join(violations[:20])
            result = Result(trouble=f"refused before it was run: {lines}")
        else:
            result = self._verifier.check(commit, self.base, stage)
        for record in result.reports:
            place = (self._bench.run / "holdout" if stage.hidden else self._reports) / record["id"]
            paths.write_atomically(place.with_suffix(".json"), report.encode(record))
            with contextlib.chdir(self._bench.project):
                text = markdown.markdown(record)
            paths.write_atomically(place.with_suffix(".md"), text.encode())
        public = [] if stage.hidden else result.reports
        if result.good and stage == Stage((1, 2, 3)):
            paths.write_atomically(self._bench.run / "verdict.json", result.verdict_bytes)
        suspects = [s["module"] for record in public for s in record["suspects"][:1]]
        return {
            "commit": commit,
            "files": self._bench.commits.digest(commit),
            "stage": stage.name,
            "phase_levels": list(stage.levels),
            "seeds": stage.seeds,
            "good": result.good,
            "passed": result.passed,
            "skipped": sum(outcome == "skipped" for outcome in result.tests.values()),
            "failed": result.failed,
            "why": {test: said[:500] for test, said in result.why.items()},
            "trouble": result.trouble,
            "levels": result.levels(),
            "reports": [record["id"] for record in public],
            "suspect": suspects[0] if suspects else "",
            "seconds": result.seconds,
            "traces": self._verifier.cached,
        }

    def found(self, entry: dict[str, Any]) -> CheckResult:
        """Return the check of an entry."""
        self._verifier.cached = entry["traces"]
        return CheckResult(
            entry["stage"],
            entry["good"],
            entry["passed"],
            tuple(entry["failed"]),
            entry["why"],
            entry["trouble"],
            tuple(entry["reports"]),
            entry["suspect"],
        )

    def text(self, found: CheckResult, module: str) -> str:
        """Return the part of a prompt about a check: one report, the module's own if there is one.

        If the module's own tests failed without a report, for example in a panic, their messages:
        another module's report would mislead the agent.
        """
        records = [(name, report.read(self._reports / f"{name}.json")) for name in found.reports]
        mine = [
            name
            for name, record in records
            if module in [s["module"] for s in record["suspects"][:1]]
            or record["case"].get("module") == module
        ]
        why = [said for test, said in found.why.items()
               if _is_of(test, module) and not said.startswith("report ")]  # fmt: skip
        others = [] if why else found.reports
        for name in [*mine, *others][:1]:
            return (self._reports / f"{name}.md").read_text()
        if found.trouble:
            return found.trouble
        lines = dict.fromkeys(why or found.why.values())
        return "\n".join([f"{found.summary}:", *list(lines)[:10]])

    def counts(self, found: CheckResult) -> str:
        """Return the only fact about hidden seeds that may be shown: the number of failed tests."""
        return f"Episodes with hidden seeds: {found.summary}. Their values are not shown."

    def keep(self, commit: str, names: list[str]) -> str:
        """Commit these reports' inputs as regressions; return the commit."""
        bench = self._bench
        bench.show(commit)
        files: dict[str, File | None] = {}
        for name in names:
            record = report.read(self._reports / f"{name}.json")
            if report.has_case(record):
                note = f"{bench.run.name}: found by its checks"
                for path in regressions.keep(record, bench.project, note):
                    inner = path.relative_to(bench.project).as_posix()
                    files[inner] = File(FILE, path.read_bytes())
        message = f"regressions: {', '.join(names)}"
        return bench.show(bench.commits.commit(commit, files, message))

    def needs_person(self, why: str, found: str) -> Path:
        """Write down the decision that a person has to make; return the file."""
        path = self._bench.run / "needs-human.md"
        text = (
            f"# {self._bench.run.name} needs a person\n\n{why}.\n\n"
            f"What the last check said:\n\n{found}\n\n"
            "To decide: whether the prompt lacks something the agent cannot know, whether the "
            "module should be cut in two, or whether the contract says what the reference does "
            "not do. The tries' prompts and logs lie in `tries/`, their commits on the branch "
            f"`{branch_of(self._bench.run)}`.\n\n"
            f"Then: `twinstep repair --resume {self._bench.run.name} --more-tries 5`\n"
        )
        paths.write_atomically(path, text.encode())
        return path

    def forget(self) -> None:
        """Delete the recorded traces."""
        shutil.rmtree(self._bench.run / "cache", ignore_errors=True)
