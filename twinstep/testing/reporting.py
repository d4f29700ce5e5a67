"""Write .twinstep/verdict.json and the failure reports; print a run's last lines.

Under pytest-xdist this is the controller's part: workers attach plain data to their test reports,
and only this side writes files. A run with workers and one without give the same bytes, except for
the command that the verdict names.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from twinstep import __version__
from twinstep._lib import machine, paths
from twinstep.diagnosis import markdown, report
from twinstep.project.registry import Pair
from twinstep.project.verdicts import encode, versions
from twinstep.reference.cache import TraceCache, export
from twinstep.reference.ranges_seen import left_out
from twinstep.testing import accounting, github_actions, xdist
from twinstep.testing.run import RUN

REPORT = "twinstep_report"
NOTES = "twinstep_notes"
BROKEN = "twinstep_broken"
#: The variant whose reference gives what its contract forbids.
UNKEPT = "twinstep_unkept"
FAULT = "twinstep_fault"
#: What is taken off a test's report again.
_DATA = (REPORT, NOTES, BROKEN, UNKEPT)
TROUBLE = "twinstep_trouble"
CHECKS = "twinstep_checks"
#: Beside no verdict: it may lie among a candidate's files, whose hash it names.
TIMES = Path(".twinstep/times.json")
#: So many ranges are named on the terminal; verdict.json has them all.
_RANGES = 6
_LEVELS = ("level1", "level2", "level3", "level4")


def text_of_failure(record: dict[str, Any], folder: str) -> str:
    """Return what pytest shows for a divergence: the report itself, no traceback."""
    return markdown.markdown(record, folder)


class VerdictWriter:
    """Collects results on the controller; writes reports and verdict.json at the end."""

    def __init__(
        self, config: pytest.Config, pairs: list[Pair], checks: dict[str, dict[str, str]]
    ) -> None:
        self._config = config
        self._checks = checks
        self._known = pairs
        self._folder = Path(config.option.twinstep_reports)
        self._records: dict[str, dict[str, Any]] = {}
        self._pairs: dict[str, dict[str, Any]] = {}
        self._times: dict[str, float] = {}
        self._broken: Counter[str] = Counter()
        self._unkept: set[str] = set()
        self._unnoted: list[tuple[str, str, str]] = []
        self._outcomes: dict[str, str] = {}
        self._why: dict[str, str] = {}
        self._collected: set[str] = set()
        self._ended: set[str] = set()
        self._complete = True
        self._trouble = ""
        self._keys: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Note which tests are to run."""
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Note which tests are to run: under xdist only the workers collect."""
        self._expect(ids)

    def _expect(self, ids: Iterable[str]) -> None:
        """Remove the verdict of the run before: a run that dies must not leave it standing.

        It stays where no test is about a candidate.
        """
        self._collected.update(ids)
        labels = self._labels()
        about = any(xdist.group(test, labels) in labels for test in self._collected)
        if about and not self._config.option.collectonly:
            with contextlib.suppress(OSError):
                Path(self._config.option.twinstep_verdict).unlink()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the attached data, and off the report: it is too large for JUnit's file."""
        attached: dict[str, Any] = dict(report.user_properties)
        record, notes = attached.get(REPORT), attached.get(NOTES)
        kept = [(n, v) for n, v in report.user_properties if n not in _DATA]
        if record is not None:
            self._keep(record)
            kept.append(("twinstep", f"{self._folder}/{record['id']}.json"))
        report.user_properties = kept
        self._unkept |= {attached[UNKEPT]} if UNKEPT in attached else set()
        if BROKEN in attached and report.outcome == "failed":
            self._broken[attached[BROKEN]] += 1
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[report.nodeid] = _outcome(report)
            if report.outcome == "failed":
                said = attached.get(BROKEN) or _last_words(report.longreprtext)
                self._why[report.nodeid] = f"report {record['id']}" if record else said
        if report.when != "setup" or report.outcome != "passed":
            self._ended.add(report.nodeid)
        if report.when == "call":
            self._times[report.nodeid] = round(report.duration, 3)
        if notes is not None and (report.when == "call" or report.outcome != "passed"):
            self._count(notes, report)
        elif notes is None and report.outcome == "failed":
            level = next((n for n in report.keywords if n in _LEVELS), "lost")
            self._unnoted.append((report.nodeid, level, _outcome(report)))

    def _keep(self, record: dict[str, Any]) -> None:
        self._records[record["id"]] = record
        try:
            markdown.write(record, self._folder)
        except OSError as error:
            self._trouble = f"the report cannot be written to {self._folder} ({error.strerror})"

    def _count(self, notes: dict[str, Any], test: pytest.TestReport) -> None:
        pair = self._pairs.setdefault(notes["pair"], accounting.new_pair(notes))
        coverage = notes.get("coverage")
        if coverage:
            self._keys.add(coverage["key"])
        accounting.count(pair, notes, _outcome(test))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker found wrong with the run as a whole."""
        output = getattr(node, "workeroutput", {})
        self._trouble = output.get(TROUBLE, self._trouble)
        # Every worker collects every test: all of them say the same.
        self._checks.update(output.get(CHECKS, {}))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files. A run that could not say what it found has not passed."""
        ended = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        self._complete = session.exitstatus in ended and not session.shouldstop
        if not self._config.option.collectonly:
            self._count_lost()
        if self._pairs:
            self._write_verdict()
        if self._trouble and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _count_lost(self) -> None:
        """Count what came without notes, and what was to run and did not.

        A failure has none if the worker died, if the lab's set-up failed, or if the test asks
        the oracle alone: then nothing is proved of any candidate of the subject.
        """
        for test, level, outcome in self._unnoted:
            pairs, alone = self._pairs_of(test)
            for pair in pairs:
                accounting.count_outcome(pair, level, "errors" if alone else outcome)
        for test in sorted(self._collected - self._ended):
            for pair in self._pairs_of(test)[0]:
                pair["not_run"] += 1

    def _labels(self) -> set[str]:
        return {label for pair in self._known for label in (pair.label, pair.subject.label)}

    def _pairs_of(self, test: str) -> tuple[list[dict[str, Any]], bool]:
        """Return the entries that a test id belongs to, and whether it asks the oracle alone."""
        label = xdist.group(test, self._labels())
        mine = [pair for pair in self._known if pair.label == label]
        found = mine or [pair for pair in self._known if pair.subject.label == label]
        return [self._entry(pair) for pair in found], not mine

    def _entry(self, pair: Pair) -> dict[str, Any]:
        if pair.label not in self._pairs:
            option = self._config.option
            facts = accounting.facts_of(pair, option.twinstep_seeds, bool(option.twinstep_traces))
            self._pairs[pair.label] = accounting.new_pair(facts)
        return self._pairs[pair.label]

    def _finished(self) -> dict[str, dict[str, Any]]:
        return {
            label: accounting.finished(pair, self._complete)
            | self._not_reached(label, pair)
            | self._applicable(label)
            | self._nothing_said(label)
            for label, pair in sorted(self._pairs.items())
        }

    def _nothing_said(self, label: str) -> dict[str, str]:
        """Return the word for a pair whose reference does not keep the contract, {} for others."""
        of = {known.subject.label for known in self._known if known.label == label}
        word = "not verified: the reference breaks its contract"
        return {"verdict": word} if of & self._unkept else {}

    def _not_reached(self, label: str, pair: dict[str, Any]) -> dict[str, Any]:
        """Return the state's declared ranges of which recorded episodes left out a part."""
        of = [known.subject.contract for known in self._known if known.label == label]
        return {"not_reached": left_out(of[0], pair["ranges"]) if of else []}

    def _applicable(self, label: str) -> dict[str, Any]:
        """Return the checks that apply to a pair, and of each other one the condition it lacks.

        A check that applies with some parameters is among both: with the others it is `check[row]`.
        """
        known = self._checks.get(label, {})
        checks = sorted(
            (name, reason)
            for name, reason in known.items()
            if "[" not in name or not known.get(name.partition("[")[0])
        )
        return {
            "applies": [name for name, reason in checks if not reason],
            "does_not_apply": {name: reason for name, reason in checks if reason},
        }

    def _write_verdict(self) -> None:
        """Write verdict.json and, apart from it, the times."""
        times = json.dumps(dict(sorted(self._times.items())), indent=1) + "\n"
        with contextlib.suppress(OSError):  # nothing is proven by them
            paths.write_atomically(TIMES, times.encode())
        try:
            target = Path(self._config.option.twinstep_verdict)
            paths.write_atomically(target, encode(self.verdict()))
        except OSError as error:
            self._trouble = f"the verdict cannot be written ({error.strerror})"
        if self._config.option.twinstep_export:
            self._export(Path(self._config.option.twinstep_export))

    def _export(self, path: Path) -> None:
        cache = TraceCache()
        sets = [held for key in sorted(self._keys) if (held := cache.find(key)) is not None]
        if len(sets) < len(self._keys) or not sets:
            self._trouble = f"{path} is not written: this run's traces are not in the cache"
            return
        try:
            export(sets, path)
        except OSError as error:
            self._trouble = f"{path} cannot be written ({error.strerror})"

    def verdict(self) -> dict[str, Any]:
        """Return the verdict: what was verified, on what, how, and how it ended."""
        nonce = self._config.option.twinstep_nonce
        return {
            **({"run": self._run(nonce)} if nonce else {}),
            "schema": 1,
            "twinstep": __version__,
            **machine.made(),
            "versions": versions(),
            "command": shlex.join(["pytest", *self._config.invocation_params.args]),
            "pairs": self._finished(),
            "reports": sorted(self._records),
        }

    def _run(self, nonce: str) -> dict[str, Any]:
        """Say what became of each test of this very run, and of each that failed why."""
        lost = dict.fromkeys(sorted(self._collected - self._ended), "not run")
        facts = self._config.stash[RUN].facts(self._config)
        return {
            "nonce": nonce,
            "ended": self._complete,
            "unknown": sorted(label for label, each in facts.items() if each.candidate is None),
            "tests": dict(sorted((lost | self._outcomes).items())),
            "why": dict(sorted(self._why.items())),
        }

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Iterator[None]:
        """Print coverage and verdict, then, last, what to do about each bug."""
        out = terminalreporter
        yield  # pytest's own list of failures comes before it
        if self._pairs:
            out.section("twinstep")
            for line in self._lines():
                out.write_line(line)
        for text, tests in sorted(self._broken.items()):
            out.write_line("")
            out.write_line(text, red=True)
            out.write_line(f"  {tests} test{'s' * (tests > 1)} ended so")
            _print_annotation(out, text)
        for cluster in self._clusters():
            self._print_cluster(out, cluster)
        if self._trouble:
            out.write_line(f"twinstep: {self._trouble}", red=True)

    def _lines(self) -> list[str]:
        lines = []
        shown: set[tuple[str, str]] = set()
        for label, pair in self._finished().items():
            counts = " ".join(
                f"{name}: {_counts(level)}" for name, level in sorted(pair["levels"].items())
            )
            built = f" ({pair['dtype']} on {pair['platform']})" if pair["dtype"] else ""
            lines.append("; ".join(filter(None, (f"{label}{built}: {pair['verdict']}", counts))))
            if pair["not_run"] or (pair["compared"] and pair["missing"]):
                lines.append(f"    not compared: {', '.join(pair['missing'])}")
            lines += [f"    {pair['starts']}"] if pair["starts"] else []
            lines += [f"    never seen: {what}" for what in pair["never_seen"]]
            lines += [f"    {line}" for line in (*pair["never_taken"], *pair["lines"])]
            if far := pair["not_reached"]:
                some = far if len(far) <= _RANGES else [*far[:_RANGES], "..."]
                all_ = f"{len(far)} of the {len(pair['ranges'])} declared ranges of the state"
                lines.append(f"    reached in part, {all_}: {', '.join(some)}")
            for name, value in sorted(pair["numbers"].items()):
                lines.append(f"    {name}: {value if isinstance(value, str) else f'{value:.6g}'}")
            subject = label.rpartition("-")[0]
            for driver, seen in sorted(pair["drivers"].items()):
                if (subject, driver) not in shown:
                    shown.add((subject, driver))
                    lines.append(f"    {driver}: {_coverage(seen)}")
        return lines

    def _clusters(self) -> list[list[dict[str, Any]]]:
        """Group reports of one bug: same candidate, same first suspect; the simplest case first.

        Reports of a sentence alone belong to the candidate's first bug that has a case: a wrong
        step fails a dozen tests of what ships, and none of these shows how.
        """
        groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
        for record in self._records.values():
            known = record["suspects"] and report.has_case(record)
            suspect = record["suspects"][0]["module"] if known else ""
            mine = groups.setdefault((record["environment"], record["candidate"]), {})
            mine.setdefault(suspect, []).append(record)
        clusters = []
        for _, found in sorted(groups.items()):
            bare = found.pop("", [])
            ordered = sorted((sorted(group, key=_simplest) for group in found.values()), key=_first)
            if not ordered:
                ordered = [[]]
            ordered[0] += sorted(bare, key=_simplest)
            clusters += ordered
        return clusters

    def _print_cluster(self, out: Any, cluster: list[dict[str, Any]]) -> None:
        best = cluster[0]
        head = report.headline(best)
        suspect = best["suspects"][0] if best["suspects"] else {"module": "", "place": ""}
        where = f" ({suspect['place']})" if suspect["place"] else ""
        module = f"module {suspect['module']}{where}; " if suspect["module"] else ""
        more = f" and {len(cluster) - 1} more of it" if len(cluster) > 1 else ""
        out.write_line("")
        out.write_line(head, red=True)
        out.write_line(f"  {module}report {self._folder}/{best['id']}.md{more}")
        if report.has_case(best):
            out.write_line(f"  twinstep replay {self._folder}/{best['id']}.json")
        _print_annotation(out, head, suspect["place"])
        try:
            github_actions.add_to_job(markdown.markdown(best, str(self._folder)))
        except OSError as error:
            self._trouble = f"the job's page cannot be written ({error.strerror})"


