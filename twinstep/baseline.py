"""Expected failures: `candidates/<env>/xfail.toml`, each with a pinned counterexample.

    [[xfail]]
    test = "rollouts/test_lockstep.py::test_episodes_match[pong@fs8-jax-sticky]"
    counterexample = "regressions/5f1c09aa.json"
    reason = "draw order at a double serve"
    until = "2027-01-31"

An entry is strict: its counterexample must still fail, or the entry must go. An entry that
fits no test, or is past its date, is an error. Their number is part of the verdict, and a
gate may only lower it (`[tool.twinstep] xfail-limit` in pyproject.toml).
"""

from __future__ import annotations

import datetime
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from twinstep import report
from twinstep.cases import Case, ask
from twinstep.errors import UserError
from twinstep.harness import Lab
from twinstep.registry import Pair
from twinstep.seeds import package_folder


@dataclass(frozen=True)
class Expected:
    """One expected failure."""

    test: str
    counterexample: Path
    reason: str
    until: datetime.date

    def check(self, lab: Lab) -> None:
        """End the test as xfailed if the counterexample still fails, as failed if it does not."""
        record = report.read(self.counterexample)
        case = Case.from_json(record["case"], lab.contract)
        if ask(case, lab.oracle, lab.runner, lab.rules).agrees:
            pytest.fail(
                f"the expected failure is gone ({self.reason}): remove the entry "
                f"'{self.test}' from xfail.toml",
                pytrace=False,
            )
        pytest.xfail(f"{self.reason} (until {self.until})")


EXPECTED = pytest.StashKey[Expected]()


def read(path: Path) -> list[Expected]:
    """Read one xfail.toml; UserError names what is wrong with an entry."""
    found = []
    try:
        entries = tomllib.loads(path.read_text()).get("xfail", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error})") from error
    for entry in entries:
        try:
            until = datetime.date.fromisoformat(str(entry["until"]))
            pinned = path.parent / entry["counterexample"]
            expected = Expected(entry["test"], pinned, entry["reason"], until)
        except (KeyError, ValueError) as error:
            raise UserError(f"{path}: an entry lacks or garbles {error}") from error
        if not pinned.is_file():
            raise UserError(f"{path}: the counterexample {entry['counterexample']} is missing")
        if until < datetime.date.today():
            raise UserError(f"{path}: '{expected.test}' expired on {until}: mend it or prolong it")
        found.append(expected)
    return found


def files(pairs: list[Pair]) -> list[Path]:
    """Return the xfail files beside the pairs' candidates."""
    folders = {
        package_folder(pair.candidate.factory.partition(":")[0].rpartition(".")[0])
        for pair in pairs
        if pair.candidate.factory.partition(":")[0].rpartition(".")[0]
    }
    return sorted(f / "xfail.toml" for f in folders if (f / "xfail.toml").is_file())


def apply(pairs: list[Pair], items: list[pytest.Item]) -> None:
    """Attach each entry to its test; UserError if one fits none or there are too many."""
    by_id = {item.nodeid: item for item in items}
    bare = {item.nodeid.partition("[")[0] for item in items}
    total = 0
    for path in files(pairs):
        for expected in read(path):
            total += 1
            if expected.test in by_id:
                by_id[expected.test].stash[EXPECTED] = expected
            elif expected.test.partition("[")[0] in bare and _selected(expected.test, pairs):
                raise UserError(f"{path}: '{expected.test}' is not a test")
    limit = _limit()
    if limit is not None and total > limit:
        raise UserError(
            f"{total} expected failures, but pyproject.toml allows {limit} (tool.twinstep."
            "xfail-limit): the limit may only be lowered"
        )


def _selected(test: str, pairs: list[Pair]) -> bool:
    """Whether the entry's own pair is among those of this run (else it may fit another run)."""
    inner = test.partition("[")[2].rstrip("]")
    return any(inner == pair.label or inner.startswith(f"{pair.label}-") for pair in pairs)


def _limit() -> int | None:
    project = Path("pyproject.toml")
    if not project.is_file():
        return None
    return tomllib.loads(project.read_text()).get("tool", {}).get("twinstep", {}).get("xfail-limit")
