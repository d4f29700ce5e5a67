"""`twinstep mutants ENV`: measure the suite's strength with planted bugs."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.errors import UserError
from twinstep.mutation.campaign import Campaign, Plan, prepare
from twinstep.mutation.env_test_stage import run_own_tests
from twinstep.mutation.equivalence_evidence import alike
from twinstep.mutation.judge import LEVELS
from twinstep.mutation.report import counted
from twinstep.mutation.results import ResultFile, sample_before, settled_before
from twinstep.mutation.snapshot import frozen
from twinstep.mutation.workers import rows, work
from twinstep.project import registry


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    parser = commands.add_parser("mutants", help="how strong the suite is, by planted bugs")
    parser.add_argument("env", help="the environment's name")
    parser.add_argument("--candidate", help="default: jax, or else the first one declared")
    parser.add_argument("--sample", default="0", help="how many mutants; default: all")
    parser.add_argument("--seed", default="0", help="which sample; default: 0")
    parser.add_argument("--levels", default="1,2,3", help="default: 1,2,3")
    parser.add_argument("--episodes", default="100", help="of each driver at level 3; default: 100")
    parser.add_argument(
        "--matrix",
        default="",
        help="how many of them to ask at every level, whatever another said, and to locate; "
        "default: all",
    )
    parser.add_argument(
        "--alone", action="store_true", help="compile no two bugs of a candidate in JAX together"
    )
    parser.add_argument("--workers", default="1", help="processes, each on one core; default: 1")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the same run that ended early"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="take over what the result in --out settles: killed and located, or asked in vain "
        "and equivalent; ask the others",
    )
    parser.add_argument(
        "--alike",
        nargs="+",
        default=(),
        metavar="ID",
        help="ask these bugs and the candidate without them the same, for many states, and say "
        "whether anything differs; in JAX, in the first variant; nothing is written",
    )
    parser.add_argument(
        "--states", default="", help="inputs of each module with --alike; default: 1000000"
    )
    parser.add_argument("--module", default="", help="the only module to ask with --alike")
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/mutants"), help="folder of results"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; return 0, or 1 if a mutant listed as equivalent, or in --alike, differs."""
    plan, count = plan_of(args), _number("--workers", args.workers, 1)
    if args.alike:
        if args.resume or args.again:
            raise UserError("--alike asks anew and writes nothing: leave out --resume and --again")
        same, states = True, _number("--states", args.states or "1000000", 1)
        for line, one in alike(plan, args.alike, states, args.module, _progress()):
            print(line, flush=True)
            same &= one
        return 0 if same else 1
    if args.module or args.states:
        raise UserError("--module and --states are for --alike")
    campaign = prepare(plan)
    if not paths.writable(args.out):
        raise UserError(f"--out {args.out}: results cannot be written there")
    if plan.sample and (args.again or args.resume):
        option = "--resume" if args.resume else "--again"
        before = sample_before(args.out / stem_of(campaign), option)
        campaign = prepare(replace(plan, before=before))
    stem = args.out / stem_of(campaign)
    file = ResultFile(stem.absolute(), campaign, count, command_of(plan))
    if args.resume:
        campaign.rows = file.begun()
    elif args.again:
        campaign.rows = settled_before(file.stem, campaign)
        campaign.kept = len(campaign.rows)
    show = _progress()
    stopped = True
    try:
        with (
            tempfile.TemporaryDirectory(prefix="twinstep-mutants-") as folder,
            frozen(campaign.pair.candidate, Path(folder)),
        ):
            for _ in _asked(campaign, count, show, Path(folder)):
                file.keep()
        stopped = False
    finally:
        show("")
        if campaign.rows:
            file.write(stopped)
    good = counted(campaign.in_order())
    for row in good:
        if row["class"] != "killed":
            print(f"{row['class']}: {row['id']} {row['path']}:{row['line']}, {row['what']}")
    killed = sum(row["class"] != "survivor" for row in good)
    print(f"{killed} of {len(good)} mutants killed; written: {stem}.json and .md")
    return 1 if any(row["class"] == "refuted" for row in campaign.rows) else 0


