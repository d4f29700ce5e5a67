"""Say in a sentence where answers to the same input differ, or nearly do."""

from __future__ import annotations

import numpy as np

from twinstep._lib.json_values import text_of
from twinstep.compare.arrays import error, ulps
from twinstep.compare.rounding import rounding_words
from twinstep.contract import Contract
from twinstep.diagnosis.case import Answer, elements_that_differ
from twinstep.gates import Lockstep


def first_values(
    contract: Contract,
    one: dict[str, np.ndarray],
    other: dict[str, np.ndarray],
    gates: dict[str, Lockstep],
    found: dict[str, np.ndarray],
    how: tuple[str, str],
    first: int = 0,
) -> str:
    """Say which values of the first step that differs do, in its first lane.

    one, other: frame path -> [T, N, ...]. found: path -> bool[T, N], at least one of them True.
    how: the two ways in which the candidate was asked, in words. first: the step of row 0.
    """
    wrong = np.logical_or.reduce(list(found.values()))
    step = int(wrong.any(1).argmax())
    lane = int(wrong[step].argmax())
    differing = tuple(path for path in found if found[path][step, lane])
    truth, got = ({p: v[step, lane] for p, v in named.items()} for named in (one, other))
    answer = Answer(step, differing, {}, truth, got, {}, np.zeros(0), compared=gates)
    rows = elements_that_differ(contract, answer)
    values = [
        f"`{name}` is {text_of(want)} {how[0]} and {text_of(have)} {how[1]}{_apart(want, have)}"
        for name, _, want, have, _, _ in rows[:3]
    ]
    more = [f"{len(rows) - 3} more values differ"] if len(rows) > 3 else []
    lanes = f"{int(wrong.any(0).sum())} of {wrong.shape[1]} lanes differ"
    return "; ".join(
        [f"at step {first + step} of lane {lane}, {values[0]}", *values[1:], *more, lanes]
    )


def largest_error(answer: Answer) -> str:
    """Say which value comes closest to its gate; the answer was compared under half of each."""
    found = []
    for path in answer.paths:
        half, want = answer.compared[path], np.asarray(answer.oracle[path])
        size = error(want, np.asarray(answer.candidate[path])).ravel()
        allowed = 2 * (half.atol + half.rtol * np.abs(want.astype(np.float64))).ravel()
        # Where nothing is allowed, as by a share of zero, there is no error either.
        share = np.divide(size, allowed, out=np.zeros_like(size), where=allowed > 0)
        worst = int(share.argmax())
        found.append((share[worst], path, size[worst], allowed[worst]))
    _, path, size, allowed = max(found)
    return f"`{path}` has an error of {size:.3g}, allowed are {allowed:.3g}; batches round apart"


def _apart(one: np.ndarray, other: np.ndarray) -> str:
    words = rounding_words(float(ulps(one, other))) if one.dtype.kind == "f" else ""
    return f" ({words})" if words else ""
