"""Compare the starts that two sides draw by themselves, in distribution.

Where a contract places starts, both sides begin with the same values, and whatever a port's own
reset would draw is hidden. No seed gives both the same start: samples are compared instead, each
element's range, values and frequencies, and how each two elements go together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

#: SciPy's results have attributes that its annotations lack. `scipy.stats` loads on first use.
_scipy: Any = scipy
#: The chance that a right port is called different, over all elements together.
ALPHA = 1e-3
#: The chance with which a difference of the size that is told would be seen.
POWER = 0.95
#: Up to so many different values are counted one by one.
_FEW = 40
#: Values of fewer starts, of both sides together, are counted as one.
_RARE = 10
#: Values closer than this share of their range are one: both sides may round.
_CLOSE = 1e-6
#: The most elements that are compared, and of which each two are: evenly spaced ones beyond that.
_ELEMENTS, _PAIRED = 1000, 24
#: Tests of one element: frequencies, ties, and either end of the range by either side.
_TESTS = 6


@dataclass(frozen=True)
class Comparison:
    """The outcome. differences: a phrase each, the clearest first. seen: what would be noticed."""

    differences: tuple[str, ...]
    seen: str


@dataclass(frozen=True)
class _Element:
    """One element of a frame over the starts of both sides.

    one, other: float64[N] and [M], of the reference and of the candidate. places: i64[N + M], the
    values' order among all, equal for equal values.
    """

    name: str
    one: np.ndarray
    other: np.ndarray
    places: np.ndarray

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of both sides' values."""
        return self.places[: len(self.one)], self.places[len(self.one) :]


def compare(
    reference: Mapping[str, np.ndarray],
    candidate: Mapping[str, np.ndarray],
    name_of: Callable[[str, tuple[int, ...]], str],
) -> Comparison:
    """Compare samples of starts, path -> [N, ...] and [M, ...].

    name_of: the name of a path's element at an index. Every test is of exchangeability, so that it
    needs no assumption on how starts are distributed; Holm's correction holds over all of them.
    """
    elements = _varying(reference, candidate, name_of)
    if not elements:
        return Comparison((), "no element varies")
    paired = _spaced(elements, _PAIRED)
    pairs = list(itertools.combinations(paired, 2))
    tests = [(_of_element(each), each) for each in elements]
    scored = [(min(1.0, _TESTS * min(found.values())), found, (each,)) for found, each in tests]
    scored += [(_together(*pair), {}, pair) for pair in pairs]
    scored.sort(key=lambda row: row[0])
    rejected = []
    for rank, row in enumerate(scored):
        if row[0] > ALPHA / (len(scored) - rank):
            break
        rejected.append(row)
    alone = {of[0].name for _, _, of in rejected if len(of) == 1}
    told = [_told(found, *of) for _, found, of in rejected if len(of) == 1]
    told += [
        _told_together(*of)
        for _, _, of in rejected
        if len(of) == 2 and not alone & {each.name for each in of}
    ]
    return Comparison(tuple(told), _seen(elements, ALPHA / len(scored) / _TESTS))


def _varying(reference: Any, candidate: Any, name_of: Any) -> list[_Element]:
    """Return the elements that are not the same in all starts of both sides, each once."""
    found: dict[bytes, _Element] = {}
    for path in reference:
        one, other = (
            np.asarray(side[path]).reshape(len(side[path]), -1) for side in (reference, candidate)
        )
        # In the precision of the side that has less.
        if one.dtype != other.dtype and one.dtype.kind == "f":
            one = one.astype(other.dtype)
        changes = np.flatnonzero((one != one[:1]).any(0) | (other != one[:1]).any(0))
        shape = np.shape(reference[path])[1:]
        for at in _spaced(list(changes), _ELEMENTS):
            mine, its = _finite(one[:, at]), _finite(other[:, at])
            eps = np.finfo(other.dtype).eps if other.dtype.kind == "f" else 0.0
            places = _places(np.concatenate([mine, its]), float(eps))
            if places.max() == 0:
                continue
            index = tuple(int(i) for i in np.unravel_index(at, shape)) if shape else ()
            element = _Element(name_of(path, index), mine, its, places)
            # An observation often repeats a field of the state, whose name says more.
            if path.startswith("state.") or places.tobytes() not in found:
                found[places.tobytes()] = element
    return _spaced(list(found.values()), _ELEMENTS)


def _finite(values: np.ndarray) -> np.ndarray:
    values = values.astype(np.float64)
    most = float(np.finfo(np.float32).max)
    return np.nan_to_num(values, nan=2 * most, posinf=most, neginf=-most)


def _places(values: np.ndarray, eps: float) -> np.ndarray:
    """Return the order i64[N] of each value among all; values that are close have the same one.

    eps: of their dtype.
    """
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    size = max(4 * eps * float(np.abs(values).max()), _CLOSE * float(ranked[-1] - ranked[0]))
    places = np.empty(len(values), np.int64)
    places[order] = np.concatenate([[0], np.cumsum(np.diff(ranked) > size)])
    return places


def _spaced(items: list[Any], most: int) -> list[Any]:
    if len(items) <= most:
        return items
    return [items[at] for at in np.linspace(0, len(items) - 1, most).astype(int)]


