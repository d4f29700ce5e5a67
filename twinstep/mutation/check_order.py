"""What hears of a campaign's checks, and knows which of them are worth asking first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinstep.mutation.verdict import Judgement


class Watch:
    """Is told what is asked, and says which checks come first.

    Those come first that noticed most of a file's bugs for their time. Which level notices does
    not hang on it, only how soon, and which of its checks is named.

    variant, path: where the next question is asked, None without a bug, and the bug's file.
    """

    def __init__(self) -> None:
        self._asked: dict[tuple[str, int, str], _Record] = defaultdict(_Record)
        self.variant: str | None = None
        self.path = ""

    def begins(self, level: int, check: str, limit: float) -> None:
        """Hear that a check begins; check "" and level 0 for the search of a suspect."""

    def learn(self, verdict: Judgement) -> None:
        """Remember which checks noticed a bug in the file `path`, and how long each took."""
        for (level, check), seconds in verdict.spent.items():
            kill = verdict.kills.get(level)
            for path in (self.path, ""):  # "": in any file
                self._asked[path, level, check].add(seconds, bool(kill) and kill.check == check)

    def worth(self, level: int, check: str) -> float:
        """Return how many bugs of this file a second of a check may notice."""
        anywhere = self._asked.get(("", level, check), _Record())
        here = self._asked.get((self.path, level, check), anywhere)
        return here.rate / anywhere.mean


@dataclass
class _Record:
    """How often a check was asked and noticed, and its seconds in all."""

    asked: int = 0
    noticed: int = 0
    seconds: float = 0.0

    def add(self, seconds: float, noticed: bool) -> None:
        self.asked += 1
        self.noticed += noticed
        self.seconds += seconds

    @property
    def rate(self) -> float:
        """A guess that is never 0, and high before anything is known."""
        return (self.noticed + 1) / (self.asked + 2)

    @property
    def mean(self) -> float:
        return self.seconds / self.asked + 0.01 if self.asked else 0.1
