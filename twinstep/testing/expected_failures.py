"""Expected failures: `candidates/<env>/xfail.toml`, each with a pinned counterexample.

    [[xfail]]
    test = "rollouts/test_lockstep.py::test_episodes_match[pong@fs8-jax-sticky]"
    counterexample = "regressions/5f1c09aa.json"
    reason = "draw order at a double serve"
    until = "2027-01-31"

The counterexample is a failure report's JSON file, beside the xfail.toml. An entry is strict:
its counterexample must still fail, or the entry must go. An entry that fits no test, or is
past its date, is an error. Their number is part of the verdict, and a gate may only lower it
(`[tool.twinstep] xfail-limit` in pyproject.toml).
"""

from __future__ import annotations

import datetime
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from twinstep.diagnosis import report
from twinstep.diagnosis.case import Case, ask
from twinstep.errors import UserError
from twinstep.project.registry import Pair
from twinstep.project.source_hash import package_folder
from twinstep.testing.lab import Lab


@dataclass(frozen=True)
class ExpectedFailure:
    """One expected failure, and the xfail.toml it stands in."""

    file: Path
    test: str
    counterexample: Path
    reason: str
    until: datetime.date

    def check(self, lab: Lab) -> None:
        """End the test as xfailed if the counterexample still fails, as failed if it does not."""
        if lab.reference.harness.imported:
            pytest.xfail(f"{self.reason} (until {self.until}; not asked: traces were imported)")
        record, contract = report.read(self.counterexample), lab.contract
        if (record["contract"], record["params"]) != (contract.version, dict(contract.params)):
            raise UserError(
                f"{self.file}: the counterexample of '{self.test}' is of {record['contract']} "
                f"with {record['params']}: pin one of this test's own"
            )
        case = Case.from_json(record["case"], contract)
        if ask(case, lab.oracle, lab.runner, lab.rules).agrees:
            pytest.fail(
                f"the expected failure is gone ({self.reason}): remove the entry "
                f"'{self.test}' from {self.file}",
                pytrace=False,
            )
        pytest.xfail(f"{self.reason} (until {self.until})")


EXPECTED = pytest.StashKey[ExpectedFailure]()
_WORDS = ("test", "counterexample", "reason", "until")


def read(path: Path) -> list[ExpectedFailure]:
    """Read one xfail.toml; UserError names what is wrong with an entry."""
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error})") from error
    entries = tables.pop("xfail", [])
    if tables or not isinstance(entries, list):
        raise UserError(f"{path} holds `{next(iter(tables), 'xfail')}`: write [[xfail]] tables")
    return [_entry(path, entry) for entry in entries]


def _entry(path: Path, entry: Any) -> ExpectedFailure:
    words = entry.keys() if isinstance(entry, dict) else set()
    for word in _WORDS:
        if word not in words:
            raise UserError(f"{path}: an entry has no `{word}`: {entry}")
    for word in words - set(_WORDS):
        raise UserError(f"{path}: an entry has an unknown `{word}`: {entry}")
    test, pinned = str(entry["test"]), path.parent / str(entry["counterexample"])
    try:
        until = datetime.date.fromisoformat(str(entry["until"]))
    except ValueError as error:
        raise UserError(
            f"{path}: '{test}' is until '{entry['until']}': write a date as 2027-01-31"
        ) from error
    if until < datetime.date.today():
        raise UserError(f"{path}: '{test}' expired on {until}: mend it or prolong it")
    if not pinned.is_file():
        raise UserError(f"{path}: the counterexample {entry['counterexample']} is missing")
    record = report.read(pinned)
    if not record.get("diff") and not record.get("case", {}).get("actions"):
        raise UserError(f"{path}: {entry['counterexample']} is a report without a case")
    return ExpectedFailure(path, test, pinned, str(entry["reason"]), until)


def declared(pairs: list[Pair]) -> list[ExpectedFailure]:
    """Return the entries beside the pairs' candidates; UserError if there are too many."""
    found = [entry for path in _files(pairs) for entry in read(path)]
    limit = _limit()
    if limit is not None and len(found) > limit:
        raise UserError(
            f"{len(found)} expected failures, but pyproject.toml allows {limit} (tool.twinstep."
            "xfail-limit): the limit may only be lowered"
        )
    return found


def _files(pairs: list[Pair]) -> list[Path]:
    found = set()
    for package in {p.candidate.factory.partition(":")[0].rpartition(".")[0] for p in pairs}:
        try:
            path = package_folder(package) / "xfail.toml" if package else Path("xfail.toml")
        except UserError:
            continue  # a candidate that is not here fails its own tests, not everyone's
        if path.is_file():
            found.add(path)
    return sorted(found)


def _limit() -> int | None:
    project = Path("pyproject.toml")
    if not project.is_file():
        return None
    table = tomllib.loads(project.read_text()).get("tool", {}).get("twinstep", {})
    limit = table.get("xfail-limit")
    if limit is not None and type(limit) is not int:
        raise UserError(f"pyproject.toml: tool.twinstep.xfail-limit is {limit!r}, not a number")
    return limit
