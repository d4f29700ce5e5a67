"""The numbers of a run, computed from its journal alone.

A run may be in progress, killed or ended: facts that the journal lacks are None or missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twinstep.errors import UserError
from twinstep.repair import loop

#: Meaning of a run's exit code.
ENDS = {
    loop.VERIFIED: "verified",
    loop.BUDGET: "out of budget",
    loop.PERSON: "needs a person",
    loop.BREACH: "ended for a breach",
}
#: Keys that a run's first entry must have.
SETTINGS = ("env", "candidate", "agent", "phases", "episodes", "base")
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """The findings of a check.

    after: number of tries before it. phase: the phase that needs its levels. failed: number of
    failed tests. levels: level -> outcome -> number of tests. trouble: why the check is void.
    """

    after: int
    phase: int
    stage: str
    commit: str
    good: bool
    passed: int
    failed: int
    skipped: int
    seconds: float
    levels: Mapping[str, Mapping[str, int]]
    trouble: str

    @property
    def percent(self) -> float | None:
        """Percentage of its tests that pass, without skipped ones; None if the check is void."""
        tests = self.passed + self.failed
        return None if self.trouble or not tests else 100 * self.passed / tests


@dataclass(frozen=True)
class Speed:
    """The measurement of a change for speed.

    cells: (variant, lanes, threads, and the speedup: median, least, most). trouble: why it could
    not be measured.
    """

    kept: bool
    cells: tuple[tuple[str, int, int, float, float, float], ...]
    trouble: str


@dataclass(frozen=True)
class Try:
    """One try of the agent.

    cost: dollars, None if unknown. outside: changed files that it may not edit, discarded. damage:
    files it changed elsewhere. leftovers: number of processes left behind. check: the first check
    after it, None if there is none yet. speed: of a try for speed, once measured.
    """

    number: int
    phase: int
    module: str
    seconds: float
    cost: float | None
    added: int
    removed: int
    outside: tuple[str, ...]
    damage: tuple[str, ...]
    leftovers: int
    timed_out: bool
    undone: bool = False
    check: Check | None = None
    speed: Speed | None = None


@dataclass(frozen=True)
class End:
    """The end of a run.

    code: the command's exit code. commit: the newest one of its branch. files: the sha256 over its
    files, as they were checked.
    """

    code: int
    why: str
    commit: str
    files: str

    def __str__(self) -> str:
        word = ENDS.get(self.code, f"ended with {self.code}")
        if self.code == loop.VERIFIED:
            word = loop.word_of_success(self.why)
        return f"{word}: {self.why}"


@dataclass(frozen=True)
class Record:
    """A run.

    settings: its first entry. regressions: reports whose inputs were kept. former: ends after which
    more tries were granted. end: None if it is in progress or was killed.
    """

    name: str
    settings: Mapping[str, Any]
    tries: tuple[Try, ...]
    checks: tuple[Check, ...]
    regressions: tuple[str, ...]
    granted: int
    former: tuple[End, ...]
    end: End | None
    commit: str

    @property
    def verified(self) -> bool:
        """True if it ended with a candidate that passed every check."""
        return self.end is not None and self.end.code == loop.VERIFIED

    @property
    def proofs(self) -> list[str]:
        """The stages that the newest commit passed."""
        passed = [one.stage for one in self.checks if one.good and one.commit == self.commit]
        return list(dict.fromkeys(passed))


def cost(tries: Iterable[Try]) -> tuple[float, bool]:
    """Return the sum of the known costs in dollars, and True if every cost is known."""
    costs = [one.cost for one in tries]
    return math.fsum(c for c in costs if c is not None), None not in costs


def from_entries(name: str, entries: Sequence[Entry]) -> Record:
    """Return the record of a run; UserError if its journal is not of this version."""
    try:
        return _read(name, entries)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"the journal of {name} was written by another version of twinstep, or changed "
            f"({type(error).__name__}: {error})"
        ) from error


def _read(name: str, entries: Sequence[Entry]) -> Record:
    if not entries:
        raise UserError(f"run {name} was killed before it began: its journal is empty")
    if entries[0]["kind"] != "begin":
        raise ValueError(f"it begins with '{entries[0]['kind']}'")
    if missing := [name for name in SETTINGS if name not in entries[0]]:
        raise ValueError(f"its first line has no {missing[0]}")
    tries: list[Try] = []
    checks: list[Check] = []
    regressions: list[str] = []
    former: list[End] = []
    end: End | None = None
    granted, commit = 0, entries[0]["base"]
    for entry in entries[1:]:
        kind = entry["kind"]
        if kind == "try":
            tries.append(_try(entry))
        elif kind == "check":
            checks.append(_check(entry, len(tries)))
            if tries and tries[-1].check is None:
                tries[-1] = replace(tries[-1], check=checks[-1])
        elif kind == "undo":
            (place,) = (n for n, one in enumerate(tries) if one.number == entry["number"])
            tries[place] = replace(tries[place], undone=True)
        elif kind == "speed":
            tries[-1] = replace(tries[-1], speed=_speed(entry))
        elif kind == "regression":
            regressions += entry["reports"]
        elif kind == "end":
            end = End(entry["code"], entry["why"], entry["commit"], entry["files"])
        elif kind == "more":
            # The journal keeps the line of an end that more tries revoked.
            former += [end] if end else []
            end, granted = None, granted + entry["tries"]
        else:
            raise ValueError(f"it has '{kind}'")
        if kind in ("try", "undo", "regression", "end"):
            commit = entry["commit"]
    return Record(
        name,
        entries[0],
        tuple(tries),
        tuple(checks),
        tuple(dict.fromkeys(regressions)),
        granted,
        tuple(former),
        end,
        commit,
    )


def _try(entry: Entry) -> Try:
    return Try(
        entry["number"],
        int(entry["phase"]),
        entry["module"],
        entry["seconds"],
        entry["cost"],
        entry["lines"]["added"],
        entry["lines"]["removed"],
        tuple(entry["outside"]),
        tuple(entry["damage"]),
        entry["leftovers"],
        entry["timed_out"],
    )


def _speed(entry: Entry) -> Speed:
    cells = tuple(
        (
            cell["variant"],
            cell["lanes"],
            cell["threads"],
            *(cell["ratio"][name] for name in ("median", "min", "max")),
        )
        for cell in entry["cells"]
    )
    return Speed(entry["kept"], cells, entry["why"])


def _check(entry: Entry, after: int) -> Check:
    return Check(
        after,
        max(entry["phase_levels"]),
        entry["stage"],
        entry["commit"],
        entry["good"],
        entry["passed"],
        len(entry["failed"]),
        entry["skipped"],
        entry["seconds"],
        entry["levels"],
        entry["trouble"],
    )
