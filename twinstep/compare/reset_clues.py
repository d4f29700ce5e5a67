"""What a wrong auto-reset looks like: clues from all lanes, and the steps around a difference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinstep._lib.json_values import text_of
from twinstep._lib.markdown import table

#: Elements of an observation that the table of steps shows.
_SHOWN = 16


class ExpectedSteps(NamedTuple):
    """Expected steps of an environment. steps[t] follows from actions[t]; valid where it exists.

    actions: [T, N, P, ...]. heads: name -> [T, N, ...] in `TimeStep`'s layout. valid: bool[T, N].
    over: whether nobody decides where an episode ends, so that `acting` and `legal` say nothing.
    """

    actions: np.ndarray
    heads: dict[str, np.ndarray]
    valid: np.ndarray
    over: bool = False


def as_if(expected: ExpectedSteps, got: np.ndarray, first: np.ndarray) -> str:
    """Say what the observations [T, N, ...] look like at all lanes' first ends, or after them.

    first: [N, ...], at reset. One lane may look so by chance, and a lane where the oracle's does
    too shows nothing. "" where no clue holds in all others.
    """
    ended = (expected.heads["terminated"] | expected.heads["truncated"]) & expected.valid
    lanes = np.flatnonzero(ended[:-1].any(0))
    if not len(lanes):
        return ""
    ends, want = ended[:, lanes].argmax(0), expected.heads["obs"]
    at_end, after = (
        (want[ends, lanes], got[ends, lanes]),
        (want[ends + 1, lanes], got[ends + 1, lanes]),
    )
    final = expected.heads.get("final_obs", want)[ends, lanes]
    clues = (
        (at_end, first[lanes], "as if every episode of a lane began like its first"),
        (at_end, final, "as if nothing were reset"),
        (after, got[ends, lanes], "as if the action after an end were not played"),
    )
    for (truth, seen), before, words in clues:
        moved, still = (_differs(truth, before), ~_differs(seen, before))
        if moved.any() and still[moved].all():
            return f", {words}"
    return ""


def _differs(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    return (values != others).reshape(len(values), -1).any(1)


def around(expected: ExpectedSteps, heads: dict[str, Any], t: int, lane: int, name: str) -> str:
    """Return row t of a lane, the one before and two after, as a table of both sides.

    heads: the candidate's, as `expected.heads`. name: of the head that differs.
    """
    truth = expected.heads
    shown = dict.fromkeys(("obs", "reward", name))
    names = [n for n in shown if n in truth and truth[n][t, lane].size <= _SHOWN]
    rows = [
        ["step", "action", *(f"{n}{side}" for n in names for side in ("", ", expected")), "end"]
    ]
    for row in range(max(0, t - 1), min(len(expected.actions), t + 3)):
        if expected.valid[row, lane]:
            pairs = [(heads[n][row, lane], truth[n][row, lane]) for n in names]
            ends = [n for n in ("terminated", "truncated") if n in truth and truth[n][row, lane]]
            cells = [expected.actions[row, lane], *(value for pair in pairs for value in pair)]
            rows.append(
                [str(row + 1), *(text_of(np.squeeze(cell)) for cell in cells), *(ends or [""])]
            )
    return "\n".join(table(rows))
