"""An issue for the maintainers of a port, written from a failure report: no word of ours in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from twinstep._lib.json_values import text_of
from twinstep._lib.markdown import table
from twinstep.diagnosis.boards import action_text, grids_text, masks_text, step_text
from twinstep.diagnosis.report import has_case

#: The most rows of values, and of runs of actions, that are written out.
_ROWS = 12


def issue(record: dict[str, Any], versions: Mapping[str, str]) -> str:
    """Return the text of an issue, its title in the first line.

    record: of a failure report with a case. versions: distribution -> version of the port and what
    it runs on.
    """
    assert has_case(record)
    reference = record["oracle"]["title"]
    used = [f"- {name} {version}" for name, version in sorted(versions.items())]
    pins = [f"- {n} {v}" for n, v in sorted(record["oracle"]["pins"].items()) if _is_version(v)]
    return "\n".join(
        [
            f"# {_title(record)}",
            "",
            f"Compared with {reference}, from the same state and with the same actions.",
            "",
            *_reproduced(record),
            "",
            *_values(record),
            "",
            *_frequency(record),
            "## Versions",
            *dict.fromkeys([*used, *pins]),
            "",
        ]
    )


def _title(record: dict[str, Any]) -> str:
    if raised := record.get("raised"):
        return f"A step raises {raised['what']}"
    row = record["diff"][0]
    if record.get("masks") and row["path"].startswith("legal"):
        return f"Other legal actions than in {record['oracle']['title']}"
    name = row["path"].removeprefix("state.")
    sides = text_of(row["candidate"]), text_of(row["oracle"])
    return f"`{name}` is {sides[0]} where {record['oracle']['title']} has {sides[1]}"


def _reproduced(record: dict[str, Any]) -> list[str]:
    witness = record["witness"]
    single = witness and witness["kind"] == "step" and len(witness["actions"]) == 1
    if record["one_step"] and single:
        return ["One step from this state shows it:", "", *step_text(record).splitlines()[1:]]
    case = record["case"]
    if case["kind"] == "module":
        given = ", ".join(f"{n}={text_of(v)}" for n, v in case["inputs"].items())
        return [f"`{case['module']}({given})` shows it."]
    runs = [f"{action_text(action)} x {count}" for action, count in case["actions"]]
    more = [f"({len(runs) - _ROWS} more)"] if len(runs) > _ROWS else []
    start = ", ".join(f"{n} = {text_of(v)}" for n, v in case["start"].items())
    begin = f"It begins with {start}. " if start else f"It begins with seed {case['seed']}. "
    return [f"{begin}The actions: {', '.join([*runs[:_ROWS], *more]) or 'none, at reset'}."]


def _values(record: dict[str, Any]) -> list[str]:
    sides = ("the reference", "the port")
    lines = [masks_text(record["masks"], sides)] if record.get("masks") else []
    rows = [r for r in record["diff"] if not (lines and r["path"].startswith("legal"))]
    shown = [
        [row["path"].removeprefix("state."), text_of(row["oracle"]), text_of(row["candidate"])]
        for row in rows[:_ROWS]
    ]
    if shown:
        lines += table([["", "reference", "here"], *shown])
    if raised := record.get("raised"):
        lines.append(f"It raises `{raised['what']}` at `{raised['place']}`.")
    if record.get("grids"):
        lines += ["", *grids_text(record["grids"]).splitlines()[1:]]
    return lines


def _frequency(record: dict[str, Any]) -> list[str]:
    counts = record["context"]["counts"]
    if not counts.get("episodes"):
        return []
    return [
        f"Of {counts['episodes']} episodes that were played, {counts['diverging']} differ "
        "somewhere.",
        "",
    ]


def _is_version(value: str) -> bool:
    return re.fullmatch(r"\d+(\.\w+)+", value) is not None
