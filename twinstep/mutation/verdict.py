"""The judgement of a planted bug."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kill:
    """A level that noticed a mutant. check: the test. how: one of HOW. detail: one line."""

    level: int
    check: str
    how: str
    detail: str

    def named(self) -> dict[str, str]:
        """Return the kill as a result holds it, without folders of this machine."""
        return {"check": self.check, "how": self.how, "detail": _FOLDERS.sub("", self.detail)}


@dataclass(frozen=True)
class Judgement:
    """The levels' judgement of a mutant.

    seconds: this process's processor time of each level, up to its first failing check. spent: the
    same by level and check. suspect: the report's first suspect if level 3 noticed and the question
    asked for it, else "".
    """

    kills: dict[int, Kill]
    seconds: dict[int, float]
    suspect: str = ""
    spent: dict[tuple[int, str], float] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The lowest level that noticed, 0 if none did."""
        return min(self.kills, default=0)

    @property
    def built(self) -> bool:
        """True if the mutant could be imported, built and traced at every level that ran."""
        return all(kill.how != "build" for kill in self.kills.values())


#: The folders of an absolute path.
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")
