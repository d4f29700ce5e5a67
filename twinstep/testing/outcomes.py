"""A test's report: one clear message, and the data that the verdict needs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from twinstep.errors import CandidateBroken, ContractBroken, OracleFailed, OracleMissing, UserError
from twinstep.project.registry import EnvVariant
from twinstep.protocols import NotCallable
from twinstep.runner.runner import broken_by
from twinstep.testing import accounting, expected_failures, reporting, xdist
from twinstep.testing.collection import is_ours
from twinstep.testing.fixtures import LAB_OF_ITEM
from twinstep.testing.lab import Divergence
from twinstep.testing.run import LAB, REFERENCE, RUN
from twinstep.testing.settings import NeedsInProcessCandidate, NeedsOracle, in_ci

#: Errors with a message of their own; a traceback of the harness would hide it.
_WITH_MESSAGE = (CandidateBroken, ContractBroken, NotCallable, OracleFailed, UserError)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Take a candidate's `pytest.exit` for its failure: the run would end with its exit code."""
    try:
        return (yield)
    except pytest.exit.Exception as error:
        lab = pyfuncitem.stash.get(LAB_OF_ITEM, None)
        broken = lab and broken_by(lab.pair.candidate, error)
        if not broken:
            raise
        raise broken from error


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Under xdist a candidate's tests follow each other: then it is needed no more.

    All candidates, oracles and programs of a whole suite together take more than 24 GB.
    """
    if nextitem is None or not hasattr(item.config, "workerinput") or _asked(item) is None:
        return
    run = item.config.stash[RUN]
    if run.groups.of(item.nodeid) != run.groups.of(nextitem.nodeid):
        run.harness.rest(_asked(nextitem))
        xdist.forget_programs()


def _asked(item: pytest.Item) -> EnvVariant | None:
    """Return the variant that an item of the suite is about, None for any other item."""
    spec: Any = getattr(item, "callspec", None)
    params = spec.params if spec else {}
    return params[LAB].subject if LAB in params else params.get(REFERENCE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Ask an expected failure's counterexample in place of the whole test."""
    expected = item.stash.get(expected_failures.EXPECTED, None)
    if expected is not None:
        expected.check(item.stash[LAB_OF_ITEM])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    """Turn what the harness raises into one clear message, and attach what the verdict needs."""
    result = yield
    if not is_ours(item):
        return result
    error = call.excinfo.value if call.excinfo is not None else None
    config, lab = item.config, item.stash.get(LAB_OF_ITEM, None)
    if lab is not None and error is not None and not isinstance(error, Divergence):
        error = broken_by(lab.pair.candidate, error) or error
        if isinstance(error, TypeError) and lab.built is not None:
            error = lab.built.explained(error) or error
    strict = config.option.twinstep_require or in_ci()
    absent = isinstance(error, OracleMissing) and not strict
    if isinstance(error, NeedsOracle | NeedsInProcessCandidate) or absent:
        result.outcome = "skipped"
        result.longrepr = (str(item.path), 0, f"Skipped: {error}")
    elif isinstance(error, Divergence):
        result.longrepr = reporting.text_of_failure(error.record, config.option.twinstep_reports)
        item.user_properties.append((reporting.REPORT, error.record))
    elif isinstance(error, _WITH_MESSAGE):
        assert error is not None
        result.outcome = "failed"
        result.longrepr = text = _one_line(item, error)
        if isinstance(error, CandidateBroken):
            item.user_properties.append((reporting.BROKEN, text.partition("\n")[0]))
            vars(result).pop("wasxfail", None)
        if isinstance(error, ContractBroken) and (subject := _asked(item)) is not None:
            said = f"{subject.label}: {error}: mend the contract, or the reference's bridge"
            item.user_properties.append((reporting.BROKEN, said))
            item.user_properties.append((reporting.UNKEPT, subject.label))
    if error is not None and not isinstance(error, Divergence | CandidateBroken | AssertionError):
        item.user_properties.append((reporting.FAULT, True))
    if call.when == "call" or result.outcome != "passed":
        if lab is not None:
            item.user_properties.append((reporting.NOTES, accounting.notes_of(lab)))
        result.user_properties = list(item.user_properties)
    return result


def _one_line(item: pytest.Item, error: BaseException) -> str:
    lab = item.stash.get(LAB_OF_ITEM, None)
    who = f"{lab.pair.label}: " if lab is not None else ""
    versions = ""
    if lab is not None:
        versions = f" ({lab.contract.version}, oracle {lab.pair.subject.env.oracle.title})"
    detail = getattr(error, "detail", "")
    inner = [line for line in detail.splitlines() if line.strip()][-3:-1] if detail else []
    return "\n".join([f"{who}{error}{versions}", *inner])
