"""The result files of a campaign: written while it runs, and read again to resume it."""

from __future__ import annotations

import contextlib
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
        """Write the partial result, at most every _OFTEN seconds."""
        if time.monotonic() - self._written >= _OFTEN:
            self._json(self._part, stopped=True)
            self._written = time.monotonic()

    def write(self, stopped: bool) -> None:
        """Write the result. stopped: True if mutants are left to run.

        The complete result of an earlier run is not overwritten by one that stopped.
        """
        path = self.stem.with_name(self.stem.name + ".json")
        if stopped and _is_complete(path):
            self._json(self._part, stopped)
            return
        content = self._json(path, stopped)
        text = markdown(content).encode()
        paths.write_atomically(self.stem.with_name(self.stem.name + ".md"), text)
        self._part.unlink(missing_ok=True)

    def _json(self, path: Path, stopped: bool) -> dict[str, Any]:
        content = result(self._campaign, self._command, self._cores, stopped)
        paths.write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
        return content

    def begun(self) -> list[dict[str, Any]]:
        """Return the rows of an earlier run of the same command that ended early.

        Survivors that are listed as equivalent by now become equivalent. UserError if there is no
        such run, or if it had other options or other sources.
        """
        path = self._part if self._part.is_file() else self.stem.with_name(self.stem.name + ".json")
        earlier = _read(path, "--resume")
        if (other := earlier.get("command")) != self._command:
            raise UserError(f"--resume: {path} was made by `{other}`: go on with the same options")
        if earlier.get("sources") != self._campaign.sources:
            raise UserError(
                f"--resume: the candidate is not that of {path} any more: leave --resume out, or "
                "ask for --again, which keeps what is settled"
            )
        self._campaign.kept = earlier.get("kept", 0)
        wanted = {mutant.id for mutant in self._campaign.mutants}
        reasons = self._campaign.equivalent
        return [_as_known(row, reasons) for row in earlier["mutants"] if row["id"] in wanted]


def sample_before(stem: Path, option: str) -> tuple[str, ...]:
    """Return the ids of an earlier result's whole sample, finished or not.

    option: `--resume` reads the run that ended early, if there is one; `--again` the result.
    UserError if there is neither.
    """
    part = stem.with_name(stem.name + ".part.json")
    early = option == "--resume" and part.is_file()
    earlier = _read(part if early else stem.with_name(stem.name + ".json"), option)
    # Results without a sample are older, and complete.
    return tuple(earlier.get("sampled") or (row["id"] for row in earlier["mutants"]))


def settled_before(stem: Path, campaign: Campaign) -> list[dict[str, Any]]:
    """Return the rows of the mutants that an earlier result settles.

    These are the unbuildable ones, the killed ones (if they have to be located: once a report has
    named their place), and the ones listed as equivalent, then or now, that no level of their run
    has noticed. UserError if there is no earlier result.
    """
    reasons, full = campaign.equivalent, campaign.full
    mutants = {mutant.id: mutant for mutant in campaign.mutants}
    path = stem.with_name(stem.name + ".json")
    last = str((campaign.early or campaign.plan.levels)[-1])
    rows = {}
    try:
        for row in _read(path, "--again")["mutants"]:
            name = row["id"]
            if name not in mutants:
                continue
            row |= {"line": mutants[name].line}
            if "suspect" in row:  # the candidate may declare more places by now
                row["located"] = located(campaign.pair, mutants[name], row["suspect"])
            if name in reasons and not row["kills"] and last in row["seconds"]:
                rows[name] = _as_known(row, reasons)
            elif name not in reasons and (
                row["class"] == "build"
                or (row["class"] == "killed" and (name not in full or _placed(row)))
            ):
                rows[name] = row
    except (KeyError, TypeError) as error:
        raise UserError(f"--again: {path} is no earlier result ({error!r})") from error
    return list(rows.values())


def _placed(row: dict[str, Any]) -> bool:
    """Return True if a killed mutant ran at every level and has a named place, where possible."""
    if not row.get("full", True):
        return False
    differs = row["kills"].get("3", {}).get("how") == "difference"
    return row["located"] != "elsewhere" if "located" in row else not differs


def _as_known(row: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """Return a row as equivalent if the mutant is listed as such and nothing noticed it."""
    if row["id"] not in reasons or row["kills"]:
        return row
    return row | {"class": "equivalent", "reason": reasons[row["id"]]}


def _is_complete(path: Path) -> bool:
    with contextlib.suppress(UserError):
        return not _read(path, "--out").get("stopped", True)
    return False


def _read(path: Path, option: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
        content["mutants"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{option}: {path} is no earlier result ({error!r})") from error
    return content
