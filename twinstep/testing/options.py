"""Command-line options of the plugin, and whether a run is twinstep's.

Every option has a `--twinstep-` name, registered in every run. Its short name is registered only in
a run of twinstep's, and only where no plugin and no conftest has it: pytest-selenium's `--driver`
and a project's own `--env` stay theirs, whoever was loaded first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import twinstep

#: Packages of the suite, by level.
SUITES = ("properties", "interactions", "rollouts", "transfer")
#: Of seeds; `inputs.seeds` draws them.
SEED_KINDS = ("public", "tree", "holdout")
_LONG = "--twinstep-"


def _repeatable(metavar: str, text: str, dest: str) -> dict[str, Any]:
    return {"action": "append", "default": [], "metavar": metavar, "help": text, "dest": dest}


def _flag(text: str, dest: str) -> dict[str, Any]:
    return {"action": "store_true", "default": False, "help": text, "dest": dest}


def _text(default: str, metavar: str, text: str, dest: str) -> dict[str, Any]:
    return {"default": default, "metavar": metavar, "help": text, "dest": dest}


#: Short name without its dashes -> how argparse reads it.
OPTIONS: Mapping[str, dict[str, Any]] = {
    "env": _repeatable(
        "NAME", "verify this environment (repeatable; default: all declared ones)", "twinstep_env"
    ),
    "candidate": _repeatable(
        "NAME", "verify only this candidate (repeatable)", "twinstep_candidate"
    ),
    "driver": _repeatable(
        "NAME", "play only this driver at level 3 (repeatable)", "twinstep_driver"
    ),
    "module": _repeatable(
        "NAME", "only the tests of this module of the contract (repeatable)", "twinstep_module"
    ),
    "variant": _repeatable("NAME", "verify only this variant (repeatable)", "twinstep_variant"),
    "set": _repeatable("NAME=VALUE", "set a declared parameter (repeatable)", "twinstep_set"),
    "episodes": {
        "type": int,
        "default": 100,
        "help": "episodes per driver at level 3 (default 100)",
        "dest": "twinstep_episodes",
    },
    "minutes": {
        "type": float,
        "default": 0.0,
        "metavar": "N",
        "help": "each candidate's drivers go on for N minutes in all with further episodes",
        "dest": "twinstep_minutes",
    },
    "batch-size": {
        "type": int,
        "action": "append",
        "metavar": "N",
        "help": "lanes in which a candidate is called besides its usual ones (repeatable); by "
        "default sizes are drawn anew in each run",
        "dest": "twinstep_batch_sizes",
    },
    "tolerance": _text(
        "",
        "ABS[,REL]",
        "for a first look: floats may be off by ABS + REL * |oracle|; no verdict of equality",
        "twinstep_tolerance",
    ),
    "seeds": {
        "choices": SEED_KINDS,
        "default": "public",
        "help": "public, tree (of the candidate's files) or holdout (TWINSTEP_HOLDOUT_KEY)",
        "dest": "twinstep_seeds",
    },
    "full-budget": _flag(
        "level 4 trains as long as the contract asks of a GPU, where it does", "twinstep_full"
    ),
    "isolate": _flag(
        "run each candidate in a process of its own behind walls; adapters are not compared",
        "twinstep_isolate",
    ),
    "require-oracles": _flag(
        "a missing oracle is an error, not a skip (always so under CI=true)", "twinstep_require"
    ),
    "traces": _text(
        "", "FILE", "level 3 from exported traces, without any oracle", "twinstep_traces"
    ),
    "export-traces": _text(
        "", "FILE", "write the traces that this run used to one file", "twinstep_export"
    ),
    "report-dir": _text(
        ".twinstep/reports",
        "DIR",
        "where failure reports go (default .twinstep/reports)",
        "twinstep_reports",
    ),
    "verdict": _text(
        ".twinstep/verdict.json",
        "FILE",
        "where the verdict goes (default .twinstep/verdict.json)",
        "twinstep_verdict",
    ),
    "nonce": _text(
        "",
        "TEXT",
        "written to the verdict with every test's outcome: no other run can have made it",
        "twinstep_nonce",
    ),
}


def add_long(parser: pytest.Parser) -> None:
    """Register the long names, and the ini key by which a project says that its runs are ours."""
    group = parser.getgroup("twinstep", "twinstep: a fast environment against its reference")
    for name, words in OPTIONS.items():
        group.addoption(_LONG + name, **words)
    parser.addini(
        "twinstep", "true: this project's runs verify its environments", "bool", default=False
    )


def add_short(parser: pytest.Parser) -> list[str]:
    """Register each short name that is free; return those that another plugin or conftest has.

    Called when all plugins and initial conftests have registered theirs.
    """
    group, taken = parser.getgroup("twinstep"), []
    for name, words in OPTIONS.items():
        if _is_free(parser, f"--{name}"):
            # The long name's default holds: a second one would overwrite what was given.
            group.addoption(f"--{name}", **words | {"default": argparse.SUPPRESS})
        else:
            taken.append(name)
    return taken


def _is_free(parser: pytest.Parser, name: str) -> bool:
    try:
        return name in parser.parse_known_and_unknown_args([name], argparse.Namespace())[1]
    except (pytest.UsageError, SystemExit):
        return False  # known, and it wants a value


def is_given(parser: pytest.Parser, args: Sequence[str]) -> bool:
    """Return whether an option of ours is given, by its long name or a short one that is free."""
    names = {arg.partition("=")[0] for arg in _options(args)}
    if any(name.startswith(_LONG) for name in names):
        return True
    return any(_is_free(parser, f"--{name}") for name in OPTIONS if f"--{name}" in names)


def _options(args: Sequence[str]) -> Iterator[str]:
    for arg in map(str, args):
        if arg == "--":
            return
        if arg.startswith("--"):
            yield arg


def names_the_suite(places: Sequence[str], pyargs: bool, folder: Path) -> bool:
    """Return whether one of pytest's positional arguments lies in the suite.

    places: files, folders or, under `--pyargs`, packages, with or without `::`. folder: the one
    that relative paths are counted from.
    """
    return any(_is_suite(str(place).partition("::")[0], pyargs, folder) for place in places)


def _is_suite(place: str, pyargs: bool, folder: Path) -> bool:
    first, _, rest = place.partition(".")
    if pyargs and first == "twinstep" and rest.partition(".")[0] in ("", *SUITES):
        return True
    return in_the_suite(folder / place)


def in_the_suite(path: Path) -> bool:
    """Return whether a path is a folder of the suite or lies in one."""
    folders = suite_folders()
    return any(path == root or root in path.parents for root in folders)


_FOLDERS: list[Path] = []


def suite_folders() -> list[Path]:
    """Return the suite's folders: inside the package, or beside it in a checkout."""
    if not _FOLDERS:
        core = Path(str(twinstep.__file__)).parent
        both = [home / name for home in (core, core.parent) for name in SUITES]
        _FOLDERS.extend(path for path in both if (path / "__init__.py").is_file())
    return _FOLDERS
