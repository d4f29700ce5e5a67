"""Marks of tests that a daily suite may leave out: `repeated` and `proved`.

A run has all of them, unless its -m expression leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from twinstep.project.registry import Pair
from twinstep.project.verdicts import verdict_of
from twinstep.testing.run import LAB, REFERENCE


def mark(items: Iterable[pytest.Item], pairs: Iterable[Pair]) -> None:
    """Add the markers to a run's items; `session.MARKERS` has their meanings."""
    pairs, known = list(pairs), {}
    for item in items:
        spec: Any = getattr(item, "callspec", None)
        params = spec.params if spec else {}
        pair: Pair | None = params.get(LAB)
        calling = item.get_closest_marker("calling")
        if pair and calling and _is_repeated(pair, pairs, calling):
            item.add_marker("repeated")
        subject = pair.subject if pair else params.get(REFERENCE)
        asked = [pair] if pair else [p for p in pairs if p.subject is subject]
        for each in asked:
            if each.label not in known:
                known[each.label] = _is_proved(each, pairs)
        if asked and all(known[each.label] for each in asked):
            item.add_marker("proved")


def _is_repeated(pair: Pair, pairs: list[Pair], calling: pytest.Mark) -> bool:
    compiled = {"": (), "own": (pair.candidate,), "all": pair.subject.env.candidates}
    dear = any(ref.slow_to_compile for ref in compiled[calling.kwargs.get("compiles", "")])
    return dear or _first(pair, pairs, alike=False) != pair


def _is_proved(pair: Pair, pairs: list[Pair]) -> bool:
    """Return whether a pair is none of the first, and a stored verdict on a CPU holds here.

    That is of these very files of the candidate, and of this contract and version of the reference.
    It says nothing of the bridge to the reference, which the first pairs ask in every run.
    """
    if _first(pair, pairs, alike=True) == pair:
        return False
    stored = verdict_of(pair.subject, pair, "cpu")
    return stored.verified and stored.detail["pins"] == dict(pair.subject.probe.pins)


def _first(pair: Pair, pairs: list[Pair], alike: bool) -> Pair:
    """Return the first pair of a pair's environment and candidate.

    alike: whether candidates made of the same files, as for another precision, are one.
    """

    def is_same(other: Pair) -> bool:
        one, two = pair.candidate, other.candidate
        same = one.name == two.name or alike and bool(one.edit) and one.edit == two.edit
        return same and other.subject.env.name == pair.subject.env.name

    return next(other for other in pairs if is_same(other))
