"""Which items a run has: parametrised over pairs, without the checks that do not apply."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.testing import applicability, daily, reporting, xdist, xfail_tests
from twinstep.testing.options import SUITES, in_the_suite
from twinstep.testing.run import DRIVER, LAB, MODULE, REFERENCE, RUN, Run


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise over pairs, modules and drivers, whichever a test asks for.

    Every name is prefixed: a fixture of the suite is visible to the tests of the project it is run
    in, and the project's `lab` or `driver` to the suite's.
    """
    names = metafunc.fixturenames
    if LAB not in names and REFERENCE not in names:
        return
    config, definition = metafunc.config, metafunc.definition
    pairs = [pair for pair in config.stash[RUN].pairs if _belongs(definition, [pair])]
    if LAB not in names:
        subjects = {pair.subject.label: pair.subject for pair in pairs}
        params = [pytest.param(subject, id=label) for label, subject in subjects.items()]
        metafunc.parametrize(REFERENCE, params, indirect=True)
        return
    pairs = [pair for pair in pairs if _is_declared(config.stash[RUN], definition, pair)]
    if definition.get_closest_marker("one_variant") is not None:
        first = {(pair.subject.env.name, pair.candidate.name): pair for pair in reversed(pairs)}
        pairs = [pair for pair in pairs if pair in first.values()]
    columns, rows = [LAB], [((pair,), pair.label) for pair in pairs]
    for extra, values in ((MODULE, _modules), (DRIVER, _drivers)):
        if extra in names:
            columns.append(extra)
            rows = [
                ((*row, value), f"{label}-{value}")
                for row, label in rows
                for value in values(config, row[0])
            ]
    params = [pytest.param(*row, id=label) for row, label in rows]
    metafunc.parametrize(columns, params, indirect=[LAB])


def _is_declared(run: Run, definition: pytest.Item, pair: Pair) -> bool:
    """Return whether the contract has the gates and fields that a test is about."""
    for name in ("gates", "declared"):
        marker = definition.get_closest_marker(name)
        if marker is None:
            continue
        what = marker.args[0]
        has = pair.has_gates(what) if name == "gates" else getattr(pair.subject.contract, what)
        if not has:
            run.note(pair.label, _check(definition), f"needs {name} {what}")
            return False
    return True


def _modules(config: pytest.Config, pair: Pair) -> list[str]:
    """Return those that can be called; others only say whose a field is."""
    wanted = config.option.twinstep_module
    known = [module.name for module in pair.subject.contract.modules if module.inputs]
    return [name for name in known if name in wanted] if wanted else known


def _drivers(config: pytest.Config, pair: Pair) -> list[str]:
    return config.stash[RUN].harness.reference(pair.subject).drivers


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Leave out the items that do not apply: they are no skips, and are not counted."""
    report = yield
    if report.passed:
        run = collector.config.stash[RUN]
        report.result = [
            node
            for node in report.result
            if not isinstance(node, pytest.Function) or _applies(run, node)
        ]
    return report


def _applies(run: Run, item: pytest.Function) -> bool:
    """Return whether both sides offer what a test asks for, and note it for the verdict."""
    if LAB not in item.fixturenames and REFERENCE not in item.fixturenames:
        return True
    row = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    subject = row.get(LAB, row.get(REFERENCE))
    pairs = [p for p in run.pairs if p is subject or p.subject is subject]
    if not pairs:
        return False  # of no environment of this run
    marks = [(mark.args, mark.kwargs) for mark in item.iter_markers("needs")]
    facts = run.facts(item.config)
    reasons = []
    for pair in pairs:
        reasons.append(applicability.why_not(facts[pair.label], marks, row))
        run.note(pair.label, _check(item), reasons[-1])
        if reasons[-1] and (inner := _row_of(item, pair)):
            run.note(pair.label, f"{_check(item)}[{inner}]", reasons[-1])
    return not all(reasons)


def _row_of(item: pytest.Function, pair: Pair) -> str:
    """Return a test's parameters beside its pair, as in its id; "" if there are none."""
    whole = item.callspec.id if hasattr(item, "callspec") else ""
    of = pair.label if whole.startswith(pair.label) else pair.subject.label
    return whole.removeprefix(of).removeprefix("-")