def _asked(
    campaign: Campaign, count: int, show: Callable[[str], None], folder: Path
) -> Iterator[Any]:
    """Run all unfinished mutants, the cheapest checks first; yield each changed row."""
    early = campaign.early
    done = {row["id"] for row in campaign.rows}
    todo = [mutant for mutant in campaign.mutants if mutant.id not in done]
    first = partial(work, levels=early or campaign.plan.levels)
    for row in rows(campaign, todo, count, show, folder, first):
        campaign.rows.append(row)
        yield row
    further = [
        partial(late, campaign, count, show, folder),
        partial(elsewhere, campaign, count, show, folder),
    ]
    own = partial(run_own_tests, campaign, show, folder, count)
    for ask in [own, *further] if early else [*further, own]:
        yield from ask()


def late(
    campaign: Campaign, count: int, show: Callable[[str], None], folder: Path
) -> Iterator[Any]:
    """Run the levels that come after own tests on the remaining survivors."""
    levels = campaign.plan.levels[len(campaign.early) :]
    left = [
        row
        for row in campaign.rows
        if row["class"] == "survivor" and any(str(level) not in row["seconds"] for level in levels)
    ]
    yield from _further(campaign, left, count, show, folder, partial(work, levels=levels))


def elsewhere(
    campaign: Campaign, count: int, show: Callable[[str], None], folder: Path
) -> Iterator[Any]:
    """Run the survivors in the other variants."""
    left = [r for r in campaign.rows if r["class"] == "survivor" and not r.get("everywhere")]
    if len(campaign.pairs) > 1:
        for row in _further(campaign, left, count, show, folder, partial(work, elsewhere=True)):
            row["everywhere"] = True
            yield row


def _further(
    campaign: Campaign,
    left: list[dict[str, Any]],
    count: int,
    show: Callable[[str], None],
    folder: Path,
    work: Callable[..., None],
) -> Iterator[dict[str, Any]]:
    """Run further checks on the mutants of these rows; yield each row, updated."""
    rows_by_id = {row["id"]: row for row in left}
    mutants = [mutant for mutant in campaign.mutants if mutant.id in rows_by_id]
    for update in rows(campaign, mutants, count, show, folder, work) if mutants else ():
        row = rows_by_id[update["id"]]
        if update["variant"] == row["variant"]:
            row["seconds"] |= update["seconds"]
        elif update["kills"]:
            row["seconds"] = update["seconds"]
        if update["kills"]:
            row |= {name: update[name] for name in ("variant", "class", "first", "kills")}
            row.pop("diff", None)
            row.pop("effect", None)
        elif "effect" in update:
            row["effect"] = update["effect"]
        yield row


def stem_of(campaign: Campaign) -> str:
    """Return the stem of a result's files: the environment, with a compiled candidate's name."""
    plan = campaign.plan
    return f"{plan.env}-{plan.candidate}" if campaign.pair.candidate.build else plan.env


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the plan of the options; UserError for a wrong option."""
    parts = args.levels.split(",")
    if any(part not in map(str, LEVELS) for part in parts) or len(set(parts)) < len(parts):
        raise UserError(f"--levels {args.levels}: some of 1,2,3, with commas between them")
    return Plan(
        args.env,
        args.candidate or _first_candidate(args.env),
        tuple(sorted(map(int, parts))),
        _number("--sample", args.sample, 0),
        _number("--seed", args.seed, 0),
        _number("--episodes", args.episodes, 1),
        _number("--matrix", args.matrix, 0) if args.matrix else -1,
        args.alone,
    )


def _first_candidate(env: str) -> str:
    """Return the candidate that is meant where none is named."""
    names = [each.name for each in registry.environment(env).candidates]
    return "jax" if "jax" in names or not names else names[0]


def command_of(plan: Plan) -> str:
    """Return the command line of a plan."""
    options = f"--candidate {plan.candidate} --levels {','.join(map(str, plan.levels))}"
    if plan.sample:
        options += f" --sample {plan.sample} --seed {plan.seed}"
    if plan.episodes != Plan("", "").episodes:
        options += f" --episodes {plan.episodes}"
    if plan.matrix >= 0:
        options += f" --matrix {plan.matrix}"
    if plan.alone:
        options += " --alone"
    return f"twinstep mutants {plan.env} {options}"


def _number(option: str, text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise UserError(f"{option} {text}: a whole number from {least}")
    return int(text)


def _progress() -> Callable[[str], None]:
    """Return a function that shows one line on a terminal, and nothing in CI or a file.

    Finished mutants can be read in the partial result, which is written on the way.
    """
    if not sys.stderr.isatty() or os.environ.get("CI", "").lower() in ("true", "1"):
        return lambda text: None
    begin = time.monotonic()

    def show(text: str) -> None:
        line = f"{time.monotonic() - begin:.0f} s, {text}"[:100] if text else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    return show
