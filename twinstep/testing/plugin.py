"""The pytest plugin: options, markers, header, parametrisation, reports, verdict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from twinstep import __version__
from twinstep.errors import ContractBroken, OracleFailed, OracleMissing, UserError
from twinstep.inputs.seeds import KINDS, seeds
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair, unknown
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER, NotCallable
from twinstep.reference.cache import CacheWarning, read_export
from twinstep.runner.runner import broken_by
from twinstep.testing import accounting, expected_failures, reporting, xdist, xfail_tests
from twinstep.testing.harness import (
    CandidateBroken,
    Divergence,
    Harness,
    Lab,
    NeedsInProcessCandidate,
    NeedsOracle,
    Reference,
    RunSettings,
    in_ci,
)
from twinstep.testing.selection import Selected, Selection, choose

LEVELS = {
    "level1": "modules alone",
    "level2": "modules together",
    "level3": "whole episodes in lockstep",
    "level4": "policy transfer (slow; only with -m level4)",
}
_HARNESS = pytest.StashKey[Harness]()
_PAIRS = pytest.StashKey[list[Pair]]()
_GROUPS = pytest.StashKey[xdist.Groups]()
_NOTES = pytest.StashKey[list[str]]()
_IMPORTED = pytest.StashKey[Any]()
_EXPECTED = pytest.StashKey[list[expected_failures.ExpectedFailure]]()
_LAB = pytest.StashKey[Lab]()
#: What has a message of its own; a traceback of the harness would hide it.
#: The folders of the suite that have one for each environment.
_LEVELS = ("properties", "interactions", "rollouts", "transfer")
_SAID = (CandidateBroken, ContractBroken, NotCallable, OracleFailed, UserError)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("twinstep", "twinstep: a fast environment against its reference")
    add = group.addoption
    add(
        "--env",
        "--twinstep-env",
        action="append",
        default=[],
        metavar="NAME",
        dest="twinstep_env",
        help="verify this environment (repeatable; default: all declared ones)",
    )
    add(
        "--candidate",
        action="append",
        default=[],
        metavar="NAME",
        dest="twinstep_candidate",
        help="verify only this candidate (repeatable)",
    )
    add(
        "--driver",
        action="append",
        default=[],
        metavar="NAME",
        dest="twinstep_driver",
        help="play only this driver at level 3 (repeatable)",
    )
    add(
        "--module",
        action="append",
        default=[],
        metavar="NAME",
        dest="twinstep_module",
        help="only the tests of this module of the contract (repeatable)",
    )
    add(
        "--variant",
        action="append",
        default=[],
        metavar="NAME",
        dest="twinstep_variant",
        help="verify only this variant (repeatable)",
    )
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="twinstep_set",
        help="set a declared parameter (repeatable)",
    )
    add(
        "--episodes",
        type=int,
        default=100,
        dest="twinstep_episodes",
        help="episodes per driver at level 3 (default 100)",
    )
    add(
        "--seeds",
        choices=KINDS,
        default="public",
        dest="twinstep_seeds",
        help="public, tree (of the candidate's files) or holdout (TWINSTEP_HOLDOUT_KEY)",
    )
    add(
        "--full-budget",
        action="store_true",
        dest="twinstep_full",
        help="level 4 trains as long as the contract asks of a GPU, where it does",
    )
    add(
        "--isolate",
        action="store_true",
        dest="twinstep_isolate",
        help="each candidate runs in a process of its own, under watch; what ships is not compared",
    )
    add(
        "--require-oracles",
        action="store_true",
        dest="twinstep_require",
        help="a missing oracle is an error, not a skip (always so under CI=true)",
    )
    add(
        "--traces",
        metavar="FILE",
        dest="twinstep_traces",
        help="level 3 from exported traces, without any oracle",
    )
    add(
        "--export-traces",
        metavar="FILE",
        dest="twinstep_export",
        help="write the traces that this run used to one file",
    )
    add(
        "--report-dir",
        default=".twinstep/reports",
        metavar="DIR",
        dest="twinstep_reports",
        help="where failure reports go (default .twinstep/reports)",
    )
    add(
        "--verdict",
        default=".twinstep/verdict.json",
        metavar="FILE",
        dest="twinstep_verdict",
        help="where the verdict goes (default .twinstep/verdict.json)",
    )
    add(
        "--nonce",
        default="",
        metavar="TEXT",
        dest="twinstep_nonce",
        help="stands in the verdict, with every test's outcome: no other run can have written it",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, check the options, open what the tests share."""
    for name, meaning in LEVELS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.addinivalue_line("markers", "slow: a long proof, run with -m slow")
    config.addinivalue_line(
        "markers", "recompiles: one more program of a step; slow where that takes long"
    )
    config.addinivalue_line("markers", "environment(name): only for this environment")
    config.addinivalue_line("markers", "one_variant: only for each candidate's first variant")
    config.addinivalue_line("markers", "gates(kind): only for candidates with such gates")
    config.addinivalue_line("markers", "declared(field): only where the contract has this field")
    config.addinivalue_line(
        "filterwarnings", f"default::{CacheWarning.__module__}.{CacheWarning.__name__}"
    )
    # JAX compiles again what it cannot read; a killed run may leave such a file.
    damaged = "default:Error (reading|writing) persistent compilation cache:UserWarning"
    config.addinivalue_line("filterwarnings", damaged)
    try:
        choice = _chosen(config)
        config.stash[_PAIRS], config.stash[_NOTES] = choice.pairs, choice.notes
        _require_modules(config.option.twinstep_module, choice.pairs)
        config.stash[_GROUPS] = xdist.Groups(choice.pairs)
        config.stash[_EXPECTED] = expected_failures.declared(config.stash[_PAIRS])
        config.stash[_HARNESS] = _open_harness(config)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    if not hasattr(config, "workerinput"):
        made = reporting.Summary(config, config.stash[_PAIRS])
        config.pluginmanager.register(made, "twinstep-summary")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the oracles."""
    if (harness := config.stash.get(_HARNESS, None)) is not None:
        harness.close()


def _chosen(config: pytest.Config) -> Selected:
    option = config.option
    if option.twinstep_episodes < 1:
        raise UserError(f"--episodes {option.twinstep_episodes}: at least 1 is needed")
    return choose(
        Selection(
            option.twinstep_env,
            option.twinstep_candidate,
            option.twinstep_driver,
            option.twinstep_variant,
            option.twinstep_set,
        )
    )


def _open_harness(config: pytest.Config) -> Harness:
    option = config.option
    imported = []
    if option.twinstep_traces:
        import tempfile

        path = Path(option.twinstep_traces)
        if not path.is_file():
            raise UserError(f"--traces {path}: there is no such file")
        if option.twinstep_seeds != "public":
            raise UserError("--seeds and --traces: exported traces have the seeds they have")
        held = tempfile.TemporaryDirectory(prefix="twinstep-import-")
        config.stash[_IMPORTED] = held
        config.add_cleanup(held.cleanup)
        imported = read_export(path, Path(held.name))
    if option.twinstep_seeds == "holdout":
        seeds("holdout", 1, "")
    progress = lambda text: _progress(config, text)  # noqa: E731
    settings = RunSettings(
        option.twinstep_episodes,
        option.twinstep_seeds,
        option.twinstep_full,
        option.twinstep_isolate,
        progress,
    )
    return Harness(settings, imported)


def _progress(config: pytest.Config, text: str) -> None:
    """Show what takes long, on a terminal only."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and terminal.isatty and not os.environ.get("CI"):
        terminal.rewrite(f" {text} ", erase=True)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is verified against what."""
    option = config.option
    lines = [
        f"twinstep {__version__}: seeds {option.twinstep_seeds}, "
        f"{option.twinstep_episodes} episodes a driver"
    ]
    shown: dict[str, list[Pair]] = {}
    for pair in config.stash[_PAIRS]:
        shown.setdefault(pair.subject.env.name, []).append(pair)
    for pairs in shown.values():
        subject = pairs[0].subject
        variants = list(
            dict.fromkeys(p.subject.variant.name for p in pairs if p.subject.variant.name)
        )
        names = list(dict.fromkeys(p.candidate.name for p in pairs))
        probe = subject.probe
        state = "missing: " + probe.problem if probe.problem else _short(probe.pins)
        head = f"{subject.contract.version}: {', '.join(names)} against {subject.env.oracle.title}"
        lines.append(
            f"{head} ({state})" + (f"; variants {', '.join(variants)}" if variants else "")
        )
        if option.verbose:
            lines += [f"  oracle.{n} unlocks {what}" for n, what in ORACLE_LADDER.items()]
            lines += [f"  candidate.{n} unlocks {what}" for n, what in CANDIDATE_LADDER.items()]
    return lines


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Say below the header, and without one, what was left out."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        for note in session.config.stash[_NOTES]:
            terminal.write_line(note)


def _short(pins: Any) -> str:
    return (
        ", ".join(f"{name} {str(value)[:12]}" for name, value in list(pins.items())[:2]) or "ours"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise over reference, lab, module and driver, whichever a test asks for."""
    names = metafunc.fixturenames
    if "lab" not in names and "reference" not in names:
        return
    config = metafunc.config
    marker = metafunc.definition.get_closest_marker("environment")
    pairs = [
        pair
        for pair in config.stash[_PAIRS]
        if marker is None or pair.subject.env.name in marker.args
    ]
    if "lab" not in names:
        subjects = {pair.subject.label: pair.subject for pair in pairs}
        metafunc.parametrize(
            "reference",
            [pytest.param(subject, id=label) for label, subject in subjects.items()],
            indirect=True,
        )
        return
    if (wanted := metafunc.definition.get_closest_marker("gates")) is not None:
        pairs = [pair for pair in pairs if pair.has_gates(wanted.args[0])]
    if (field := metafunc.definition.get_closest_marker("declared")) is not None:
        pairs = [pair for pair in pairs if getattr(pair.subject.contract, field.args[0])]
    if metafunc.definition.get_closest_marker("one_variant") is not None:
        first = {(pair.subject.env.name, pair.candidate.name): pair for pair in reversed(pairs)}
        pairs = [pair for pair in pairs if pair in first.values()]
    columns, rows = ["lab"], [((pair,), pair.label) for pair in pairs]
    for extra, values in (("module", _modules), ("driver", _drivers)):
        if extra in names:
            columns.append(extra)
            rows = [
                ((*row, value), f"{label}-{value}")
                for row, label in rows
                for value in values(config, row[0])
            ]
    params = [pytest.param(*row, id=label) for row, label in rows]
    metafunc.parametrize(columns, params, indirect=["lab"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Compile each candidate in one process only: `--dist loadgroup` groups by candidate."""
    if config.getvalue("dist") == "loadgroup":
        return xdist.by_pair(config, log, config.stash[_GROUPS])
    return None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out folders of environments that were not asked for: importing them takes seconds."""
    if not config.option.twinstep_env or collection_path.parent.name not in _LEVELS:
        return None
    present = {pair.subject.env.name for pair in config.stash[_PAIRS]}
    return True if collection_path.name in {*registry.names()} - present else None


def _modules(config: pytest.Config, pair: Pair) -> list[str]:
    """Return those that can be called; others only say whose a field is."""
    wanted = config.option.twinstep_module
    known = [module.name for module in pair.subject.contract.modules if module.inputs]
    return [name for name in known if name in wanted] if wanted else known


def _require_modules(wanted: list[str], pairs: list[Pair]) -> None:
    known = dict.fromkeys(m.name for p in pairs for m in p.subject.contract.modules if m.inputs)
    for name in wanted:
        if name not in known:
            raise unknown("module", name, known)


def _drivers(config: pytest.Config, pair: Pair) -> list[str]:
    """Return the contract's drivers, or those asked for: a further one that is declared too."""
    wanted, subject = config.option.twinstep_driver, pair.subject
    if not wanted:
        return list(subject.contract.drivers)
    known = dict.fromkeys([*subject.contract.drivers, *subject.env.drivers])
    return [name for name in known if name in wanted]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Attach the expected failures; drop what was not asked for.

    With --env that is the core's own tests. A long proof is asked for by name only: `-m level3`
    on the command line replaces the default expression, and must not bring the slow tests in.
    """
    # First, while every test of the suite is there: -k and -m come after this plugin.
    try:
        xfail_tests.attach(config.stash[_EXPECTED], config.stash[_PAIRS], items, config)
    except UserError as error:
        if not hasattr(config, "workeroutput"):
            raise pytest.UsageError(str(error)) from None
        # Under xdist only the controller can end the run, and it has no items.
        config.workeroutput[reporting.TROUBLE] = str(error)  # type: ignore[attr-defined]
        items.clear()
    for item in items:
        if item.get_closest_marker("recompiles") and _pair(item).candidate.slow_to_compile:
            item.add_marker("slow")
    ours = items
    for name in ("slow", "level4"):
        if name not in config.option.markexpr:
            ours = [item for item in ours if item.get_closest_marker(name) is None]
    if config.option.twinstep_env:
        ours = [item for item in ours if {"lab", "reference"} & set(_fixtures(item))]
    if config.option.twinstep_module:
        ours = [item for item in ours if "module" in _fixtures(item)]
    present = {pair.subject.env.name for pair in config.stash[_PAIRS]}
    ours = [item for item in ours if _belongs(item, present)]
    if len(ours) < len(items):
        kept = set(ours)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = ours


def _pair(item: pytest.Item) -> Pair:
    return item.callspec.params["lab"]  # type: ignore[attr-defined]


def _belongs(item: pytest.Item, present: set[str]) -> bool:
    """Whether a test is of no environment alone, or of one that is verified."""
    marker = item.get_closest_marker("environment")
    return marker is None or not present.isdisjoint(marker.args)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", [])


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Reference:
    """The oracle of one variant, with its contract and traces."""
    subject: EnvVariant = request.param
    _require_oracle(request, subject)
    return request.config.stash[_HARNESS].reference(subject)


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Lab:
    """One candidate beside its reference."""
    pair: Pair = request.param
    if not request.config.option.twinstep_traces:
        _require_oracle(request, pair.subject)
    if pair.probe.problem:
        _missing(request, f"candidate {pair.label}: {pair.probe.problem}", pair.probe.mend)
    made = request.config.stash[_HARNESS].lab(pair)
    made.test = xfail_tests.name_of(request.node)
    made.level = next((n for n in range(1, 5) if request.node.get_closest_marker(f"level{n}")), 0)
    made.driver = ""
    made.notes = {}
    request.node.stash[_LAB] = made
    return made


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Under xdist a candidate's tests follow each other: then its programs are needed no more."""
    if nextitem is None or "lab" not in getattr(item, "fixturenames", ()):
        return
    if not hasattr(item.config, "workerinput"):
        return
    groups = item.config.stash[_GROUPS]
    if groups.of(item.nodeid) != groups.of(nextitem.nodeid):
        xdist.forget_programs()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Ask an expected failure's counterexample in place of the whole test."""
    expected = item.stash.get(expected_failures.EXPECTED, None)
    if expected is not None:
        expected.check(item.stash[_LAB])


def _require_oracle(request: pytest.FixtureRequest, subject: EnvVariant) -> None:
    if subject.probe.problem:
        _missing(request, f"oracle of {subject.label}: {subject.probe.problem}", subject.probe.mend)


def _missing(request: pytest.FixtureRequest, problem: str, mend: str) -> None:
    text = f"{problem}: {mend}" if mend else problem
    if request.config.option.twinstep_require or in_ci():
        pytest.fail(text, pytrace=False)
    pytest.skip(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    """Turn what the harness raises into one clear message, and attach what the verdict needs."""
    result = yield
    error = call.excinfo.value if call.excinfo is not None else None
    config, made = item.config, item.stash.get(_LAB, None)
    if made is not None and error is not None and not isinstance(error, Divergence):
        error = broken_by(made.pair.candidate, error) or error
    strict = config.option.twinstep_require or in_ci()
    absent = isinstance(error, OracleMissing) and not strict
    if isinstance(error, NeedsOracle | NeedsInProcessCandidate) or absent:
        result.outcome = "skipped"
        result.longrepr = (str(item.path), 0, f"Skipped: {error}")
    elif isinstance(error, Divergence):
        result.longrepr = reporting.text_of_failure(error.record, config.option.twinstep_reports)
        item.user_properties.append((reporting.REPORT, error.record))
    elif isinstance(error, _SAID):
        assert error is not None
        result.outcome = "failed"
        result.longrepr = text = _one_line(item, error)
        if isinstance(error, CandidateBroken):
            item.user_properties.append((reporting.BROKEN, text.partition("\n")[0]))
            vars(result).pop("wasxfail", None)
    if error is not None and not isinstance(error, Divergence | CandidateBroken | AssertionError):
        item.user_properties.append((reporting.FAULT, True))
    if call.when == "call" or result.outcome != "passed":
        if made is not None:
            item.user_properties.append((reporting.NOTES, accounting.notes_of(made)))
        result.user_properties = list(item.user_properties)
    return result


def _one_line(item: pytest.Item, error: BaseException) -> str:
    made = item.stash.get(_LAB, None)
    who = f"{made.pair.label}: " if made is not None else ""
    versions = ""
    if made is not None:
        contract = made.contract
        versions = f" ({contract.version}, oracle {made.pair.subject.env.oracle.title})"
    detail = getattr(error, "detail", "")
    inner = [line for line in detail.splitlines() if line.strip()][-3:-1] if detail else []
    return "\n".join([f"{who}{error}{versions}", *inner])
