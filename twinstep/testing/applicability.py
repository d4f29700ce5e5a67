"""Which checks apply to a candidate: by what both sides offer and what the contract declares.

A test of the suite states its conditions in marks, `@pytest.mark.needs("candidate.load")`; what
`twinstep.make` must be able to do is `"shipped.auto_step"`. Where one does not hold the test is not
collected, and the verdict names it with the condition. What is not known yet, as of a candidate
that cannot be built, counts as offered: then the test runs and says what is wrong.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from twinstep.compare.arrays import Rules
from twinstep.project.registry import EnvVariant, Pair
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab

#: Optional methods of candidates that checks ask for. `pure` is that of `JaxCandidate`.
_CANDIDATE = (*CANDIDATE_LADDER, "pure")
#: What `make` does for a JAX candidate that does not do it itself.
_OF_THE_CORE = ("auto_step", "frame")


class Offers(NamedTuple):
    """What a built candidate is: its optional methods, dtype and platform.

    shipped: methods that `make` uses, which a candidate in its own process offers nobody else.
    """

    methods: tuple[str, ...]
    dtype: str
    platform: str
    shipped: tuple[str, ...] = ()

    def ships(self, method: str) -> bool:
        """Return whether `make` has a method's part: the core resets and shows JAX's lanes."""
        every = (*self.methods, *self.shipped)
        return method in every or ("pure" in every and method in _OF_THE_CORE)


@dataclass(frozen=True)
class Facts:
    """What is known of a pair before its tests run.

    candidate: None if it is not known, as where it cannot be built. oracle: the optional methods of
    the reference, or None. isolated: whether the candidate runs in a process of its own.
    """

    pair: Pair
    candidate: Offers | None
    oracle: tuple[str, ...] | None
    isolated: bool = False

    @classmethod
    def of(cls, lab: Lab) -> Facts:
        """Return the facts of a lab, which builds its candidate and starts its oracle."""
        return cls(
            lab.pair, _offers_of(lab), tuple(n for n in ORACLE_LADDER if lab.oracle.offers(n))
        )

    @functools.cached_property
    def rules(self) -> Rules | None:
        """The gates that hold for this candidate here."""
        if self.candidate is None:
            return None
        return Rules.of(
            self.pair.subject.contract,
            candidate=self.pair.candidate.name,
            dtype=self.candidate.dtype,
            platform=self.candidate.platform,
        )

    def lacking(self) -> dict[str, dict[str, str]]:
        """Return `oracle` and the candidate's name, each -> missing method -> what it unlocks."""
        lacks = {}
        # Starts that come from seeds alone are compared one by one.
        needless = () if self.pair.subject.contract.starts else ("fresh",)
        if self.oracle is not None:
            known = (*self.oracle, *needless)
            lacks["oracle"] = {n: t for n, t in ORACLE_LADDER.items() if n not in known}
        if self.candidate is not None:
            # A compiled candidate has no other way to run.
            needless += ("eager",) if self.pair.candidate.build else ()
            missing = {
                n: text
                for n, text in CANDIDATE_LADDER.items()
                if n not in needless and not self.candidate.ships(n)
            }
            lacks[self.pair.candidate.name] = missing
        return lacks


def needs_of(test: Callable[..., None]) -> list[tuple[tuple[Any, ...], Mapping[str, Any]]]:
    """Return (args, kwargs) of each `needs` mark of a test's function and its module."""
    near = getattr(test, "pytestmark", [])
    far = getattr(sys.modules[test.__module__], "pytestmark", [])
    every = [getattr(m, "mark", m) for m in (*(far if isinstance(far, list) else [far]), *near)]
    return [(mark.args, mark.kwargs) for mark in every if mark.name == "needs"]


def why_not(
    facts: Facts, marks: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]], row: Mapping[str, Any]
) -> str:
    """Return the first condition that does not hold, "" if the check applies.

    marks: (args, kwargs) of each `needs` mark. row: the test's other parameters by name.
    """
    for conditions, more in marks:
        for condition in conditions:
            if not _holds(facts, condition):
                return f"needs {condition}"
        if (when := more.get("when")) is not None and not when(facts, row):
            return str(more["why"])
    return ""


def _holds(facts: Facts, condition: str) -> bool:
    text = condition.removeprefix("not ")
    found = _value(facts, *text.split(".", 1))
    return True if found is None else bool(found) == (text == condition)


def _value(facts: Facts, side: str, name: str) -> Any:
    """Return what a condition names; None if it is not known."""
    if side in ("candidate", "shipped"):
        assert name in _CANDIDATE, f"{side}.{name}: no such optional method"
        if facts.candidate is None:
            return None
        return facts.candidate.ships(name) if side == "shipped" else name in facts.candidate.methods
    if side == "oracle":
        assert name in ORACLE_LADDER, f"oracle.{name}: no such optional method"
        return None if facts.oracle is None else name in facts.oracle
    if side == "package":
        return importlib.util.find_spec(name) is not None
    if side == "run":
        assert name == "in_process", name
        return not facts.isolated
    if side == "rules":
        return None if facts.rules is None else bool(getattr(facts.rules, name)())
    assert side == "contract", side
    value: Any = facts.pair.subject.contract
    for part in name.split("."):
        value = getattr(value, part)
    return bool(value)


def gather(pairs: Iterable[Pair], harness: Harness, oracles: bool = True) -> dict[str, Facts]:
    """Build each candidate, ask each oracle, and return label -> facts.

    oracles: False where none may be asked, as with exported traces.
    """
    facts = {}
    for pair in pairs:
        oracle = _oracle_of(pair.subject, harness) if oracles else None
        candidate = _built(pair, harness)
        facts[pair.label] = Facts(pair, candidate, oracle, harness.settings.isolate)
    return facts


def _built(pair: Pair, harness: Harness) -> Offers | None:
    if pair.probe.problem:
        return None
    try:
        return _offers_of(harness.lab(pair))
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever it is, the pair's tests meet it again and report it
        return None


def _offers_of(lab: Lab) -> Offers:
    runner = lab.runner
    methods = [name for name in CANDIDATE_LADDER if runner.offers(name)]
    # A JAX candidate with an auto-reset of its own ships as it is: not inside a caller's programs.
    if hasattr(runner.candidate, "pure") and "auto_step" not in methods:
        methods.append("pure")
    shipped = tuple(getattr(runner.candidate, "ships", ()))
    return Offers(tuple(methods), runner.dtype, runner.platform, shipped)


def _oracle_of(subject: EnvVariant, harness: Harness) -> tuple[str, ...] | None:
    """Return the oracle's optional methods; those of its sources are filed: none is started."""
    if subject.probe.problem:
        return None
    try:
        oracle = harness.reference(subject).oracle
        return tuple(name for name in ORACLE_LADDER if oracle.offers(name))
    except Exception:  # its own tests report it
        return None


def plain(facts: Mapping[str, Facts]) -> dict[str, Any]:
    """Return the facts as JSON has them, for a worker."""
    return {
        label: [each.candidate and list(each.candidate), each.oracle, each.isolated]
        for label, each in facts.items()
    }


def from_plain(found: Mapping[str, Any], pairs: Iterable[Pair]) -> dict[str, Facts]:
    """Return the facts of these pairs; a pair that is not in it is not known."""
    facts = {}
    for pair in pairs:
        candidate, oracle, isolated = found.get(pair.label, (None, None, False))
        offers = Offers(tuple(candidate[0]), *candidate[1:]) if candidate else None
        methods = None if oracle is None else tuple(oracle)
        facts[pair.label] = Facts(pair, offers, methods, isolated)
    return facts
