"""A section of the evidence: its text, its pictures and its missing results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tools.evidence.formatting import NOT_MEASURED, table


class Missing(NamedTuple):
    """A missing result, and the command that measures it.

    here: True if `--run` may measure it: it needs no other machine and no decision.
    """

    what: str
    command: str
    here: bool = False


class Bars(NamedTuple):
    """Horizontal bars: value, least and greatest of each label. log: the axis is logarithmic.

    colors: the meaning of each bar's colour.
    """

    title: str
    axis: str
    labels: Sequence[str]
    values: Sequence[tuple[float, float, float]]
    colors: Sequence[str]
    log: bool = False


class Stacks(NamedTuple):
    """Horizontal bars made of parts: name -> length in each label."""

    title: str
    axis: str
    labels: Sequence[str]
    parts: Sequence[tuple[str, Sequence[float]]]


class Line(NamedTuple):
    """One line: y over x, between low and high."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


class Lines(NamedTuple):
    """Lines over one axis; levels: labelled heights that do not change along it."""

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    levels: Sequence[tuple[str, float]] = ()


class Picture(NamedTuple):
    """A PNG: its file's name, its caption, its panels side by side."""

    name: str
    caption: str
    panels: Sequence[Bars | Stacks | Lines]


@dataclass(frozen=True)
class Section:
    """A section. blocks: Markdown. measured: names with results."""

    title: str
    blocks: Sequence[str]
    measured: Sequence[str] = ()
    missing: Sequence[Missing] = ()
    pictures: Sequence[Picture] = ()

    def markdown(self, pictures: str) -> str:
        """Return the part's text. pictures: the folder of the PNG files, seen from the document."""
        shown = [f"![{p.caption}]({pictures}/{p.name})" for p in self.pictures]
        return "\n\n".join([f"## {self.title}", *self.blocks, *self._lacking(), *shown])

    def _lacking(self) -> list[str]:
        if not self.missing:
            return []
        rows = [(each.what, NOT_MEASURED, f"`{each.command}`") for each in self.missing]
        return [table([("what", "result", "the command that measures it"), *rows])]
