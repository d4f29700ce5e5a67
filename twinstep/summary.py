"""What the controller makes of all results: reports, the verdict, the last lines.

Workers attach plain data to their test reports; only this side writes files, so a run under
xdist and one without give the same bytes.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from twinstep import __version__, github, paths, report
from twinstep.cache import TraceCache, export
from twinstep.harness import Lab
from twinstep.verdicts import sources_hash

REPORT = "twinstep_report"
NOTES = "twinstep_notes"
BROKEN = "twinstep_broken"
TROUBLE = "twinstep_trouble"


def notes_of(lab: Lab) -> dict[str, Any]:
    """Return what the verdict says of a test's pair, as plain data."""
    subject = lab.pair.subject
    made = lab.built
    return {
        "pair": lab.pair.label,
        "environment": subject.env.name,
        "variant": subject.variant.name,
        "candidate": lab.pair.candidate.name,
        "contract": subject.contract.version,
        "contract_digest": subject.contract.digest(),
        "params": {k: subject.contract.params[k] for k in sorted(subject.contract.params)},
        "oracle": subject.env.oracle.title,
        "pins": dict(subject.probe.pins),
        "dtype": made.dtype if made else "",
        "platform": made.platform if made else "",
        "gates": {path: repr(gate) for path, gate in lab.rules.gates.items()} if made else {},
        "owed": _owed(lab) if made else [],
        "sources": sources_hash(lab.pair.candidate),
        "seeds": lab.reference.harness.settings.seeds,
        "imported": bool(lab.reference.harness.imported),
        "level": lab.level,
        **lab.notes,
    }


def text_of_failure(record: dict[str, Any], folder: str) -> str:
    """Return what pytest shows for a divergence: the report itself, no traceback."""
    return report.markdown(record, folder)


