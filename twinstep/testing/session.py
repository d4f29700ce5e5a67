"""Hooks of a run of twinstep's: pairs, harness, markers, header. `plugin` registers them."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from twinstep import __version__
from twinstep._lib import compiled_programs, paths
from twinstep.errors import UserError
from twinstep.inputs.seeds import seeds
from twinstep.project.registry import Pair, unknown
from twinstep.reference.cache import CacheWarning, read_export
from twinstep.testing import (
    applicability,
    collection,
    copies,
    expected_failures,
    fixtures,
    outcomes,
    reporting,
    xdist,
)
from twinstep.testing.applicability import Facts
from twinstep.testing.harness import Harness
from twinstep.testing.options import names_the_suite
from twinstep.testing.plugin import TAKEN
from twinstep.testing.run import OFFERS, RUN, Run
from twinstep.testing.selection import Selection, choose
from twinstep.testing.settings import RunSettings, keep_apart
from twinstep.walls.standing import standing

MARKERS = {
    "level1": "modules alone",
    "level2": "modules together",
    "level3": "whole episodes in lockstep",
    "level4": "policy transfer (slow; only with -m level4)",
    "slow": "a long proof, run with -m slow",
    "recompiles": "one more program of a step; slow where that takes long",
    "calling(compiles=)": "how it is called; programs of `own` or of `all` candidates are compiled",
    "repeated": "a test of that kind in a further variant, or with programs that compile long",
    "proved": "of a further variant or precision whose stored verdict holds here",
    "environment(name)": "only for this environment",
    "one_variant": "only for each candidate's first variant",
    "gates(kind)": "only for candidates with such gates",
    "declared(field)": "only where the contract has this field",
    "plays(driver)": "plays this driver alone",
    "needs(condition, ..., when=, why=)": "only where both sides offer what the test uses",
}


def pytest_configure(config: pytest.Config) -> None:
    """Register markers, check the options, open what the tests share."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.addinivalue_line(
        "filterwarnings", f"default::{CacheWarning.__module__}.{CacheWarning.__name__}"
    )
    # JAX compiles again what it cannot read; a killed run may leave such a file.
    damaged = "default:Error (reading|writing) persistent compilation cache:UserWarning"
    config.addinivalue_line("filterwarnings", damaged)
    try:
        run = config.stash[RUN] = _opened(config)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    for module in (collection, fixtures, outcomes):
        config.pluginmanager.register(module, module.__name__)
    if not hasattr(config, "workerinput"):
        writer = reporting.VerdictWriter(config, run.pairs, run.checks)
        config.pluginmanager.register(writer, "twinstep-verdict")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the oracles."""
    keep_apart(False)
    if not hasattr(config, "workerinput"):  # those that this run has compiled
        compiled_programs.check(paths.compiled_dir(), new=True)
    if (run := config.stash.get(RUN, None)) is not None:
        run.harness.close()


def _opened(config: pytest.Config) -> Run:
    option = config.option
    keep_apart(option.twinstep_isolate)
    if not hasattr(config, "workerinput"):
        compiled_programs.check(paths.compiled_dir())
    if option.twinstep_episodes < 1:
        raise UserError(f"--episodes {option.twinstep_episodes}: at least 1 is needed")
    for size in option.twinstep_batch_sizes or ():
        if size < 1:
            raise UserError(f"--batch-size {size}: at least 1 is needed")
    selection = Selection(
        option.twinstep_env,
        option.twinstep_candidate,
        option.twinstep_driver,
        option.twinstep_variant,
        option.twinstep_set,
    )
    selected = choose(selection)
    pairs = selected.pairs
    _require_modules(option.twinstep_module, pairs)
    copies.require_imported(pairs, Path.cwd())
    expected = expected_failures.declared(pairs)
    harness = _harness(config)
    return Run(pairs, selected.notes, selection, harness, xdist.Groups(pairs), expected)


def _require_modules(wanted: list[str], pairs: list[Pair]) -> None:
    known = dict.fromkeys(m.name for p in pairs for m in p.subject.contract.modules if m.inputs)
    for name in wanted:
        if name not in known:
            raise unknown("module", name, known)


def _harness(config: pytest.Config) -> Harness:
    option = config.option
    imported = []
    if option.twinstep_traces:
        path = Path(option.twinstep_traces)
        if not path.is_file():
            raise UserError(f"--traces {path}: there is no such file")
        if option.twinstep_seeds != "public":
            raise UserError("--seeds and --traces: exported traces have the seeds they have")
        folder = tempfile.TemporaryDirectory(prefix="twinstep-import-")
        config.add_cleanup(folder.cleanup)
        imported = read_export(path, Path(folder.name))
    if option.twinstep_seeds == "holdout":
        seeds("holdout", 1, "")
    settings = RunSettings(
        episodes=option.twinstep_episodes,
        drivers=tuple(option.twinstep_driver or ()),
        minutes=_minutes(option.twinstep_minutes, imported),
        seeds=option.twinstep_seeds,
        full_budget=option.twinstep_full,
        isolate=option.twinstep_isolate,
        progress=lambda text: _progress(config, text),
        tolerance=_tolerance(option.twinstep_tolerance),
        batch_sizes=tuple(option.twinstep_batch_sizes or ()),
    )
    return Harness(settings, imported)


def _minutes(given: float, imported: list[Any]) -> float:
    """Check --minutes. UserError if it is no length of time, or there are only exported traces."""
    if not 0 <= given < math.inf:
        raise UserError(f"--minutes {given:g}: a number of at least 0")
    if given and imported:
        raise UserError("--minutes and --traces: exported traces have the episodes they have")
    return given


def _tolerance(given: str) -> tuple[float, float] | None:
    """Read --tolerance. UserError if it is not one or two numbers of at least 0."""
    if not given:
        return None
    try:
        most, *rest = (float(part) for part in given.split(","))
        share = rest[0] if rest else 0.0
        if len(rest) > 1 or not (0 <= most < math.inf and 0 <= share < math.inf):
            raise ValueError
    except ValueError:
        raise UserError(
            f"--tolerance {given}: ABS or ABS,REL, numbers of at least 0, as in 1e-6,1e-5"
        ) from None
    return most, share


def _progress(config: pytest.Config, text: str) -> None:
    """Show what takes long, on a terminal only."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and terminal.isatty and not os.environ.get("CI"):
        terminal.rewrite(f" {text} ", erase=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand a worker of pytest-xdist what the candidates offer: it need not build all of them."""
    if _verifies(node.config):
        facts = node.config.stash[RUN].facts(node.config)
        node.workerinput[OFFERS] = json.dumps(applicability.plain(facts))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is verified against what, and what more either side could offer."""
    option, run = config.option, config.stash[RUN]
    lines = [
        f"twinstep {__version__}: seeds {option.twinstep_seeds}, "
        f"{option.twinstep_episodes} episodes a driver"
    ]
    if option.twinstep_tolerance:
        lines.append(
            f"  --tolerance {option.twinstep_tolerance}: a first look; gates in the contract make "
            "a verdict of it"
        )
    if option.twinstep_isolate:
        lines.append(f"  {standing()}")
    lines += [f"  --{n} belongs to another plugin: write --twinstep-{n}" for n in _taken(config)]
    lines += copies.elsewhere(run.pairs, Path.cwd())
    shown: dict[str, list[Pair]] = {}
    for pair in run.pairs:
        shown.setdefault(pair.subject.env.name, []).append(pair)
    facts = run.facts(config) if _verifies(config) else {}
    for pairs in shown.values():
        lines += [_about(pairs), *_lacking(pairs, facts, option.verbose > 0)]
    return lines


def _verifies(config: pytest.Config) -> bool:
    """Return whether candidates are to be built: not where a project runs its other tests."""
    option, folder = config.option, config.invocation_params.dir
    return bool(option.twinstep_env) or names_the_suite(config.args, option.pyargs, folder)


def _taken(config: pytest.Config) -> list[str]:
    """Return the short names of options that are not ours in this run."""
    return [] if hasattr(config, "workerinput") else config.stash.get(TAKEN, [])


def _about(pairs: list[Pair]) -> str:
    subject = pairs[0].subject
    variants = dict.fromkeys(p.subject.variant.name for p in pairs if p.subject.variant.name)
    names = dict.fromkeys(p.candidate.name for p in pairs)
    probe = subject.probe
    state = "missing: " + probe.problem if probe.problem else _short(probe.pins)
    head = f"{subject.contract.version}: {', '.join(names)} against {subject.env.oracle.title}"
    return f"{head} ({state})" + (f"; variants {', '.join(variants)}" if variants else "")


def _lacking(pairs: list[Pair], facts: dict[str, Facts], verbose: bool) -> list[str]:
    """Return what optional methods would unlock more checks: one line, or one for each with -v.

    A method that one variant's side offers is not lacking.
    """
    sides: dict[str, list[dict[str, str]]] = {}
    for pair in pairs if facts else ():
        for name, lacks in facts[pair.label].lacking().items():
            sides.setdefault(name, []).append(lacks)
    lines, named = [], []
    for name, found in sides.items():
        lacks = {n: text for n, text in found[0].items() if all(n in other for other in found)}
        if lacks:
            named.append(f"{name} with {', '.join(lacks)}")
        lines += [f"  {name} with {n} would unlock {text}" for n, text in lacks.items()]
    short = [f"  unlock more checks: {'; '.join(named)} (-v says which)"] if named else []
    return lines if verbose else short


def _short(pins: Any) -> str:
    return (
        ", ".join(f"{name} {str(value)[:12]}" for name, value in list(pins.items())[:2]) or "ours"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Say below the header, and without one, what was left out."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        for note in session.config.stash[RUN].notes:
            terminal.write_line(note)
