"""A run's journal: one JSON line per finished action, append-only.

A run is replayed from its journal: finished actions are read instead of repeated, so that a killed
run continues where it stopped. See `Journal.done`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twinstep.errors import UserError

NAME = "log.jsonl"


class Journal:
    """The entries of a run. Each is a dict of plain values, with its `kind`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.entries: list[dict[str, Any]] = []
        #: Number of tries that were granted after an end.
        self.more = 0
        for entry in read(self._path):
            self._take(entry)
        self._next = 0

    @property
    def replaying(self) -> bool:
        """True if the next action is already in the journal."""
        return self._next < len(self.entries)

    @property
    def due(self) -> str:
        """The kind of the next entry of a replay, "" after its end."""
        return self.entries[self._next]["kind"] if self.replaying else ""

    def done(self, kind: str, do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the next entry: from the journal, or by running the action now.

        Actions must be safe to repeat: a run may be killed between an action and its journal line.
        UserError if the journal has another kind of entry here.
        """
        if self.replaying:
            entry = self.entries[self._next]
            if entry["kind"] != kind:
                raise UserError(
                    f"{self._path} has '{entry['kind']}' where '{kind}' is due: it was written by "
                    "another version of twinstep, or changed; begin a new run"
                )
        else:
            entry = {"kind": kind, **do()}
            self._add(entry)
            self.entries.append(entry)
        self._next += 1
        return entry

    def commit(self, base: str) -> str:
        """Return the newest commit in the journal, `base` if there is none."""
        commits = [e["commit"] for e in self.entries if e["kind"] in ("try", "undo", "regression")]
        return commits[-1] if commits else base

    def grant(self, tries: int) -> None:
        """Reopen an ended run with more tries. The line of its end stays."""
        entry = {"kind": "more", "tries": tries}
        self._add(entry)
        self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        if entry["kind"] != "more":
            self.entries.append(entry)
            return
        self.more += entry["tries"]
        if self.entries and self.entries[-1]["kind"] == "end":
            self.entries.pop()

    def _add(self, entry: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        whole = sum(len(line) for line in _lines(self._path))
        with self._path.open("ab") as file:
            # A line that was truncated when the run was killed is no entry.
            file.truncate(whole)
            file.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _lines(path: Path) -> list[bytes]:
    if not path.is_file():
        return []
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


_NUMBER = (int, float)
#: Kind of an entry -> key -> type of its value. An entry may have further keys.
_SHAPES: dict[str, dict[str, Any]] = {
    "begin": {"env": str, "candidate": str, "base": str, "agent": str, "phases": str,
              "sandbox": bool, "tries": int, "iterations": int, "episodes": int, "workers": int,
              "check_minutes": _NUMBER, "budget_usd": _NUMBER, "hours": _NUMBER},
    "try": {"number": int, "base": str, "commit": str, "phase": str, "module": str,
            "seconds": _NUMBER, "cost": (int, float, type(None)), "lines": dict, "files": list,
            "outside": list, "damage": list, "leftovers": int, "timed_out": bool},
    "check": {"commit": str, "files": str, "stage": str, "phase_levels": list, "seeds": str,
              "good": bool, "passed": int, "skipped": int, "failed": list, "why": dict,
              "trouble": str, "levels": dict, "reports": list, "suspect": str,
              "seconds": _NUMBER, "traces": str},
    "undo": {"number": int, "commit": str, "why": str},
    "regression": {"reports": list, "commit": str},
    "speed": {"kept": bool, "cells": list, "why": str},
    "end": {"code": int, "why": str, "commit": str, "files": str},
    "more": {"tries": int},
}  # fmt: skip


def read(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a journal, [] if there is none; UserError if it cannot be read."""
    try:
        entries = [json.loads(line, parse_constant=_no_number) for line in _lines(path)]
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read ({error})") from error
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise UserError(f"{path} cannot be read (line {number} is no entry): begin a new run")
    return entries


def require_whole(path: Path) -> None:
    """UserError if an entry of a journal lacks what a run or its record needs."""
    for number, entry in enumerate(read(path), 1):
        if why := _problem(entry):
            raise UserError(f"{path} cannot be read (line {number} {why}): begin a new run")


def _problem(entry: Any) -> str:
    shape = _SHAPES.get(str(entry.get("kind"))) if isinstance(entry, dict) else None
    if shape is None:
        return "is no entry"
    for key, kind in shape.items():
        if not isinstance(entry.get(key, _SHAPES), kind):
            return f"has no valid `{key}`"
    lines = entry.get("lines", {"added": 0, "removed": 0})
    if not all(isinstance(lines.get(name), int) for name in ("added", "removed")):
        return "has no valid `lines`"
    return ""


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")