def _check(item: pytest.Item) -> str:
    return xfail_tests.name_of(item).partition("[")[0]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out folders of environments that were not asked for: importing them takes seconds."""
    if not config.option.twinstep_env or collection_path.parent.name not in SUITES:
        return None
    present = {pair.subject.env.name for pair in config.stash[RUN].pairs}
    absent = collection_path.name in {*registry.names()} - present
    return True if absent and in_the_suite(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Attach the expected failures; drop what was not asked for. Other projects' items stay.

    A long proof is asked for by name only: `-m level3` on the command line replaces the default
    expression, and must not bring the slow tests in.
    """
    run = config.stash[RUN]
    ours = [item for item in items if is_ours(item)]
    # First, while every test of the suite is there: -k and -m come after this plugin.
    try:
        xfail_tests.attach(run.expected, run.pairs, ours, config)
    except UserError as error:
        if not hasattr(config, "workeroutput"):
            raise pytest.UsageError(str(error)) from None
        # Under xdist only the controller can end the run, and it has no items.
        config.workeroutput[reporting.TROUBLE] = str(error)  # type: ignore[attr-defined]
        items.clear()
        return
    for item in ours:
        if item.get_closest_marker("recompiles") and _pair(item).candidate.slow_to_compile:
            item.add_marker("slow")
    daily.mark(ours, run.pairs)
    _put_witnesses_first(items, ours)
    dropped = {item for item in ours if not _is_wanted(item, config)}
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]


#: Files whose failures have no witness of their own: a wrong step fails most of their tests.
_LATE = frozenset({"test_adapters.py", "test_saved_states.py", "test_shipped.py"})


def _put_witnesses_first(items: list[pytest.Item], ours: list[pytest.Item]) -> None:
    """Let `-x` stop at an episode that can be shrunk, not at an adapter that shows its end."""
    mine = set(ours)
    ordered = iter(
        sorted(ours, key=lambda item: in_the_suite(item.path) and item.path.name in _LATE)
    )
    items[:] = [next(ordered) if item in mine else item for item in items]


def is_ours(item: pytest.Item) -> bool:
    """Return whether an item is the suite's, or works on one of the plugin's fixtures."""
    return in_the_suite(item.path) or bool({LAB, REFERENCE} & set(_fixtures(item)))


def _is_wanted(item: pytest.Item, config: pytest.Config) -> bool:
    option, fixtures = config.option, _fixtures(item)
    for name in ("slow", "level4"):
        if name not in option.markexpr and item.get_closest_marker(name) is not None:
            return False
    if option.twinstep_env and not {LAB, REFERENCE} & set(fixtures):
        return False
    if option.twinstep_module and MODULE not in fixtures:
        return False
    plays = item.get_closest_marker("plays")
    if plays and option.twinstep_driver and plays.args[0] not in option.twinstep_driver:
        return False
    return _belongs(item, config.stash[RUN].pairs)


def _belongs(item: pytest.Item, pairs: Iterable[Pair]) -> bool:
    """Return whether a test is of no environment alone, or of one of these pairs."""
    marker = item.get_closest_marker("environment")
    return marker is None or any(pair.subject.env.name in marker.args for pair in pairs)


def _pair(item: pytest.Item) -> Pair:
    return item.callspec.params[LAB]  # type: ignore[attr-defined]


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Compile each candidate in one process only: `--dist loadgroup` groups by candidate."""
    if config.getvalue("dist") == "loadgroup":
        return xdist.by_pair(config, log, config.stash[RUN].groups)
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the controller which checks apply."""
    if hasattr(session.config, "workeroutput"):
        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]
        output[reporting.CHECKS] = session.config.stash[RUN].checks
