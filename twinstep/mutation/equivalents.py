"""Mutants that change nothing: `mutants.toml` beside the candidate's adapter, each with a proof.

Those of a compiled part are listed in `mutants-rust.toml`.

    [[equivalent]]
    id = "3f2a90c1de"
    before = "past = x <= 0"
    after = "past = x < 0"
    reason = "x is never 0: it moves by 10 from 95"

`before` and `after` are the changed lines as the table of survivors shows them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.mutation.planting import all_mutants, changed_lines
from twinstep.project.source_hash import ABOUT_MUTANTS, package_folder

_WORDS = ("id", "before", "after", "reason")


def path_of(ref: CandidateRef) -> Path:
    """Return where a candidate's equivalents are listed; the file need not exist."""
    package = ref.factory.partition(":")[0].rpartition(".")[0]
    name = ABOUT_MUTANTS[bool(ref.build)]
    return (package_folder(package) if package else Path()) / name


def read(ref: CandidateRef) -> dict[str, str]:
    """Return id -> reason of a candidate's equivalent mutants, {} without a file.

    UserError names an entry that is incomplete, of no mutant, or of other lines than it says.
    """
    path = path_of(ref)
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error})") from error
    entries = tables.pop("equivalent", [])
    if tables or not isinstance(entries, list):
        other = next(iter(tables), "equivalent")
        raise UserError(f"{path} holds `{other}`: write [[equivalent]] tables")
    known = {mutant.id: mutant for mutant in all_mutants(ref)}
    found: dict[str, str] = {}
    for entry in entries:
        named = _complete(path, entry)["id"]
        if named not in known:
            raise UserError(
                f"{path}: there is no mutant '{named}': its line has changed, so look at it anew"
            )
        if named in found:
            raise UserError(f"{path}: '{named}' is listed twice")
        for word, lines in zip(("before", "after"), changed_lines(known[named], ref), strict=True):
            if lines != entry[word]:
                raise UserError(f"{path}: `{word}` of '{named}' is not its line: {lines}")
        found[named] = entry["reason"]
    return found


def _complete(path: Path, entry: Any) -> dict[str, str]:
    words = entry.keys() if isinstance(entry, dict) else set()
    for word in _WORDS:
        if word not in words or not isinstance(entry[word], str) or not entry[word]:
            raise UserError(f"{path}: an entry has no `{word}`: {entry}")
    for word in words - set(_WORDS):
        raise UserError(f"{path}: an entry has an unknown `{word}`: {entry}")
    return entry