def _print_annotation(out: Any, text: str, place: str = "") -> None:
    if line := github_actions.annotation(text, place):
        out.write_line(line)


def _outcome(test: pytest.TestReport) -> str:
    if hasattr(test, "wasxfail"):
        return "expected_failures"
    faulty = any(name == FAULT for name, _ in test.user_properties)
    return "errors" if test.outcome == "failed" and faulty else test.outcome


def _last_words(failure: str) -> str:
    """Return the last line of a failure's text that says something; a group ends in a rule."""
    lines = [line.strip(" |") for line in failure.splitlines()]
    return next((line for line in reversed(lines) if line.strip("+-")), "it failed without a word")


def _counts(level: dict[str, int]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in level.items() if n)


def _coverage(seen: dict[str, Any]) -> str:
    ends = [f"{seen[n]} {n}" for n in ("terminated", "truncated", "cut") if seen[n]]
    text = f"{seen['episodes']} episodes, {seen['steps']} steps ({', '.join(ends)})"
    least, middle, most = seen["lengths"]
    many = f"{least} to {most} in one, median {middle:g}"
    text += f", {many}" if least != most else f", {least} in each"
    measures = [f"{name} {value:g}" for name, value in sorted(seen["measures"].items())]
    events = seen["events"]
    if events:
        never = sorted(name for name, count in events.items() if not count)
        text += f"; events {len(events) - len(never)}/{len(events)}"
        if never:
            text += f", never {', '.join(never)}"
    return "; ".join([text, *measures])


def _simplest(record: dict[str, Any]) -> tuple[Any, ...]:
    """Order reports: those with a difference to show first, then by level and length.

    A state at a limit or of a search comes after any other: that it is one seems to matter. Of the
    rest, one that names a term of the reward is first.
    """
    steps = sum(count for _, count in record["case"]["actions"])
    return (
        not (record["diff"] or record.get("raised")),
        record["context"]["level"],
        steps,
        any(name in record["context"]["test"] for name in ("test_limits", "test_extremes")),
        not record.get("term"),
        record["id"],
    )


def _first(cluster: list[dict[str, Any]]) -> tuple[Any, ...]:
    return _simplest(cluster[0])
