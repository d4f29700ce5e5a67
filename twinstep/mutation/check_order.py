"""Observe a campaign's checks and estimate which of them should run first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from twinstep.mutation.verdict import Judgement


class Watch:
    """Records the checks that run and ranks them by bugs noticed per second in a bug's file.

    The order does not affect which level notices a bug, only how soon, and which of the level's
    checks is named.

    variant, path: variant of the next question (None without a bug) and the bug's file.
    """

    def __init__(self) -> None:
        self._records: dict[tuple[str, int, str], _Record] = defaultdict(_Record)
        self.variant: str | None = None
        self.path = ""

    def begins(self, level: int, check: str, limit: float) -> None:
        """Note that a check begins; check "" and level 0 for the search for a suspect."""

    def learn(self, verdict: Judgement) -> None:
        """Record which checks noticed a bug in the file `path`, and the time of each."""
        for (level, check), seconds in verdict.spent.items():
            kill = verdict.kills.get(level)
            for path in (self.path, ""):  # "": in any file
                self._records[path, level, check].add(seconds, bool(kill) and kill.check == check)

    def worth(self, level: int, check: str) -> float:
        """Return the expected number of this file's bugs that a check notices per second."""
        anywhere = self._records.get(("", level, check), _Record())
        here = self._records.get((self.path, level, check), anywhere)
        return here.rate / anywhere.mean


@dataclass
class _Record:
    """Number of runs of a check, number of bugs it noticed, and its total seconds."""

    runs: int = 0
    noticed: int = 0
    seconds: float = 0.0

    def add(self, seconds: float, noticed: bool) -> None:
        self.runs += 1
        self.noticed += noticed
        self.seconds += seconds

    @property
    def rate(self) -> float:
        """An estimate that is never 0, and high before the first run."""
        return (self.noticed + 1) / (self.runs + 2)

    @property
    def mean(self) -> float:
        return self.seconds / self.runs + 0.01 if self.runs else 0.1
