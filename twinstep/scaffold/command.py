"""`twinstep init`: write an environment's own project, which runs as it is.

The project begins with reset and step alone; `render` has the texts of its files.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER
from twinstep.scaffold import c_header, c_library, js_module
from twinstep.scaffold.making import current_folder
from twinstep.scaffold.project_values import common, gymnasium_files, notes, package_of
from twinstep.scaffold.render import Files, files_of, rows

ORACLES = (
    "gymnasium:ID, MODULE:CALLABLE, dm_env:MODULE:FACTORY, pettingzoo:MODULE, "
    "header:FILE, library:FILE or node:FILE"
)
CANDIDATES = (
    "gymnax:ID, pgx:ID, jumanji:ID, brax:ID, navix:ID, envpool:ID, functional:MODULE:CLASS or "
    "MODULE:CALLABLE"
)
#: The printed rungs of the ladders: the methods that extend the proof.
RUNGS = ("load", "call", "events")
NEXT = "pytest -m level3"


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    init = commands.add_parser("init", help="begin a project: a reference and its fast twin")
    init.add_argument("folder", nargs="?", type=Path, default=Path(), help="default: this one")
    init.add_argument("--oracle", required=True, metavar="KIND:WHAT", help=ORACLES)
    init.add_argument(
        "--candidate", metavar="KIND:WHAT", help=f"{CANDIDATES}; default: a skeleton in JAX"
    )
    init.add_argument(
        "--name", help="the environment's name; default: a free one like the oracle's"
    )
    init.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the project and print the next step; return 0, or raise UserError."""
    kind, _, what = args.oracle.partition(":")
    if not what:
        raise UserError(f"--oracle {args.oracle}: write {ORACLES}")
    name = _name(args.name, what, kind)
    _require_free(args.folder, name)
    name, renamed = _free_name(name, args.name is not None)
    _require_free(args.folder, name)
    if kind in _FILES:
        if args.candidate:
            raise UserError(
                f"--candidate {args.candidate}: a {kind}'s twin is a skeleton in JAX; leave it out"
            )
        files, notes = _FILES[kind](name, Path(what), args.folder)
        runs = False
    else:
        with current_folder():
            files, notes, runs = _pair(name, args.oracle, args.candidate)
    _write(args.folder, files)
    print(*[f"wrote {args.folder / path}" for path in files], *renamed, *notes, sep="\n")
    print(_next(args.folder, files, args.oracle, args.candidate, runs=runs))
    return 0


def _name(given: str | None, what: str, kind: str) -> str:
    """Return the environment's name; UserError if it is no valid one."""
    if given is None and kind in _FILES:
        given = Path(what).stem
    plain = re.sub(r"[-_]v\d+$", "", re.split("[:/.]", what)[-1])
    name = given if given is not None else re.sub(r"\W+", "_", plain).lower()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UserError(f"'{name}' is no name: choose small letters, digits and _ with --name")
    return name


def _free_name(name: str, chosen: bool) -> tuple[str, list[str]]:
    """Return a free name for an environment, and a line on a change of the name.

    chosen: whether the user gave the name; a taken one is then a UserError.
    """
    taken = registry.names()
    if name not in taken:
        return name, []
    if chosen:
        raise UserError(f"there is an environment '{name}' already: choose another --name")
    free = next(f"{name}{n}" for n in itertools.count(2) if f"{name}{n}" not in taken)
    return free, [
        f"There is an environment '{name}' already, so this one is '{free}': --name gives another."
    ]


