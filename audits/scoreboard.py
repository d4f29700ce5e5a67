"""`audits/SCOREBOARD.md`, written from the results and witnesses beside it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from audits.pair import names
from audits.run import RESULTS, ROOT, WITNESSES

SCOREBOARD = ROOT / "audits" / "SCOREBOARD.md"
_HEAD = """# Public pairs, audited

`make audit` wrote this from `audits/results/`. A pair is a reference, a port of it in another
library, and the versions of both; `audits/pairs/` declares each. twinstep's levels 1 to 3 run with
their default settings: 100 episodes a driver, batches, and placed states where both sides can be
placed. Where one driver plays instead of two, the pair's file says why. Only the recording through
auto-resets is short, because twinstep makes them, not the port.

* **equal**: the same bits in all that is compared, in every step that was played.
* **equal but for rounding**: equal where the fields named under Gates may be off by rounding. A
  bound of one step from the same state is what `twinstep init` measures, or is given by hand; where
  the port cannot be placed, it is given by hand for whole episodes. The pair's file says which.
* **alike in distribution**: nothing can be placed, and each side draws its own chance: starts and
  single steps of both are samples that no test tells apart. That is far less than equality.
* **differs**: something else. The witness below the table asks both libraries without twinstep and
  ends in an assertion that they agree; "confirmed" says that it failed, and how.

A difference is not by itself a mistake of the port: it may be a choice. A row holds for these
versions, and "equal" for what was played. Steps are those of the reference at level 3.
"""


def results() -> list[dict[str, Any]]:
    """Return all results, by the pair's name."""
    return [json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))]


def text() -> str:
    """Return the scoreboard."""
    rows = results()
    words = Counter(_word(row) for row in rows)
    counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
    table = [
        "| pair | reference | versions | verdict | first difference | steps | minutes |",
        "|---|---|---|---|---|---|---|",
        *(_row(row) for row in rows),
    ]
    libraries = {name for row in rows for name in row["versions"]} - {"jax"}
    parts = [
        _HEAD,
        f"{len(rows)} pairs of {len(libraries)} packages, references and ports: {counts}.\n",
        "\n".join(table) + "\n",
        *(_witness(row) for row in rows if row["verdict"] == "differs"),
        *_gates(rows),
        *_without_result(rows),
        *_machines(rows),
    ]
    return "\n".join(parts)


def stale() -> str:
    """Return why the scoreboard does not fit the results, "" if it does."""
    if not SCOREBOARD.is_file() or SCOREBOARD.read_text() != text():
        return "audits/SCOREBOARD.md does not fit audits/results: `python -m audits --render`"
    return ""


def _word(row: dict[str, Any]) -> str:
    return row["verdict"].partition(":")[0]


def _row(row: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    found = row["first"] or row["problem"] or "-"
    if row["verdict"] == "differs":
        found += f" ({row['witness'].partition(':')[0]})"
    cells = (
        row["pair"],
        row["reference"],
        versions,
        row["verdict"],
        found.replace("|", "\\|"),
        f"{row['steps']:,}",
        f"{row['minutes']:g}",
    )
    return f"| {' | '.join(cells)} |"


def _witness(row: dict[str, Any]) -> str:
    script = WITNESSES / f"{row['pair']}.py"
    code = script.read_text() if script.is_file() else "# none\n"
    said = row["witness"].partition(": ")[2] or row["witness"]
    return f"## {row['pair']}\n\n{row['first']}\n\n```python\n{code}```\n\n`{said}`\n"


def _gates(rows: list[dict[str, Any]]) -> list[str]:
    lines = [f"* {row['pair']}: {', '.join(row['gates'])}" for row in rows if row["gates"]]
    return ["## Gates\n", "\n".join(lines) + "\n"] if lines else []


def _without_result(rows: list[dict[str, Any]]) -> list[str]:
    left = sorted(set(names()) - {row["pair"] for row in rows})
    return [f"Declared, and not run yet: {', '.join(left)}.\n"] if left else []


def _machines(rows: list[dict[str, Any]]) -> list[str]:
    made = Counter(
        f"{row['machine']['cpu']}, {row['machine']['cores_used']} cores, {row['machine']['os']}"
        for row in rows
    )
    dates = [row["date"] for row in rows]
    when = f"{min(dates)} to {max(dates)}" if dates else ""
    return [f"Run {when} on {'; '.join(made)}. Pairs ran beside each other.\n"] if rows else []
