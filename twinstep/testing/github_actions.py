"""What GitHub shows of a run: each bug at the line to edit, and its report on the job's page."""

from __future__ import annotations

import os
from pathlib import Path


def annotation(text: str, place: str = "") -> str:
    """Return the command that puts `text` on a line of the diff, "" outside of GitHub's runner.

    place: `path:line` or `path`, from the folder of the run. GitHub wants it from the
    repository's root; a file that is not there is left out.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return ""
    path, _, line = place.partition(":")
    where = ""
    if path and Path(path).is_file():
        root = os.environ.get("GITHUB_WORKSPACE") or "."
        where = f" file={_escaped(os.path.relpath(path, root), ',', ':')}"
        where += f",line={line}" if line else ""
    return f"::error{where}::{_escaped(text)}"


def add_to_job(text: str) -> None:
    """Append Markdown to the job's page if there is one. Raises OSError if it cannot be."""
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(page).open("a") as file:
            file.write(text + "\n")


def _escaped(text: str, *more: str) -> str:
    for sign in ("%", "\r", "\n", *more):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
