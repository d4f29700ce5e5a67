"""Keep a prompt within its length: cut whole lines and note where the rest can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from twinstep._lib import markdown

#: Maximum number of characters of a prompt.
CAP = 30_000
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """Lines that may be cut from their end.

    rest: where cut lines can be read. head, tail: text that is never cut (a fence, a table's first
    rows). cut: number of lines left out.
    """

    lines: tuple[str, ...]
    rest: str
    head: str = ""
    tail: str = ""
    cut: int = 0

    def __str__(self) -> str:
        kept = self.lines[: len(self.lines) - self.cut]
        text = "".join(f"{line}\n" for line in kept)
        text = self.head + text + self.tail
        if self.cut:
            text = f"{text.rstrip()}\n\n({self.cut} more lines are left out: read {self.rest}.)"
        return text.rstrip()

    def shorter(self, by: int) -> Part:
        """Return the part with enough lines left out to lose `by` characters, or all of them."""
        part = self
        # The note on missing lines has a length of its own.
        wanted = len(str(self)) - by
        while part.cut < len(part.lines) and len(str(part)) > wanted:
            part = replace(part, cut=part.cut + 1)
        return part


def render(name: str, values: Mapping[str, str | Part], order: Sequence[str]) -> str:
    """Fill the template `name`; cut the parts in `order`, one by one, until the text fits CAP."""
    template = Template(template_text(name))
    filled = dict(values)
    text = _filled(template, filled)
    for key in order:
        over = len(text) - CAP
        part = filled.get(key)
        if over > 0 and isinstance(part, Part):
            filled[key] = part.shorter(over)
            text = _filled(template, filled)
    if len(text) <= CAP:
        return text
    note = "\n(The end of this text is cut: it was too long.)\n"
    return text[: CAP - len(note)].rpartition("\n")[0] + note


def template_text(name: str) -> str:
    """Return the text of a file of this folder."""
    return (FOLDER / f"{name}.md").read_text()


def fenced(lines: Sequence[str], kind: str, rest: str) -> Part:
    """Return a block of code, with a fence longer than any in its lines."""
    runs = [len(run) for line in lines for run in re.findall(r"`{3,}", line)]
    fence = "`" * max([3, *(run + 1 for run in runs)])
    return Part(tuple(lines), rest, f"{fence}{kind}\n", f"{fence}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], rest: str) -> Part:
    """Return a Markdown table whose last rows may be cut."""
    cells = ([cell.replace("|", "/") for cell in row] for row in rows)
    first, rule, *lines = markdown.table([head, *cells])
    return Part(tuple(lines), rest, f"{first}\n{rule}\n")


def _filled(template: Template, values: Mapping[str, str | Part]) -> str:
    # A line of a single value is dropped, with the blank line below it, if the value is empty.
    empty = "|".join(name for name, value in values.items() if not str(value))
    text = re.sub(rf"^\$(?:{empty})\n\n?", "", template.template, flags=re.M) if empty else ""
    filled = Template(text or template.template)
    return filled.substitute({name: str(value) for name, value in values.items()}).strip() + "\n"
