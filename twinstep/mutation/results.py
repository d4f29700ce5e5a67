"""The files of a campaign's result: what is done is kept on the way, and taken up again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.errors import UserError
from twinstep.mutation.campaign import Campaign, located
from twinstep.mutation.report import markdown, result

#: Seconds between two writings of a result that grows.
_OFTEN = 20.0


class ResultFile:
    """`STEM.json` and `STEM.md`; `STEM.part.json` while a campaign is under way."""

    def __init__(self, stem: Path, campaign: Campaign, workers: int, command: str) -> None:
        self.stem, self._campaign, self._command = stem, campaign, command
        self._part = stem.with_name(stem.name + ".part.json")
        self._cores = sorted(os.sched_getaffinity(0))[:workers]
        self._written = time.monotonic()

    def keep(self) -> None:
        """Write what is done, unless that was just done."""
        if time.monotonic() - self._written >= _OFTEN:
            self._json(self._part, stopped=True)
            self._written = time.monotonic()

    def write(self, stopped: bool) -> None:
        """Write the result. stopped: before all mutants were done."""
        found = self._json(self.stem.with_name(self.stem.name + ".json"), stopped)
        text = markdown(found).encode()
        paths.write_atomically(self.stem.with_name(self.stem.name + ".md"), text)
        self._part.unlink(missing_ok=True)

    def _json(self, path: Path, stopped: bool) -> dict[str, Any]:
        found = result(self._campaign, self._command, self._cores, stopped)
        paths.write_atomically(path, (json.dumps(found, indent=1) + "\n").encode())
        return found

    def begun(self) -> list[dict[str, Any]]:
        """Return the rows of the same command's run that ended early.

        What nothing noticed and is called equivalent since then is. UserError if there is none, if
        it asked for something else, or of other sources.
        """
        path = self._part if self._part.is_file() else self.stem.with_name(self.stem.name + ".json")
        found = _read(path, "--resume")
        if (other := found.get("command")) != self._command:
            raise UserError(f"--resume: {path} was made by `{other}`: go on with the same options")
        if found.get("sources") != self._campaign.sources:
            raise UserError(
                f"--resume: the candidate is not that of {path} any more: leave --resume out, or "
                "ask for --again, which keeps what is settled"
            )
        self._campaign.kept = found.get("kept", 0)
        asked = {mutant.id for mutant in self._campaign.mutants}
        known = self._campaign.equivalent
        return [_as_known(row, known) for row in found["mutants"] if row["id"] in asked]


def sample_before(stem: Path, option: str) -> tuple[str, ...]:
    """Return the ids of the sample that an earlier result's was to be, whatever was asked of it.

    option: `--resume`, of the run that ended early, if one did; or `--again`. UserError if there is
    none.
    """
    part = stem.with_name(stem.name + ".part.json")
    early = option == "--resume" and part.is_file()
    found = _read(part if early else stem.with_name(stem.name + ".json"), option)
    # Results that do not name their sample are older, and whole.
    return tuple(found.get("sampled") or (row["id"] for row in found["mutants"]))


def settled_before(stem: Path, campaign: Campaign) -> list[dict[str, Any]]:
    """Return the rows of the mutants that an earlier result leaves no question about.

    Those are the unbuildable ones, the killed ones unless they are to be located and no report has
    named their place, and those that are called equivalent, maybe since then, and that no level
    which is asked of such has noticed. UserError if there is no earlier result.
    """
    known, full = campaign.equivalent, campaign.full
    mutants = {mutant.id: mutant for mutant in campaign.mutants}
    path = stem.with_name(stem.name + ".json")
    last = str((campaign.early or campaign.plan.levels)[-1])
    done = {}
    try:
        for row in _read(path, "--again")["mutants"]:
            name = row["id"]
            if name not in mutants:
                continue
            row |= {"line": mutants[name].line}
            if "suspect" in row:  # what a candidate declares may have become more
                row["located"] = located(campaign.pair, mutants[name], row["suspect"])
            if name in known and not row["kills"] and last in row["seconds"]:
                done[name] = _as_known(row, known)
            elif name not in known and (
                row["class"] == "build"
                or (row["class"] == "killed" and (name not in full or _placed(row)))
            ):
                done[name] = row
    except (KeyError, TypeError) as error:
        raise UserError(f"--again: {path} is no earlier result ({error!r})") from error
    return list(done.values())


def _placed(row: dict[str, Any]) -> bool:
    """Whether a killed mutant was asked at every level, and its place was named if it could be."""
    if not row.get("full", True):
        return False
    differs = row["kills"].get("3", {}).get("how") == "difference"
    return row["located"] != "elsewhere" if "located" in row else not differs


def _as_known(row: dict[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """Return a row as equivalent if it is called so and nothing noticed it."""
    if row["id"] not in known or row["kills"]:
        return row
    return row | {"class": "equivalent", "reason": known[row["id"]]}


def _read(path: Path, option: str) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
        found["mutants"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{option}: {path} is no earlier result ({error!r})") from error
    return found