def _require_free(folder: Path, name: str) -> None:
    """Raise UserError if the project's place is occupied."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is no folder: name an empty one")
    for taken in ("pyproject.toml", package_of(name)):
        if os.path.lexists(folder / taken):
            raise UserError(
                f"{folder / taken} exists, and init overwrites nothing: name an empty folder"
            )


def _write(folder: Path, files: Files) -> None:
    """Write all files; UserError if one exists."""
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if path.name == ".gitignore" and (folder / path).exists():
                continue
            with (folder / path).open("x") as file:
                file.write(text)
    except OSError as error:
        raise UserError(f"{error.filename} cannot be written ({error.strerror})") from error


# ---- the files --------------------------------------------------------------------------


def _pair(name: str, oracle: str, candidate: str | None) -> tuple[Files, list[str], bool]:
    """Return the files of a pair, what was found, and whether they have run."""
    # Beside the runner they need JAX's types and the comparison: no other command pays for them.
    from twinstep.scaffold import pairs
    from twinstep.scaffold.gate_rules import gates_line
    from twinstep.scaffold.trial import tried

    facts, twin = pairs.inspected(oracle, candidate, ORACLES, CANDIDATES)
    files = gymnasium_files(name, facts, twin, None)
    trial = tried(files, package_of(name), twin is not None)
    lines = list(notes(name, facts, twin))
    found = trial.proposal
    if found:
        # The first finding of all is what a port does wrong.
        lines = [*found.findings, *lines]
        if found.rules:
            files = gymnasium_files(name, facts, twin, found)
            lines.append(gates_line(found))
    return files, [*filter(None, [trial.broken]), *lines], not trial.broken


def _header(name: str, path: Path, folder: Path) -> tuple[Files, list[str]]:
    header = c_header.inspect(path, folder)
    values = _skeleton_values(name, path) | {
        "header": path.name,
        "above": header.folder,
        "pins": _pinned(header.pins),
    }
    package = package_of(name)
    notes = [
        f"{path} is pinned by its sha256 and compiled as it is.",
        f"Fill in what is marked FILL IN in {package}/contract.py and {package}/oracle/oracle.c,",
        f"then write reset and step in {package}/fast/candidate.py.",
    ]
    return files_of(("header", "jax"), values, {}), notes


def _library(name: str, path: Path, folder: Path) -> tuple[Files, list[str]]:
    found = c_library.inspect(path, folder)
    draws = bool(found.random)
    reset, step = _functions(found.functions)
    values = _skeleton_values(name, path) | {
        "library": found.path,
        "sha256": found.sha256,
        "functions": ", ".join(found.functions),
        "random": " and ".join(found.random),
        "randomness": "" if draws else ", Randomness",
        "reset": reset,
        "step": step,
        "drawnas": "`rand()` is\n`jax.random.bits(key) >> 1`",
    }
    package = package_of(name)
    drawn = f"It draws with {values['random']}, which both sides then do from one row of words."
    notes = [
        f"{path} is pinned by its sha256 and called as it is.",
        *([drawn] if draws else []),
        f"Fill in what is marked FILL IN in {package}/contract.py and {package}/oracle/bridge.py,",
        f"then write {package}/fast/candidate.py.",
    ]
    fast = "library" if draws else "jax"
    return files_of(("library", fast), values, {"drawing": draws}), notes


def _node(name: str, path: Path, folder: Path) -> tuple[Files, list[str]]:
    found = js_module.inspect(path, folder)
    reset, step = _functions(found.functions)
    values = _skeleton_values(name, path) | {
        "file": path.name,
        "above": found.folder,
        "pins": _pinned(found.pins),
        "maker": f'"{found.maker}"' if found.maker else "",
        "whose": f"its class {found.maker}" if found.maker else "the module",
        "functions": ", ".join(found.functions),
        "randomness": "" if found.draws else ", Randomness",
        "reset": reset,
        "step": step,
        "drawnas": "`Math.random()`\nis `jax.random.uniform(key)`",
    }
    package = package_of(name)
    drawn = "It draws with Math.random, which both sides then do from one row of words."
    notes = [
        f"{path} is pinned by its sha256 and loaded as it is.",
        *([drawn] if found.draws else []),
        f"Fill in what is marked FILL IN in {package}/contract.py and {package}/oracle/bridge.py,",
        f"then write {package}/fast/candidate.py.",
    ]
    fast = "library" if found.draws else "jax"
    return files_of(("node", fast), values, {"drawing": found.draws}), notes


#: KIND -> what writes a project around a file, whose twin is a skeleton.
_FILES = {"header": _header, "library": _library, "node": _node}


def _functions(names: tuple[str, ...]) -> tuple[str, str]:
    """Return the functions that reset and step."""
    reset, step = (next(n for n in names if word in n.lower()) for word in c_library.NEEDED)
    return reset, step


def _pinned(pins: dict[str, str]) -> str:
    return rows(f'"{file}": "{sha256}"' for file, sha256 in pins.items())


def _skeleton_values(name: str, path: Path) -> dict[str, Any]:
    """Return the values of a declaration whose candidate is a skeleton."""
    package = package_of(name)
    return common(name, path.name, []) | {
        "candidate": "jax",
        "upstream": "",
        "edit": f'"{package}/fast/**",',
        "axes": "",
        "fastdtype": "float32",
        "shape": "[K]",
        "towrite": "`reset` and `step`",
        "resetplace": f"{package}/fast/candidate.py:reset",
        "stepplace": f"{package}/fast/candidate.py:step",
        "fastpackages": f'"{package}.fast",',
    }


# ---- the output -------------------------------------------------------------------------


def _next(folder: Path, files: Files, *sides: str | None, runs: bool) -> str:
    here = folder.resolve() == Path().resolve()
    # A module of the current folder is found there alone.
    path = "" if here or not any(map(_is_own, sides)) else f"PYTHONPATH={_back(folder)} "
    lines = [f"Next: {NEXT}" if here else f"Next: cd {folder} && {path}{NEXT}"]
    lines.append("It runs as it is. " * runs + "Each further method unlocks more:")
    ladders = (("oracle", "oracle", ORACLE_LADDER), ("candidate", "fast", CANDIDATE_LADDER))
    for side, home, ladder in ladders:
        text = "".join(each for path, each in files.items() if home in path.parts)
        # Paths of the state are a `load`.
        text += "def load" if "fields=FIELDS" in text else ""
        missing = [n for n in RUNGS if n in ladder and not re.search(rf"(?m)^ *def {n}\b", text)]
        lines += [f"  {side}.{rung}: {ladder[rung]}" for rung in missing]
    lines.append("  a driver of your own: what random play never reaches, a time limit for one")
    return "\n".join(lines)


def _is_own(side: str | None) -> bool:
    """Return whether a side is named by a module of the current folder."""
    tops = {part.partition(".")[0] for part in (side or "").split(":")}
    return any(Path(f"{top}.py").is_file() or Path(top, "__init__.py").is_file() for top in tops)


def _back(folder: Path) -> str:
    return os.path.relpath(Path(), folder)
