"""The `twinstep` command."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import NoReturn

from twinstep import __version__
from twinstep._lib.interrupts import ended_as_by_ctrl_c
from twinstep.bench import breakdown_command
from twinstep.bench import command as bench
from twinstep.environment import Probe
from twinstep.errors import CandidateBroken, ContractBroken, OracleFailed, UserError
from twinstep.mutation import command as mutants
from twinstep.play import command as play
from twinstep.project import registry
from twinstep.protocols import NotCallable
from twinstep.reference import cache_command
from twinstep.repair import command as repair
from twinstep.repair import report_command
from twinstep.repair.prompts import command as prompt
from twinstep.rl import elo
from twinstep.rl.training import command as train
from twinstep.scaffold import command as init
from twinstep.testing import verify_command as verify

#: The exit code of a command that Ctrl-C ended.
INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code, as `run` does.

    argv: None for the process's own; an interruption then ends the process at once.
    """
    return run(_parser().parse_args(argv), leave=argv is None)


def run(args: argparse.Namespace, leave: bool = False) -> int:
    """Run a parsed command; return its exit code.

    0: success. 1: a difference, or a side that cannot answer. 4: an error the user can fix.
    leave: end the process at once when interrupted.
    """
    try:
        with ended_as_by_ctrl_c():
            return args.run(args)
    except UserError as error:
        print(f"twinstep: {error}", file=sys.stderr)
        return 4
    except (OracleFailed, CandidateBroken, ContractBroken, NotCallable) as error:
        print(f"twinstep: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("twinstep: interrupted", file=sys.stderr)
        if leave:
            _leave(INTERRUPTED)
        return INTERRUPTED
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        print(f"twinstep: {str(error.filename)[:60]}...: {error.strerror}", file=sys.stderr)
        return 4


def _leave(code: int) -> NoReturn:
    """End the process at once: an XLA that is compiling would crash during Python's shutdown."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="twinstep", description="A fast environment against its reference."
    )
    parser.add_argument("--version", action="version", version=f"twinstep {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    envs = commands.add_parser("envs", help="what can run here, what is missing, how to get it")
    envs.set_defaults(run=_envs)
    again = commands.add_parser("replay", help="ask oracle and candidate a report's case again")
    again.add_argument("report", type=Path, help="a report's JSON file")
    again.add_argument("--keep", action="store_true", help="keep its inputs as regressions")
    again.set_defaults(run=_replay)
    cache = commands.add_parser("cache", help="list, verify or clear the cached traces")
    cache_command.add_arguments(cache)
    verify.add_to(commands)
    bench.add_to(commands)
    breakdown_command.add_to(commands)
    train.add_to(commands)
    init.add_to(commands)
    play.add_to(commands)
    elo.add_to(commands)
    mutants.add_to(commands)
    repair.add_to(commands)
    report_command.add_to(commands)
    prompt.add_to(commands)
    return parser


def _envs(args: argparse.Namespace) -> int:
    for name in registry.names():
        try:
            print(*_env_lines(name), sep="\n")
        except UserError as error:  # one broken declaration hides no other environment
            print(f"{name}: broken: {error}")
    return 0


def _env_lines(name: str) -> list[str]:
    """Describe an environment; UserError if a part of its declaration is broken."""
    env = registry.environment(name)
    subject = registry.EnvVariant(env, env.variants[0])
    lines = [f"{name} ({subject.contract.version}): {env.doc}"]
    lines.append(f"  oracle: {env.oracle.title}: {_state(subject.probe)}")
    for pair in registry.pairs(subject):
        lines.append(f"  candidate {pair.candidate.name}: {_state(pair.probe)}")
    if named := [variant.name for variant in env.variants if variant.name]:
        lines.append(f"  variants: {', '.join(named)}")
    for parameter in env.parameters:
        lines.append(f"  --set {parameter.name}={parameter.default}: {parameter.doc}")
    return lines


def _state(probe: Probe) -> str:
    return "can run" if not probe.problem else f"missing: {probe.problem}; {probe.mend}"


def _replay(args: argparse.Namespace) -> int:
    from twinstep.diagnosis import markdown, report
    from twinstep.diagnosis.replay import replay
    from twinstep.project import source_view

    record = report.read(args.report)
    if args.keep:
        from twinstep.diagnosis import regressions

        for path in regressions.keep(record):
            print(f"kept {path}")
    again = replay(record)
    if again is None:
        print(f"{report.headline(record)}\nDoes not happen any more: both sides agree.")
        return 0
    print(markdown.markdown(again, str(args.report.parent)))
    print(source_view.oracle_source(again))
    if report.encode(again) == report.encode(record):
        print("Reproduced byte for byte.")
    else:
        print("It still differs, but not byte for byte as reported (sources changed since).")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
