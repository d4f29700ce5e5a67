"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable


def table(rows: Iterable[Iterable[object]], rule: str = "---") -> list[str]:
    """Return the lines of a table; the first row is its head. Cells are written as they are.

    rule: what the line below the head holds in each column.
    """
    head, *rest = ([str(cell) for cell in row] for row in rows)
    lines = [f"| {' | '.join(row)} |" for row in (head, *rest)]
    return [lines[0], f"|{f'{rule}|' * len(head)}", *lines[1:]]
