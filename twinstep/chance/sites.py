"""Which columns of a row a draw takes: the next ones, or those of the place that draws."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType

from twinstep.chance.row import Row
from twinstep.errors import UserError

#: Packages between a draw and the place in the source that asked for it.
_BETWEEN = ("twinstep.chance.", "numpy.", "jax.", "random.", "ctypes.")


class Columns:
    """The columns of one reset or step that are still to be drawn.

    sites: place in the source -> name in the row. A place is `file.py:88`, a function's name or its
    qualified name; the innermost function on the way that is listed decides.
    """

    def __init__(self, row: Row, sites: Mapping[str, str]) -> None:
        self._row, self._sites = row, sites
        self._taken = dict.fromkeys(row.columns, 0)

    @property
    def drawn(self) -> int:
        """The number of columns taken so far."""
        return sum(self._taken.values())

    def take(self, count: int, what: str) -> slice:
        """Return the next `count` columns of the place that draws.

        what: the function that was called, which is a place as well. UserError if the row or the
        name has no more, or if the place has no name.
        """
        name = self._name(what) if self._row.named else ""
        taken, most = self._taken[name], self._row.columns[name]
        if taken + count > most:
            whose = f"'{name}'" if name else "the row"
            raise UserError(
                f"chance: {whose} has {most} words, and {what} in {_innermost()} asks for number "
                f"{taken + count} in one step: give it more in Row(...)"
            )
        self._taken[name] += count
        first = self._row.first[name] + taken
        return slice(first, first + count)

    def left(self) -> dict[str, slice]:
        """Return name -> the columns that nothing has taken yet; "" is a row's without names."""
        first, most = self._row.first, self._row.columns
        return {
            name: slice(first[name] + taken, first[name] + most[name])
            for name, taken in self._taken.items()
        }

    def advance(self, counts: Mapping[str, int]) -> None:
        """Count columns as taken: name -> how many."""
        for name, count in counts.items():
            self._taken[name] += count

    def _name(self, what: str) -> str:
        for place in _places(what):
            if place in self._sites:
                return self._sites[place]
        raise UserError(
            f"chance: {what} is called in {_innermost()}, which has no name in the row: add "
            f"'{_innermost()}' to sites, with one of {', '.join(self._row.columns)}"
        )


def require_names(row: Row, sites: Mapping[str, str]) -> None:
    """UserError where the places name what the row does not have, or a row in order has places."""
    wrong = sorted(set(sites.values()) - set(row.columns)) if row.named else []
    if wrong:
        raise UserError(
            f"chance: sites name '{wrong[0]}', and the row has {', '.join(row.columns)}"
        )
    if sites and not row.named:
        raise UserError("chance: a row without names is drawn in order: leave sites out")


def _callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not f"{frame.f_globals.get('__name__', '')}.".startswith(_BETWEEN):
            yield frame
        frame = frame.f_back


def _places(what: str) -> Iterator[str]:
    """Yield the names of the places from the draw outwards, the most particular of each first."""
    for depth, frame in enumerate(_callers()):
        code = frame.f_code
        yield f"{Path(code.co_filename).name}:{frame.f_lineno}"
        yield code.co_qualname
        yield code.co_name
        if depth == 0:
            yield what


def _innermost() -> str:
    frame = next(_callers(), None)
    if frame is None:
        return "C"
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
