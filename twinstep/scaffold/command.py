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

from twinstep.contract import ActionSpace, Discrete
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER
from twinstep.scaffold import c_header, introspect
from twinstep.scaffold.introspect import Fast, Placing, ReferenceFacts
from twinstep.scaffold.render import Files, files_of, inward, rows

ORACLES = "gymnasium:ID or header:FILE"
CANDIDATES = "gymnax:ID"
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
    if kind not in ("gymnasium", "header") or not what:
        raise UserError(f"--oracle {args.oracle}: write {ORACLES}")
    name = _name(args.name, what, kind)
    _require_free(args.folder, name)
    name, renamed = _free_name(name, args.name is not None)
    _require_free(args.folder, name)
    if kind == "gymnasium":
        files, notes = _gymnasium(name, what, _candidate_id(args.candidate))
    else:
        if args.candidate:
            raise UserError(
                f"--candidate {args.candidate}: a header's twin is a skeleton in JAX; leave it out"
            )
        files, notes = _header(name, Path(what), args.folder)
    _write(args.folder, files)
    print(*[f"wrote {args.folder / path}" for path in files], *renamed, *notes, sep="\n")
    print(_next(args.folder))
    return 0


def _candidate_id(given: str | None) -> str:
    kind, _, what = (given or "").partition(":")
    if given is not None and (kind != "gymnax" or not what):
        raise UserError(f"--candidate {given}: write {CANDIDATES}, or leave it out")
    return what


def _name(given: str | None, what: str, kind: str) -> str:
    """Return the environment's name; UserError if it is no valid one."""
    if given is None and kind == "header":
        given = Path(what).stem
    plain = re.sub(r"-v\d+$", "", what.rpartition(":")[2].rpartition("/")[2])
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
    for taken in ("pyproject.toml", _package(name)):
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


def _gymnasium(name: str, id: str, fast_id: str) -> tuple[Files, list[str]]:
    facts = introspect.reference(id)
    twin = introspect.fast(fast_id, facts) if fast_id else None
    placing = facts.placing if twin is None or twin.parts else None
    versions = facts.versions | ({"gymnax": twin.version} if twin else {})
    title = " and ".join(f"{k.capitalize()} {v}" for k, v in facts.versions.items()) + f" {id}"
    values = _common(name, title, [f"{k}=={v}" for k, v in versions.items()])
    values |= _spaces(facts, twin, placing)
    values |= {
        "id": id,
        "candidate": "gymnax" if twin else "jax",
        "module": facts.module,
        "versions": rows(f'"{k}": "{v}"' for k, v in facts.versions.items()),
        "top": facts.module.partition(".")[0],
        "file": facts.file,
        "sha256": facts.sha256,
        "act": _act(facts.action),
        "horizon": facts.horizon or 1000,
        "truncates": bool(facts.horizon),
        "resets": f"{introspect.RESETS:,}",
    }
    if placing:
        ends = [inward(*ends) for ends in zip(placing.low, placing.high, strict=True)]
        values |= {
            "low": rows(low for low, _ in ends),
            "high": rows(high for _, high in ends),
            "count": len(placing.low),
            "observe": placing.observe,
            "statetype": placing.dtype,
        }
    if twin:
        values |= {"fastid": fast_id, "fastversion": twin.version}
        values["parts"] = rows(f'"{part}"' for part in twin.parts)
    conditions = {
        "gymnasium": True,
        "gymnax": twin is not None,
        "placed": placing is not None,
        "named": bool(values["names"]),
        "apart": bool(twin and twin.ends_apart),
    }
    folders = ("gymnasium", "gymnax" if twin else "jax")
    return files_of(folders, values, conditions), _notes(facts, twin, placing, _package(name))


