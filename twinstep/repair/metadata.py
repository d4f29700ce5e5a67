"""Facts of a record that are not in its journal: from declaration, verdict and branch files.

Unknown facts are left empty, never guessed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.commits import Commits
from twinstep.project.repository import Repository
from twinstep.project.workspace import may_edit
from twinstep.repair.attempt import COMMITS
from twinstep.repair.history import Record


@dataclass(frozen=True)
class Facts:
    """Empty or None where unknown.

    contract, oracle: version and title. modules: names of the contract's. lines: of the
    candidate's files, in the commit that the run began from and in the newest one. verdicts: one
    line per variant, from the verdict of a verified run.
    """

    contract: str = ""
    oracle: str = ""
    modules: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    verdicts: tuple[str, ...] = ()


def find(record: Record, folder: Path) -> Facts:
    """Return the facts of a run in `folder`."""
    contract, oracle, modules, edit = "", "", (), None
    with contextlib.suppress(UserError):
        env = registry.environment(record.settings["env"])
        contracts = [registry.EnvVariant(env, variant).contract for variant in env.variants]
        contract = _joined(one.version for one in contracts)
        modules = tuple(dict.fromkeys(m.name for one in contracts for m in one.modules))
        oracle = env.oracle.title
        refs = {ref.name: ref for ref in env.candidates}
        edit = refs[name].edit if (name := record.settings["candidate"]) in refs else None
    pairs = _verdict(folder) if record.verified else {}
    # The verdict names the verified versions, whatever is installed now.
    contract = _joined(pair["contract"] for pair in pairs.values()) or contract
    oracle = _joined(pair["oracle"] for pair in pairs.values()) or oracle
    lines = None
    if edit is not None:
        with contextlib.suppress(UserError):
            base = record.settings["base"]
            lines = lines_in(folder, base, edit), lines_in(folder, record.commit, edit)
    return Facts(contract, oracle, modules, lines, tuple(map(_said, pairs, pairs.values())))


def lines_in(run: Path, commit: str, globs: Sequence[str]) -> int:
    """Return the number of text lines in a candidate's files at a commit; UserError if missing.

    run: the run's folder. Once the branch is taken over, the commits are the user's too.
    """
    own = Commits(run / COMMITS, Repository.here().inner)
    if not own.folder.exists():
        raise UserError(f"{own.folder} is missing")
    total = 0
    for path, file in own.files(commit):
        inside = Path(path)
        if inside.is_relative_to(own.inner) and b"\0" not in file.data:
            mine = may_edit(globs, inside.relative_to(own.inner).as_posix())
            total += len(file.data.splitlines()) if mine else 0
    return total


def _verdict(folder: Path) -> Mapping[str, Any]:
    try:
        return json.loads((folder / "verdict.json").read_text())["pairs"]
    except (OSError, ValueError, KeyError):
        return {}


def _said(label: str, pair: Mapping[str, Any]) -> str:
    lacks = f" (missing: {', '.join(pair['missing'])})" if pair["missing"] else ""
    return f"{label}: {pair['verdict']}{lacks}"


def _joined(names: Any) -> str:
    return ", ".join(dict.fromkeys(names))