class Summary:
    """Collects on the controller and writes at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = Path(config.option.twinstep_reports)
        self._records: dict[str, dict[str, Any]] = {}
        self._pairs: dict[str, dict[str, Any]] = {}
        self._times: dict[str, float] = {}
        self._broken: Counter[str] = Counter()
        self._trouble = ""
        self._keys: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the attached data, and off the report: it is too large for JUnit's file."""
        attached: dict[str, Any] = dict(report.user_properties)
        record, notes = attached.get(REPORT), attached.get(NOTES)
        kept = [(n, v) for n, v in report.user_properties if n not in (REPORT, NOTES, BROKEN)]
        if record is not None:
            self._keep(record)
            kept.append(("twinstep", f"{self._folder}/{record['id']}.json"))
        report.user_properties = kept
        if BROKEN in attached and report.outcome == "failed":
            self._broken[attached[BROKEN]] += 1
        if report.when == "call":
            self._times[report.nodeid] = round(report.duration, 3)
        if notes is not None and (report.when == "call" or report.outcome != "passed"):
            self._count(notes, report)

    def _keep(self, record: dict[str, Any]) -> None:
        self._records[record["id"]] = record
        try:
            report.write(record, self._folder)
        except OSError as error:
            self._trouble = f"the report cannot be written to {self._folder} ({error.strerror})"

    def _count(self, notes: dict[str, Any], test: pytest.TestReport) -> None:
        pair = self._pairs.setdefault(notes["pair"], _new_pair(notes))
        for name in ("dtype", "platform", "gates", "owed"):
            pair[name] = pair[name] or notes[name]
        level = pair["levels"].setdefault(
            f"level{notes['level']}",
            {"passed": 0, "failed": 0, "skipped": 0, "expected_failures": 0},
        )
        if hasattr(test, "wasxfail"):
            level["expected_failures"] += 1
        else:
            level[test.outcome] += 1
        coverage = notes.get("coverage")
        if coverage:
            self._keys.add(coverage["key"])
        if coverage and notes["level"] == 3 and "test_episodes_match" in test.nodeid:
            pair["drivers"][coverage["driver"]] = {
                name: value for name, value in coverage.items() if name not in ("driver", "key")
            }
        if test.outcome == "passed" and not hasattr(test, "wasxfail"):
            for name in ("compared", "auto_reset", "batches"):
                pair[name] = sorted({*pair[name], *notes.get(name, [])})
        for name, value in notes.get("numbers", {}).items():
            pair["numbers"][name] = value

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker found wrong with the run as a whole."""
        self._trouble = getattr(node, "workeroutput", {}).get(TROUBLE, self._trouble)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files. A run that could not say what it found has not passed."""
        if self._pairs:
            self._write_verdict()
        if self._trouble and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _write_verdict(self) -> None:
        """Write verdict.json and, apart from it, the times."""
        try:
            target = Path(self._config.option.twinstep_verdict)
            paths.write_atomically(target, encode(self.verdict()))
            times = json.dumps(dict(sorted(self._times.items())), indent=1) + "\n"
            paths.write_atomically(target.with_name("times.json"), times.encode())
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
        pairs = {}
        for label, pair in sorted(self._pairs.items()):
            pair = {**pair, "levels": dict(sorted(pair["levels"].items()))}
            pair["drivers"] = dict(sorted(pair["drivers"].items()))
            pair["numbers"] = {name: _plain(n) for name, n in sorted(pair["numbers"].items())}
            pair["verdict"] = _word(pair)
            pairs[label] = pair
        return {
            "schema": 1,
            "twinstep": __version__,
            "versions": _versions(),
            "pairs": pairs,
            "reports": sorted(self._records),
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
        for label, pair in sorted(self._pairs.items()):
            counts = " ".join(
                f"{name}: {_counts(level)}" for name, level in sorted(pair["levels"].items())
            )
            built = f" ({pair['dtype']} on {pair['platform']})" if pair["dtype"] else ""
            lines.append(f"{label}{built}: {_word(pair)}; {counts}")
            missing = sorted(set(pair["owed"]) - set(pair["compared"]))
            if pair["compared"] and missing:
                lines.append(f"    not compared: {', '.join(missing)}")
            for name, value in sorted(pair["numbers"].items()):
                lines.append(f"    {name}: {value:.6g}")
            subject = label.rpartition("-")[0]
            for driver, seen in sorted(pair["drivers"].items()):
                if (subject, driver) not in shown:
                    shown.add((subject, driver))
                    lines.append(f"    {driver}: {_coverage(seen)}")
        return lines

    def _clusters(self) -> list[list[dict[str, Any]]]:
        """Group reports of one bug: same candidate, same first suspect."""
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for record in self._records.values():
            suspect = record["suspects"][0]["module"] if record["suspects"] else ""
            key = (record["environment"], record["candidate"], suspect)
            groups.setdefault(key, []).append(record)
        return [sorted(group, key=_simplest) for _, group in sorted(groups.items())]

    def _print_cluster(self, out: Any, cluster: list[dict[str, Any]]) -> None:
        best = cluster[0]
        head = report.headline(best)
        suspect = best["suspects"][0] if best["suspects"] else {"module": "?", "place": ""}
        where = f" ({suspect['place']})" if suspect["place"] else ""
        more = f" and {len(cluster) - 1} more of it" if len(cluster) > 1 else ""
        out.write_line("")
        out.write_line(head, red=True)
        out.write_line(
            f"  module {suspect['module']}{where}; report {self._folder}/{best['id']}.md{more}"
        )
        out.write_line(f"  twinstep replay {self._folder}/{best['id']}.json")
        _print_annotation(out, head, suspect["place"])
        try:
            github.add_to_job(report.markdown(best, str(self._folder)))
        except OSError as error:
            self._trouble = f"the job's page cannot be written ({error.strerror})"


def _print_annotation(out: Any, text: str, place: str = "") -> None:
    if line := github.annotation(text, place):
        out.write_line(line)


def encode(verdict: dict[str, Any]) -> bytes:
    """Return the verdict's bytes on disk."""
    return (json.dumps(verdict, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def _plain(number: float) -> float | str:
    """JSON has no infinity and no NaN; a candidate's error may be one."""
    return number if np.isfinite(number) else str(number)


def _new_pair(notes: dict[str, Any]) -> dict[str, Any]:
    left_out = ("pair", "level", "coverage")
    kept = {name: value for name, value in notes.items() if name not in left_out}
    lists = {"compared": [], "auto_reset": [], "batches": []}
    return kept | lists | {"levels": {}, "drivers": {}, "numbers": {}}


def _owed(lab: Lab) -> list[str]:
    """Return the level 3 comparisons without which a candidate is not verified."""
    rules = lab.rules
    kinds = ["lockstep"] if rules.lockstep() else []
    kinds += ["resync"] if rules.resync() or rules.windows() else []
    return sorted(f"{kind} {driver}" for kind in kinds for driver in lab.contract.drivers)


def _word(pair: dict[str, Any]) -> str:
    """Return the verdict in one word or two. Never `equal` beside a failure."""
    levels = pair["levels"]
    if any(level["failed"] for level in levels.values()):
        return "differs"
    if any(level["expected_failures"] for level in levels.values()):
        return "differs as expected"
    if not pair["compared"]:
        return "not verified"
    word = "equal in part" if set(pair["owed"]) - set(pair["compared"]) else "equal"
    return f"{word} (imported traces)" if pair["imported"] else word


def _counts(level: dict[str, int]) -> str:
    return ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in level.items() if n)


def _coverage(seen: dict[str, Any]) -> str:
    ends = [f"{seen[n]} {n}" for n in ("terminated", "truncated", "cut") if seen[n]]
    text = f"{seen['episodes']} episodes, {seen['steps']} steps ({', '.join(ends)})"
    measures = [f"{name} {value:g}" for name, value in seen["measures"].items()]
    events = seen["events"]
    if events:
        never = sorted(name for name, count in events.items() if not count)
        text += f"; events {len(events) - len(never)}/{len(events)}"
        if never:
            text += f", never {', '.join(never)}"
    return "; ".join([text, *measures])


def _simplest(record: dict[str, Any]) -> tuple[Any, ...]:
    steps = sum(count for _, count in record["case"]["actions"])
    return record["context"]["level"], steps, record["id"]


def _versions() -> dict[str, str]:
    # By name: importing JAX takes longer than most runs without it.
    return {"numpy": np.__version__, "jax": importlib.metadata.version("jax")}
