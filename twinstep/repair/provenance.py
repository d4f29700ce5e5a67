"""The PROVENANCE.toml of a verified run: the candidate's origin and its passed stages."""

from __future__ import annotations

import datetime
import json
import re
import shlex

from twinstep.repair.history import Record, cost
from twinstep.repair.metadata import Facts
from twinstep.repair.sandbox import TRUST

_STAMP = re.compile(r"-(\d{8})-\d{6}-[0-9a-f]+$")
#: Settings of a run that are no options of its command line.
_INNER = ("kind", "base")


def toml(record: Record, facts: Facts) -> str:
    """Return the TOML of a verified run."""
    dollars, whole = cost(record.tries)
    agent, tries = record.settings["agent"], record.tries
    rows: dict[str, str] = {
        "contract": _text(facts.contract or "unknown"),
        "oracle": _text(facts.oracle or "unknown"),
        "written": written(record.name) or _text("unknown"),
        "written_by": _text(f"the coding agent `{agent}`, by `twinstep repair`"),
        "run": _text(record.name),
        "command": _text(command(record)),
        "tries": str(len(tries)),
        "undone": str(sum(one.undone for one in tries)),
        "cost_usd": f"{round(dollars, 6)!r}" if whole else _text("unknown"),
    }
    if not whole:
        rows["cost_usd_known_part"] = f"{round(dollars, 6)!r}"
    rows["commit"] = _text(record.commit)
    if record.end:
        rows["files_sha256"] = _text(record.end.files)
    if not record.settings.get("sandbox", False):
        rows["trust"] = _text(TRUST)
    rows["verified_by"] = _list(record.proofs)
    if facts.verdicts:
        rows["verdict"] = _list(facts.verdicts)
    lines = [f"{name} = {value}" for name, value in rows.items()]
    return "\n".join(["# Where this implementation comes from.", *lines]) + "\n"


def command(record: Record) -> str:
    """Return the command line that began the run. A setting of 0 is no limit."""
    words = ["twinstep", "repair"]
    first = ("env", "candidate", "agent")
    names = [*first, *sorted(record.settings.keys() - {*first, *_INNER})]
    for name in names:
        value = record.settings[name]
        if isinstance(value, bool):
            words += [] if value else [f"--no-{name.replace('_', '-')}"]
        elif value:
            words += [f"--{name.replace('_', '-')}", str(value).removesuffix(".0")]
    return shlex.join(words)


def written(run: str) -> str:
    """Return the date in a run's name, "" if there is none."""
    match = _STAMP.search(run)
    try:
        return datetime.datetime.strptime(match[1], "%Y%m%d").date().isoformat() if match else ""
    except ValueError:
        return ""


def _text(value: str) -> str:
    # JSON's escapes are TOML's, except for one character that JSON does not escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(values: list[str] | tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, values))}]"