def _of_element(element: _Element) -> dict[str, float]:
    """Return the p values of an element's tests."""
    one, other = element.sides
    counts = np.stack(
        [np.bincount(side, minlength=element.places.max() + 1) for side in (one, other)]
    )
    # Where both are drawn alike, each of the outermost values is from either side by a coin's toss.
    beyond = [
        int((x > y.max()).sum()) if upper else int((x < y.min()).sum())
        for x, y in ((one, other), (other, one))
        for upper in (True, False)
    ]
    alike = _counted(counts) if counts.shape[1] <= _FEW else _ks(one, other)
    # A value that occurs once comes from either side by a coin's toss, too: not where one is dealt.
    alone = counts[:, counts.sum(0) == 1].sum(1)
    ties = 1.0
    if alone.sum():
        share = len(one) / len(element.places)
        ties = float(_scipy.stats.binomtest(int(alone[0]), int(alone.sum()), share).pvalue)
    return {"ends": 0.5 ** max(beyond), "ties": ties, "alike": alike}


def _counted(counts: np.ndarray) -> float:
    rare = counts.sum(0) < _RARE
    cells = np.concatenate([counts[:, ~rare], counts[:, rare].sum(1, keepdims=True)], 1)
    cells = cells[:, cells.sum(0) > 0]
    return float(_scipy.stats.chi2_contingency(cells).pvalue) if cells.shape[1] > 1 else 1.0


def _ks(one: np.ndarray, other: np.ndarray) -> float:
    return float(_scipy.stats.ks_2samp(one, other, method="asymp").pvalue)


def _together(first: _Element, second: _Element) -> float:
    """Return the p value of how two elements go together: of the difference of their ranks."""
    ranks = [_scipy.stats.rankdata(each.places) for each in (first, second)]
    apart = ranks[0] - ranks[1]
    return _ks(apart[: len(first.one)], apart[len(first.one) :])


def _told(found: dict[str, float], element: _Element) -> str:
    one, other = element.one, element.other
    known, got = (len(np.unique(side)) for side in element.sides)
    low, high = (f"{end:.6g}" for end in (other.min(), other.max()))
    lies = f"lies in {low} to {high}" if got > 1 else f"is always {low}"
    least, most = (f"{end:.6g}" for end in (one.min(), one.max()))
    range_ = f"the reference's in {least} to {most}" if known > 1 else f"the reference's is {least}"
    if min(known, got) == 1:
        return f"`{element.name}` {lies}, {range_}"
    if found["ends"] < ALPHA / _TESTS:
        ratio = np.ptp(other) / np.ptp(one)
        wide = f" ({ratio:.3g} times as wide)" if abs(ratio - 1) > 0.02 else ""
        return f"`{element.name}` {lies}{wide}, {range_}"
    if found["ties"] < ALPHA / _TESTS and found["ties"] < found["alike"]:
        words = {True: "is dealt from few values", False: "takes any value"}
        mine, its = words[got < known], words[got > known]
        return f"`{element.name}` {mine}, the reference's {its} ({got} and {known} different ones)"
    if max(known, got) <= _FEW:
        counts = [np.bincount(side, minlength=element.places.max() + 1) for side in element.sides]
        value = int(np.abs(counts[0] / len(one) - counts[1] / len(other)).argmax())
        shown = np.concatenate([one, other])[element.places == value][0]
        return (
            f"`{element.name}` is {shown:.6g} in {counts[1][value]} starts, "
            f"in {counts[0][value]} of the reference's"
        )
    return (
        f"`{element.name}` has a mean of {other.mean():.4g} and a deviation of {other.std():.4g}, "
        f"the reference's of {one.mean():.4g} and {one.std():.4g}"
    )


def _told_together(first: _Element, second: _Element) -> str:
    size = len(first.one)
    parts = (slice(None, size), slice(size, None))
    with np.errstate(invalid="ignore"):
        known, got = (
            float(_scipy.stats.spearmanr(first.places[part], second.places[part]).statistic)
            for part in parts
        )
    return (
        f"`{first.name}` and `{second.name}` go together in another way: their rank correlation is "
        f"{got:.2f}, the reference's {known:.2f}"
    )


def _seen(elements: list[_Element], level: float) -> str:
    """Say which difference tests at this level would show with a chance of POWER."""
    sizes = len(elements[0].one), len(elements[0].other)
    spread = math.sqrt((sizes[0] + sizes[1]) / (sizes[0] * sizes[1]))
    sure = float(_scipy.stats.norm.ppf(POWER))
    if any(each.places.max() >= _FEW for each in elements):
        # Of normal numbers; the distance of two empirical functions varies by half of `spread`.
        least = (math.sqrt(-math.log(level / 2) / 2) + sure / 2) * spread
        shift = 2 * float(_scipy.stats.norm.ppf((1 + least) / 2)) if least < 1 else math.inf
        return f"a shift of {shift:.2g} sd would be seen"
    share = (float(_scipy.stats.norm.isf(level / 2)) + sure) * spread / 2
    return f"a value's share off by {share:.2g} would be seen"
