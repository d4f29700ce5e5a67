"""Kept cases: the inputs of fixed bugs, without answers. The oracle answers them each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.contract import Contract, canonical_json
from twinstep.diagnosis import report
from twinstep.diagnosis.case import Case
from twinstep.errors import UserError
from twinstep.project.source_hash import package_folder


def folders(kind: str) -> list[Path]:
    """Return the folders of kept cases: the suite's own and the project's."""
    found = [package_folder(f"twinstep.{kind}") / "regressions"]
    own = Path(kind).absolute() / "regressions"
    return found if own in found else [*found, own]


def kept(kind: str, contract: Contract) -> list[tuple[str, Case]]:
    """Return (name, case) of all kept cases of this contract version and these parameters.

    kind: `rollouts` for episodes, `properties` for one-step witnesses.
    """
    cases = []
    for folder in folders(kind):
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                data = json.loads(path.read_text())
                mine = data["contract"] == contract.version and data["params"] == dict(
                    contract.params
                )
                if mine:
                    cases.append((path.name, Case.from_json(data["case"], contract)))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise UserError(f"{path} is not a kept case ({error!r})") from error
    return cases


def keep(record: dict[str, Any], root: Path = Path(), note: str = "") -> list[Path]:
    """Keep a report's inputs and its witness as regressions; return the files written.

    note: a description of the bug; without one the file names the test that found it. Raises
    UserError if the report has no case or a file cannot be written.
    """
    if not record["diff"] and not record["case"]["actions"]:
        raise UserError(f"report {record['id']} has no case to keep: {report.headline(record)}")
    written = []
    for kind, case in (("rollouts", record["case"]), ("properties", record["witness"])):
        if case is None or (kind == "rollouts" and case["kind"] != "episode"):
            continue
        data = {
            "contract": record["contract"],
            "params": record["params"],
            "found": note
            or f"{record['candidate']}, {record['context']['test'].rpartition('::')[2]}",
            "case": case,
        }
        path = root / kind / "regressions" / f"{record['id']}.json"
        try:
            paths.write_atomically(path, (canonical_json(data) + "\n").encode())
        except OSError as error:
            raise UserError(f"{path} cannot be written ({error.strerror})") from error
        written.append(path)
    return written
