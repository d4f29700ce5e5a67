"""Equivalent mutants: `mutants.toml` next to the candidate's adapter, with a proof for each.

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
    """Return the file that lists a candidate's equivalents; it need not exist."""
    package = ref.factory.partition(":")[0].rpartition(".")[0]
    name = ABOUT_MUTANTS[bool(ref.build)]
    return (package_folder(package) if package else Path()) / name


def read(ref: CandidateRef) -> dict[str, str]:
    """Return id -> reason of a candidate's equivalent mutants, {} without a file.

    UserError names an entry that is incomplete, has no mutant, or differs from the mutant's lines.
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
    mutants = {mutant.id: mutant for mutant in all_mutants(ref)}
    reasons: dict[str, str] = {}
    for entry in entries:
        name = _complete(path, entry)["id"]
        if name not in mutants:
            raise UserError(
                f"{path}: there is no mutant '{name}': its line has changed, so look at it anew"
            )
        if name in reasons:
            raise UserError(f"{path}: '{name}' is listed twice")
        for word, lines in zip(("before", "after"), changed_lines(mutants[name], ref), strict=True):
            if lines != entry[word]:
                raise UserError(f"{path}: `{word}` of '{name}' is not its line: {lines}")
        reasons[name] = entry["reason"]
    return reasons


def _complete(path: Path, entry: Any) -> dict[str, str]:
    words = entry.keys() if isinstance(entry, dict) else set()
    for word in _WORDS:
        if word not in words or not isinstance(entry[word], str) or not entry[word]:
            raise UserError(f"{path}: an entry has no `{word}`: {entry}")
    for word in words - set(_WORDS):
        raise UserError(f"{path}: an entry has an unknown `{word}`: {entry}")
    return entry
