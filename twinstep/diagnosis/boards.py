"""Masks and boards of a difference, as people read them: sets of actions, grids of cells.

The functions in pairs: one for a record's part, one for its text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep._lib.json_values import text_of, to_json
from twinstep.contract import Contract, Discrete
from twinstep.diagnosis.case import Answer

#: The most cells of a grid that is shown, and the most grids.
CELLS, GRIDS = 256, 2
#: The most elements of a row that stands for a board.
ROW = 64
#: The most actions of a set that are named.
NAMED = 24


def masks(contract: Contract, answer: Answer) -> list[dict[str, Any]]:
    """Return, for each player whose mask differs, the actions that one side alone allows.

    A row: `player`, and the names or numbers of the actions legal in `oracle` or `candidate` alone.
    """
    if answer.module or "legal" not in answer.paths:
        return []
    assert isinstance(contract.action, Discrete)
    names = contract.action.names or tuple(map(str, range(contract.action.n)))
    both = np.asarray(answer.oracle["legal"]), np.asarray(answer.candidate["legal"])
    rows = []
    for player, (want, got) in enumerate(zip(*both, strict=True)):
        if (want != got).any():
            alone = {"oracle": want & ~got, "candidate": got & ~want}
            sets = {side: [names[i] for i in np.flatnonzero(only)] for side, only in alone.items()}
            rows.append({"player": player, **sets})
    return rows


def masks_text(
    rows: list[dict[str, Any]], sides: tuple[str, str] = ("the oracle", "the candidate")
) -> str:
    """Return the sets of a record's masks: `legal: e2e4, g1f3 only in the candidate`.

    sides: what the oracle and the candidate are called.
    """
    return "; ".join(_mask_text(row, len(rows) > 1 or row["player"] > 0, sides) for row in rows)


def _mask_text(row: dict[str, Any], named: bool, sides: tuple[str, str]) -> str:
    who = f"`legal` of player {row['player']}" if named else "`legal`"
    both = zip(("oracle", "candidate"), sides, strict=True)
    sets = [f"{_some(row[side])} only in {called}" for side, called in both if row[side]]
    return f"{who}: {', '.join(sets)}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def grids(contract: Contract, answer: Answer) -> list[dict[str, Any]]:
    """Return the small grids of a frame, those that differ first: where things stand in a game.

    A row: `path`, `oracle` and `candidate`, both nested lists [rows, columns]. The observation is
    that of the player who acts. Where a mask differs and nothing is a grid, a short observation is
    a grid of one row.
    """
    if answer.module or answer.raised or not answer.candidate:
        return []
    found = []
    for path in contract.compared_paths():
        if path == "legal" or path not in answer.oracle or path not in answer.candidate:
            continue
        want, got = np.asarray(answer.oracle[path]), np.asarray(answer.candidate[path])
        name, flat = path, False
        if path == "obs":
            player = int(np.argmax(answer.oracle.get("acting", 0)))
            name = f"obs of player {player}" if len(want) > 1 else path
            want, got = want[player], got[player]
            flat = want.ndim == 1 and "legal" in answer.paths and want.size <= ROW
            want, got = (want[None], got[None]) if flat else (want, got)
        whole = want.ndim == 2 and (flat or min(want.shape) > 1)
        if want.dtype.kind in "iub" and whole and want.size <= CELLS:
            row = {"path": name, "oracle": to_json(want), "candidate": to_json(got)}
            found.append((flat, bool((want == got).all()), row))
    found.sort(key=lambda each: each[:2])
    # A row is shown where there is no board.
    return [row for flat, _, row in found[:GRIDS] if flat == found[0][0]]


def grids_text(rows: list[dict[str, Any]]) -> str:
    """Return a record's grids; a cell that differs is `oracle/candidate`."""
    lines = ["## Where things stand"]
    for row in rows:
        pairs = zip(row["oracle"], row["candidate"], strict=True)
        cells = [[_cell(*both) for both in zip(*line, strict=True)] for line in pairs]
        width = max(len(cell) for line in cells for cell in line)
        lines += [f"{row['path'].removeprefix('state.')}:", "```"]
        lines += [" ".join(cell.rjust(width) for cell in line) for line in cells] + ["```"]
    return "\n".join(lines)


def _cell(want: Any, got: Any) -> str:
    short = [str(int(value)) for value in (want, got)]
    return short[0] if want == got else "/".join(short)


def step_text(record: dict[str, Any], most: int = 64) -> str:
    """Return a record's one-step witness as Python for a test without twinstep.

    most: elements of an array that is written out; of a larger one the record has the values.
    """
    names, lines = record.get("elements", {}), []
    for name, value in record["witness"]["state"].items():
        comment = f"  # {', '.join(names[name])}" if name in names else ""
        lines.append(f'    "{name}": {_written(value, most)},{comment}')
    (action, _) = record["witness"]["actions"][0]
    action = action[0] if len(action) == 1 else action
    return "\n".join(
        [
            "## The step alone",
            "```python",
            "state = {",
            *lines,
            "}",
            f"action = {action!r}",
            "```",
        ]
    )


def _written(value: Any, most: int) -> str:
    size = int(np.prod(value["shape"])) if isinstance(value, dict) else np.asarray(value).size
    if size > most:
        return f"...  # {size} values, in the JSON beside this"
    if isinstance(value, list):
        return f"[{', '.join(_written(each, most) for each in value)}]"
    return repr(value) if not isinstance(value, str) else f'float("{value}")'


def action_text(action: Any) -> str:
    """Return an action of a case: `2`, `[0, 3]`, `2 (illegal)` where it is asked as it is."""
    values = np.asarray(action)
    if values.dtype.kind == "i" and (values < 0).any():
        asked = [f"{~a} (illegal)" if a < 0 else str(a) for a in values.reshape(-1)]
        return asked[0] if len(asked) == 1 else f"[{', '.join(asked)}]"
    return text_of(values.reshape(-1)[0]) if values.size == 1 else text_of(values)
