"""What the judge says of a planted bug."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kill:
    """That a level noticed a mutant. check: the test. how: one of HOW. detail: one line."""

    level: int
    check: str
    how: str
    detail: str

    def named(self) -> dict[str, str]:
        """Return what a result says of it: no folder of the machine that it was made on."""
        return {"check": self.check, "how": self.how, "detail": _FOLDERS.sub("", self.detail)}


@dataclass(frozen=True)
class Judgement:
    """What the levels made of a mutant.

    seconds: this process's processor time of each level, up to its first failing check. spent: the
    same by level and check.
    suspect: the report's first one where level 3 noticed and it was asked for, else "".
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
        """Whether it could be imported, built and traced wherever it was asked."""
        return all(kill.how != "build" for kill in self.kills.values())


#: The folders of an absolute path.
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")
