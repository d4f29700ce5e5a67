"""What `twinstep bench` measured of one candidate, for a prompt that asks for more of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twinstep.bench import claims, table
from twinstep.bench import command as bench
from twinstep.errors import UserError
from twinstep.project.registry import Pair

NOT_MEASURED = "Not measured yet: run the benchmark once before you change anything."
#: What cells of whole steps are called.
WHOLE = "environment"
UNKNOWN = "not known; the benchmark's result names it."


def measured(pair: Pair, folder: Path) -> tuple[str, str]:
    """Return (speeds, hardware) of the committed benchmark of a pair's environment.

    The JSON is read, else the Markdown beside it; sentences that say so where neither is there.
    UserError for a JSON that is no result.
    """
    held = folder / f"{pair.subject.env.name}.json"
    if not held.is_file():
        text = held.with_suffix(".md")
        return (text.read_text(), UNKNOWN) if text.is_file() else (NOT_MEASURED, UNKNOWN)
    result = claims.read(held, bench.SCHEMA)
    try:
        return _table(pair, result), _machine(result)
    except (KeyError, TypeError, StopIteration, IndexError) as error:
        raise UserError(f"{held} is not as twinstep bench writes it: measure it again") from error


def _table(pair: Pair, result: Mapping[str, Any]) -> str:
    """Return the benchmark's tables with this candidate and the reference alone."""
    own = pair.candidate.name
    cells = []
    for cell in result["cells"]:
        kept = [r for r in cell["results"] if r["backend"] == own or r["best_reference"]]
        kept = [{**r, "to_peers": {}} for r in kept]
        if any(r["backend"] == own for r in kept) and cell.get("work", WHOLE) == WHOLE:
            cells.append({**cell, "results": kept, "left_out": ()})
    if not cells:
        return NOT_MEASURED
    # The variant that was asked for comes first, since the end is what is cut.
    cells.sort(key=lambda cell: cell["variant"] != pair.subject.variant.name)
    whole = table.markdown({**result, "cells": cells, "policies": []})
    head, *variants = whole.split("\n\n## ")
    command = next(line for line in head.splitlines() if line.startswith("- command"))
    # Of what follows a table nothing tells how to be faster.
    tables = ["### " + "\n\n".join(text.split("\n\n")[:2]) for text in variants]
    return "\n\n".join([command.removeprefix("- ").capitalize(), *tables])


def _machine(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in result["versions"].items())
    return (
        f"{machine['cpu']} ({machine['architecture']}), {machine['cores_used']} of "
        f"{machine['cores_online']} cores, {machine['os']}, {machine['libc']}; {versions}."
    )
