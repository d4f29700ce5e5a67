"""`twinstep prompt`: print a prompt to give to an agent by hand."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.repair import prompts
from twinstep.repair.prompts import bench_text

KINDS = ("translation", "tests", "repair", "optimisation")
#: Folder of `twinstep bench`'s results.
BENCHMARKS = Path("benchmarks")


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    prompt = commands.add_parser("prompt", help="print what to ask of a coding agent")
    prompt.add_argument("kind", choices=KINDS, help="what is asked for")
    prompt.add_argument("--env", required=True, help="the environment's name")
    prompt.add_argument("--candidate", help="default: the first that claims the variant")
    prompt.add_argument("--variant", help="default: the first declared")
    prompt.add_argument("--module", default="", help="or the glue: step, reset, restart")
    prompt.add_argument("--report", metavar="FILE", help="of repair: a report's .md or .json, or -")
    prompt.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the prompt; return 0, or raise UserError."""
    pair = _pair(args)
    module: str = args.module
    if args.report and args.kind != "repair":
        raise UserError(f"--report goes with repair; leave it out of {args.kind}")
    if args.kind == "repair":
        text = _repair(pair, module, args.report)
    elif args.kind == "optimisation":
        text = prompts.optimisation(pair, *bench_text.measured(pair, BENCHMARKS))
    elif args.kind == "tests":
        text = prompts.tests(pair, _required(module, [m.name for m in _modules(pair)], args.kind))
    else:
        names = prompts.known(pair)
        chosen = _required(module, names, args.kind)
        written = [name for name in prompts.present(pair) if name != chosen]
        text = prompts.translation(pair, chosen, written)
    print(text, end="")
    return 0


def _pair(args: argparse.Namespace) -> Pair:
    env = registry.environment(args.env)
    subjects = registry.subjects(env, {}, () if args.variant is None else (args.variant,))
    if not subjects:
        names = [variant.name for variant in env.variants]
        raise registry.unknown(f"variant of {env.name}", args.variant or "", names)
    wanted = (args.candidate,) if args.candidate else ()
    for subject in subjects:
        if pairs := registry.pairs(subject, wanted):
            return pairs[0]
    who = args.candidate or "no candidate"
    raise UserError(f"{who} does not claim {subjects[0].label}: choose another --variant")


def _modules(pair: Pair) -> tuple[Any, ...]:
    return pair.subject.contract.modules


def _required(module: str, known: list[str], kind: str) -> str:
    if not module:
        raise UserError(f"{kind} is of one module, say which with --module: {', '.join(known)}")
    return module


def _repair(pair: Pair, module: str, file: str | None) -> str:
    if not file:
        raise UserError(
            "repair is of a report: name its .md or .json with --report, or - for stdin"
        )
    if file == "-":
        return prompts.repair(pair, _text(sys.stdin.read(), "stdin"), module)
    path = Path(file)
    if path.suffix == ".json":
        return _of_record(pair, path, module)
    try:
        return prompts.repair(pair, _text(path.read_text(), file), module)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--report {file} cannot be read ({error.__class__.__name__})") from error


def _of_record(pair: Pair, path: Path, module: str) -> str:
    from twinstep.diagnosis import markdown, report  # imports the comparison

    record = report.read(path)
    of = (record["environment"], record["candidate"])
    mine = (pair.subject.env.name, pair.candidate.name)
    if of != mine:
        raise UserError(f"{path} is of {'-'.join(of)}: choose --env {of[0]} --candidate {of[1]}")
    suspects = [suspect["module"] for suspect in record["suspects"]]
    first = suspects[0] if suspects and suspects[0] in prompts.known(pair) else ""
    # Relative to the current folder: a prompt names no absolute path.
    text = markdown.markdown(record, Path(os.path.relpath(path.parent)).as_posix())
    return prompts.repair(pair, text, module or first)


def _text(text: str, name: str) -> str:
    if not text.strip():
        raise UserError(f"--report {name} is empty: it holds what was found")
    return text
