"""The results of `twinstep bench` for one candidate, as text of a prompt for speed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twinstep.bench import claims, table
from twinstep.bench import command as bench
from twinstep.errors import UserError
from twinstep.project.registry import Pair

NOT_MEASURED = "Not measured yet: run the benchmark once before you change anything."
#: Name of cells of whole steps.
WHOLE = "environment"
UNKNOWN = "not known; the benchmark's result names it."


def measured(pair: Pair, folder: Path) -> tuple[str, str]:
    """Return (speeds, hardware) of the committed benchmark of a pair's environment.

    The JSON is read, else the Markdown next to it; without either, sentences that say so.
    UserError for a JSON that is no result.
    """
    file = folder / f"{pair.subject.env.name}.json"
    if not file.is_file():
        text = file.with_suffix(".md")
        return (text.read_text(), UNKNOWN) if text.is_file() else (NOT_MEASURED, UNKNOWN)
    result = claims.read(file, bench.SCHEMA)
    try:
        return _table(pair, result), _machine(result)
    except (KeyError, TypeError, StopIteration, IndexError) as error:
        raise UserError(f"{file} is not as twinstep bench writes it: measure it again") from error


def _table(pair: Pair, result: Mapping[str, Any]) -> str:
    """Return the benchmark's tables reduced to this candidate and the reference."""
    own = pair.candidate.name
    cells = []
    for cell in result["cells"]:
        results = [r for r in cell["results"] if r["backend"] == own or r["best_reference"]]
        results = [{**r, "to_peers": {}} for r in results]
        if any(r["backend"] == own for r in results) and cell.get("work", WHOLE) == WHOLE:
            cells.append({**cell, "results": results, "left_out": ()})
    if not cells:
        return NOT_MEASURED
    # The prompt's variant comes first, since prompts are cut at the end.
    cells.sort(key=lambda cell: cell["variant"] != pair.subject.variant.name)
    whole = table.markdown({**result, "cells": cells, "policies": []})
    head, *variants = whole.split("\n\n## ")
    command = next(line for line in head.splitlines() if line.startswith("- command"))
    # Text below a table does not help to be faster.
    tables = ["### " + "\n\n".join(text.split("\n\n")[:2]) for text in variants]
    return "\n\n".join([command.removeprefix("- ").capitalize(), *tables])


def _machine(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in result["versions"].items())
    return (
        f"{machine['cpu']} ({machine['architecture']}), {machine['cores_used']} of "
        f"{machine['cores_online']} cores, {machine['os']}, {machine['libc']}; {versions}."
    )
