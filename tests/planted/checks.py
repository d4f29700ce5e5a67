"""The checks of the shipped suite, called one by one on a lab."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from twinstep.interactions import test_steps
from twinstep.project.registry import Pair
from twinstep.properties import test_modules, test_randomness
from twinstep.properties.pong import test_quirk_limits, test_quirks
from twinstep.rollouts import test_lockstep
from twinstep.testing.applicability import Facts, needs_of, why_not
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Divergence, Lab

#: A test's name and its body.
Check = tuple[str, Callable[[Lab], None]]
#: Kinds of checks in the suite's order, and their level.
KINDS = {
    "modules alone": 1,
    "starts": 1,
    "quirks": 1,
    "placed steps": 2,
    "lockstep, sticky": 3,
    "lockstep, tracking": 3,
}
#: The kinds that play whole episodes.
LEVEL_3 = tuple(kind for kind, level in KINDS.items() if level == 3)
_SOURCES = {"quirks": (test_quirks, test_quirk_limits), "placed steps": (test_steps,)}


def checks(lab: Lab, kind: str) -> Iterator[Check]:
    """Yield all checks of one kind."""
    if kind == "modules alone":
        test = test_modules.test_module_matches_the_oracle
        for module in lab.contract.modules:
            name = f"properties/test_modules.py::{test.__name__}[{module.name}]"
            yield name, lambda lab, m=module.name: test(lab, m)
    elif kind == "starts":
        begun = test_randomness.test_the_first_frame_matches_the_oracle_for_any_seed
        yield f"properties/test_randomness.py::{begun.__name__}", begun
    elif kind in _SOURCES:
        for source in _SOURCES[kind]:
            for name, function in vars(source).items():
                if name.startswith("test_") and inspect.isfunction(function):
                    yield f"{source.__name__}::{name}", lambda lab, f=function: _call(f, lab)
    else:
        driver = kind.rpartition(" ")[2]
        name = f"rollouts/test_lockstep.py::test_episodes_match[{driver}]"
        yield name, lambda lab: test_lockstep.test_episodes_match(lab, driver)


def _call(test: Callable[..., None], lab: Lab) -> None:
    """Call a test as pytest would: with its fixture `place`, for each of its parameters."""
    names = inspect.signature(test).parameters
    given: dict[str, Any] = {"twinstep_lab": lab} if "twinstep_lab" in names else {}
    if "twinstep_place" in names:
        given["twinstep_place"] = inspect.unwrap(test_quirks.twinstep_place)(lab)
    facts, needs = Facts.of(lab), needs_of(test)
    marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
    for row in [{marks[0].args[0]: value} for value in marks[0].args[1]] if marks else [{}]:
        if why_not(facts, needs, row):
            continue
        test(**given, **row)


def failure(lab: Lab, kind: str) -> dict[str, Any] | None:
    """Run one kind of check; return the first failure's record, None if all pass."""
    for name, check in checks(lab, kind):
        lab.test, lab.level, lab.driver, lab.notes = name, KINDS[kind], "", {}
        try:
            check(lab)
        except Divergence as found:
            return found.record
        except pytest.skip.Exception:
            continue
    return None


def first_failure(lab: Lab) -> dict[str, Any] | None:
    """Run all checks in order; return the first failure's record, None if all pass."""
    found = (failure(lab, kind) for kind in KINDS)
    return next((record for record in found if record is not None), None)


def lab_of(harness: Harness, pair: Pair) -> Lab:
    """Return a lab of its own for a pair whose label is not unique; traces are shared."""
    return Lab(pair, harness.reference(pair.subject))
