"""`twinstep mutants ENV`: how strong the suite is, measured with planted bugs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twinstep import paths
from twinstep.errors import UserError
from twinstep.mutants.campaign import Plan, carry_out, own_compilation_cache, prepare
from twinstep.mutants.killing import LEVELS
from twinstep.mutants.sites import Mutant
from twinstep.mutants.table import counted, markdown, result


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    made = commands.add_parser("mutants", help="how strong the suite is, by planted bugs")
    made.add_argument("env", help="the environment's name")
    made.add_argument("--candidate", default="jax", help="default: jax")
    made.add_argument("--sample", default="0", help="how many mutants; default: all")
    made.add_argument("--seed", default="0", help="which sample; default: 0")
    made.add_argument("--levels", default="1,2,3", help="default: 1,2,3")
    made.add_argument("--episodes", default="100", help="of each driver at level 3; default: 100")
    made.add_argument(
        "--again",
        action="store_true",
        help="take over what the result in --out settles: killed and located, or asked in vain "
        "and equivalent; ask the others",
    )
    made.add_argument(
        "--out", type=Path, default=Path("benchmarks/mutants"), help="folder of results"
    )
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; 0 done, 1 if a mutant that is called equivalent is killed."""
    plan = plan_of(args)
    campaign, mutants, known = prepare(plan)
    if not paths.writable(args.out):
        raise UserError(f"--out {args.out}: results cannot be written there")
    kept = _settled_before(args.out / plan.env, mutants, known) if args.again else {}
    campaign.kept = len(kept)
    show = _progress()
    cores = sorted(os.sched_getaffinity(0))
    stopped = True
    try:
        with own_compilation_cache():
            carry_out(campaign, mutants, known, show, kept)
        stopped = False
    finally:
        show("")
        if campaign.rows:
            _write(args.out / plan.env, result(campaign, command_of(plan), cores, stopped))
    good = counted(campaign.rows)
    for row in good:
        if row["class"] != "killed":
            print(f"{row['class']}: {row['id']} {row['path']}:{row['line']}, {row['what']}")
    killed = sum(row["class"] != "survivor" for row in good)
    print(f"{killed} of {len(good)} mutants killed; written: {args.out / plan.env}.json and .md")
    return 1 if any(row["class"] == "refuted" for row in campaign.rows) else 0


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for; UserError for one that is wrong."""
    parts = args.levels.split(",")
    if any(part not in map(str, LEVELS) for part in parts) or len(set(parts)) < len(parts):
        raise UserError(f"--levels {args.levels}: some of 1,2,3, with commas between them")
    return Plan(
        args.env,
        args.candidate,
        tuple(sorted(map(int, parts))),
        _number("--sample", args.sample, 0),
        _number("--seed", args.seed, 0),
        _number("--episodes", args.episodes, 1),
    )


def command_of(plan: Plan) -> str:
    """Return the command that carries out a plan."""
    options = f"--candidate {plan.candidate} --levels {','.join(map(str, plan.levels))}"
    if plan.sample:
        options += f" --sample {plan.sample} --seed {plan.seed}"
    if plan.episodes != Plan("", "").episodes:
        options += f" --episodes {plan.episodes}"
    return f"twinstep mutants {plan.env} {options}"


def _number(option: str, text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise UserError(f"{option} {text}: a whole number from {least}")
    return int(text)


def _settled_before(
    stem: Path, mutants: list[Mutant], known: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Return id -> row of the mutants that an earlier result leaves no question about.

    Those are the unbuildable ones, the killed ones unless the report named another place than
    theirs, and those that nothing noticed and that are called equivalent, maybe since then.
    known: the reasons of these.
    """
    path = stem.with_name(stem.name + ".json")
    try:
        rows = json.loads(path.read_text())["mutants"]
        done = {}
        for row in rows:
            name, placed = row["id"], row.get("located") != "elsewhere"
            if name in known and not row["kills"]:
                done[name] = row | {"class": "equivalent", "reason": known[name]}
            elif name not in known and row["class"] in ("killed", "build") and placed:
                done[name] = row
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"--again: {path} is no earlier result ({error!r})") from error
    lines = {mutant.id: mutant.line for mutant in mutants}
    return {name: row | {"line": lines[name]} for name, row in done.items() if name in lines}


def _write(stem: Path, found: dict[str, Any]) -> None:
    data = (json.dumps(found, indent=1) + "\n").encode()
    paths.write_atomically(stem.with_name(stem.name + ".json"), data)
    paths.write_atomically(stem.with_name(stem.name + ".md"), markdown(found).encode())


def _progress() -> Callable[[str], None]:
    """Return a function that shows one line on a terminal, and nothing in CI or a file."""
    if not sys.stderr.isatty() or os.environ.get("CI", "").lower() in ("true", "1"):
        return lambda text: None
    begin = time.monotonic()

    def show(text: str) -> None:
        line = f"{time.monotonic() - begin:.0f} s, {text}"[:100] if text else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return show