def _header(name: str, path: Path, folder: Path) -> tuple[Files, list[str]]:
    header = c_header.inspect(path, folder)
    values = _common(name, path.name, [])
    values |= {
        "candidate": "jax",
        "header": path.name,
        "above": header.folder,
        "pins": rows(f'"{k}": "{v}"' for k, v in header.pins.items()),
        "axes": "",
        "fastdtype": "float32",
        "shape": "[K]",
    }
    package = _package(name)
    notes = [
        f"{path} is pinned by its sha256 and compiled as it is.",
        f"Fill in what is marked FILL IN in {package}/contract.py and {package}/oracle/oracle.c,",
        f"then write reset and step in {package}/fast/candidate.py.",
    ]
    return files_of(("header", "jax"), values, {}), notes


def _common(name: str, title: str, requirements: list[str]) -> dict[str, Any]:
    dependencies = ", ".join(f'"{requirement}"' for requirement in ["twinstep", *requirements])
    return {
        "name": name,
        "dashed": name.replace("_", "-"),
        "package": _package(name),
        "constant": name.upper(),
        "title": title,
        "dependencies": dependencies,
    }


def _spaces(facts: ReferenceFacts, twin: Fast | None, placing: Placing | None) -> dict[str, Any]:
    action = facts.action
    kind = "Discrete" if isinstance(action, Discrete) else "Box"
    named = bool(twin and placing and _shows_state(placing))
    discrete = isinstance(action, Discrete)
    return {
        "names": rows(f'"{part}"' for part in twin.parts) if twin and named else "",
        "spaces": ", ".join(sorted([kind, "Contract", "Field", "Randomness"])),
        "action": f"Discrete({action.n})" if discrete else _box(action),
        "observation": f'Field("obs", "{facts.dtype}", {facts.shape!r}{", names=NAMES" * named})',
        "dtype": facts.dtype,
        # JAX has no wider numbers by default.
        "fastdtype": facts.dtype.replace("64", "32"),
        "shape": list(facts.shape),
        "axes": "".join(f", {size}" for size in action.shape),
    }


def _shows_state(placing: Placing) -> bool:
    """Return whether the observation is the state itself, so that its elements have names."""
    shown = placing.states.astype(placing.observations.dtype)
    return shown.shape == placing.observations.shape and bool((shown == placing.observations).all())


def _box(action: ActionSpace) -> str:
    assert not isinstance(action, Discrete)
    return f'Box({action.low!r}, {action.high!r}, {action.shape!r}, "{action.dtype}")'


def _act(action: ActionSpace) -> str:
    discrete = isinstance(action, Discrete)
    return "int(action[0])" if discrete else f"np.asarray(action[0], np.{action.dtype})"


def _package(name: str) -> str:
    return f"twinstep_{name}"


# ---- the output -------------------------------------------------------------------------


def _notes(
    facts: ReferenceFacts, twin: Fast | None, placing: Placing | None, package: str
) -> list[str]:
    if placing:
        notes = [
            "Starts are matched: both sides are put into the same state, drawn from the range of "
            f"{introspect.RESETS:,} of the reference's own."
        ]
    else:
        why = facts.unplaceable or (twin.unmatched if twin else "")
        notes = [
            f"Starts are NOT matched ({why}): fill in the places marked FILL IN in {package}/ "
            "before any episode can agree."
        ]
    if twin and facts.horizon and twin.limit != facts.horizon:
        notes.append(
            f"The time limits differ: {facts.horizon} steps in the reference, {twin.limit} in "
            "the candidate."
        )
    return notes


def _next(folder: Path) -> str:
    here = folder.resolve() == Path().resolve()
    lines = [f"Next: {NEXT}" if here else f"Next: cd {folder} && {NEXT}"]
    lines.append("It begins with reset and step. Each further method unlocks more:")
    for side, ladder in (("oracle", ORACLE_LADDER), ("candidate", CANDIDATE_LADDER)):
        lines += [f"  {side}.{rung}: {ladder[rung]}" for rung in RUNGS if rung in ladder]
    lines.append("  a driver of your own: what random play never reaches, a time limit for one")
    return "\n".join(lines)
