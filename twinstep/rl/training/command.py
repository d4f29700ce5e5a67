"""`twinstep train`: begin or resume a training run, and evaluate its policies."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twinstep._lib import machine, paths
from twinstep._lib.progress import on_a_terminal
from twinstep.errors import OracleMissing, UserError

# JAX takes seconds to import, and every command reads this file.
if TYPE_CHECKING:
    from twinstep.rl.training.distributed import Hosts
    from twinstep.rl.training.evaluation import Row
    from twinstep.rl.training.loop import Done
    from twinstep.rl.training.settings import TrainingSettings

#: Limit of evaluated episodes: their scores are held in memory.
MOST_EPISODES = 10_000_000
RUNS = Path(".twinstep/training")
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    parser = commands.add_parser("train", help="PPO in any environment and either backend")
    add = parser.add_argument
    add("env", nargs="?", default="", help="the environment's name")
    add("--config", type=Path, metavar="FILE", help="TOML: see README")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="as a line of such a file, above its own: ppo.lanes=64")  # fmt: skip
    add("--variant", help="default: the first")
    add("--backend", help="default: the first candidate; or `oracle`")
    add("--steps", type=int, help="environment steps of each policy; default: level 4's")
    add("--seed", type=int, action="append", help="a training seed, more than once; default: 0")
    add(
        "--against",
        help="in a game of two: a player, a run's folder, or `self`; default: level 4's",
    )
    add("--out", type=Path, metavar="FOLDER", help=f"default: a new one in {RUNS}")
    add("--resume", type=Path, metavar="FOLDER", help="go on with a run; --steps may be raised")
    add("--checkpoint", type=float, default=20.0, metavar="SECONDS",
        help="between two checkpoints, at least; default: 20")  # fmt: skip
    add("--devices", type=int, default=1, help="that share seeds or lanes; 0: all; default: 1")
    add("--hosts", metavar="HOST:PORT,COUNT,INDEX",
        help="train together with other processes: where the first can be reached, how many there "
        "are, which one this is")  # fmt: skip
    add("--evaluate", type=int, default=0, metavar="N",
        help="play N episodes of each policy in the backend and in the reference; "
        "default: none")  # fmt: skip
    add("--opponent", action="append", default=[],
        help="with --evaluate, in a game of two: a player; default: as --against")  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from twinstep.rl.training import distributed

    if args.hosts is None:
        return _train(args, None)
    others = distributed.hosts_of(args.hosts)
    if args.devices not in (0, 1):
        raise UserError(f"--devices {args.devices}: with --hosts all devices take part")
    if not args.resume and args.out is None:
        raise UserError("--hosts: say which folder, the same one for all (--out FOLDER)")
    args.devices = 0
    return _train(args, others)


def _train(args: argparse.Namespace, others: Hosts | None) -> int:
    from twinstep.rl.training import arenas, distributed, evaluation, loop
    from twinstep.rl.training.policy_player import POLICY

    if args.evaluate and not 2 <= args.evaluate <= MOST_EPISODES:
        raise UserError(
            f"--evaluate {args.evaluate}: between 2, which have an interval, and {MOST_EPISODES}"
        )
    if not args.checkpoint >= 0:
        raise UserError(f"--checkpoint {args.checkpoint}: seconds, at least 0")
    if args.opponent and not args.evaluate:
        raise UserError("--opponent: whom policies are evaluated against; say --evaluate N, too")
    folder, settings = _resumed(args) if args.resume else _begun(args)
    opponents = evaluation.opponents_of(settings, args.opponent) if args.evaluate else []
    arenas.require_possible(settings)
    probe = settings.subject().probe
    if args.evaluate and probe.problem:
        raise OracleMissing(probe.problem, probe.mend)
    leads = others is None or others.leads
    new = not args.resume and leads
    if new:
        loop.require_new(folder)
    progress = on_a_terminal()
    rows: list[Row] = []
    try:
        with contextlib.ExitStack() as stack:
            if others:
                stack.enter_context(distributed.together(others))
            own = stack.enter_context(distributed.own_folder(folder, others))
            done = loop.train(own, settings, progress, args.checkpoint, args.devices, new)
        if not leads:
            return 0
        _keep(folder / POLICY, done.params)
        if not _has_result(folder, done.steps):
            _write_result(folder, settings, done, [])
        if args.evaluate:
            backends = list(dict.fromkeys([settings.backend, "oracle"]))
            rows = evaluation.evaluate(
                settings, done.params, backends, opponents, args.evaluate, progress
            )
            _write_result(folder, settings, done, rows)
    except KeyboardInterrupt:
        if (folder / "settings.toml").is_file():
            print(f"`twinstep train --resume {folder}` goes on from the last checkpoint")
        raise
    except OSError as error:
        if error.errno not in _UNWRITABLE and not _inside(folder, error.filename):
            raise
        if not (folder / "settings.toml").is_file():
            raise UserError(f"{folder} cannot be written to ({error.strerror})") from error
        raise UserError(
            f"{folder} cannot be written to ({error.strerror}): what the last checkpoint holds is "
            f"kept; mend that, then `twinstep train --resume {folder}`"
        ) from error
    finally:
        progress("")
    for line in _lines(settings, done, rows):
        print(line)
    print(f"written: {folder}")
    return 0


def _begun(args: argparse.Namespace) -> tuple[Path, TrainingSettings]:
    """Return the folder and the settings of a new run."""
    from twinstep.rl.training.settings import settle

    if not args.env:
        raise UserError("say which environment: `twinstep train pong`")
    chosen = {
        "variant": args.variant, "backend": args.backend, "steps": args.steps,
        "seeds": args.seed, "against": args.against,
    }  # fmt: skip
    chosen = {k: v for k, v in chosen.items() if v is not None}
    wanted = settle(args.env, args.config, chosen, args.set)
    clock = time.strftime("%Y%m%d-%H%M%S")
    return args.out or RUNS / f"{args.env}-{wanted.backend}-{clock}", wanted


def _resumed(args: argparse.Namespace) -> tuple[Path, TrainingSettings]:
    """Return the folder and the settings of a resumed run."""
    from twinstep.rl.training.settings import load

    fixed = ("config", "variant", "backend", "seed", "against", "out")
    given = [name for name in fixed if getattr(args, name) is not None] + ["set"] * bool(args.set)
    if given:
        raise UserError(f"--{given[0]} is settled for a run that goes on: leave it out")
    wanted = load(args.resume, whole=True)
    if args.env not in ("", wanted.env):
        raise UserError(f"{args.resume} is a run of {wanted.env}, not of {args.env}")
    if args.steps is not None:
        if args.steps < wanted.steps:
            raise UserError(f"--steps {args.steps}: the run was begun for {wanted.steps}")
        wanted = replace(wanted, steps=args.steps)
    return args.resume, wanted


def _has_result(folder: Path, steps: int) -> bool:
    """Return True if the folder has the result of this number of steps, which would be the same.

    Its evaluation, with machine and date, stays until the next evaluation has ended.
    """
    try:
        result = json.loads((folder / "result.json").read_bytes())
        return bool(result["steps"] == steps)
    except Exception:  # the file may hold anything
        return False


def _inside(folder: Path, name: Any) -> bool:
    return isinstance(name, str) and Path(name).absolute().is_relative_to(folder.absolute())


def _keep(path: Path, params: dict[str, np.ndarray]) -> None:
    """Write a run's policies."""
    file = io.BytesIO()
    np.savez(file, **params)  # type: ignore[arg-type]
    paths.write_atomically(path, file.getvalue())


def _write_result(folder: Path, wanted: TrainingSettings, done: Done, rows: list[Row]) -> None:
    """Write the result of a run."""
    result = {
        "environment": wanted.subject().contract.version,
        "settings": asdict(wanted),
        "steps": done.steps,
        "return": [None if np.isnan(each) else float(each) for each in done.returns],
        "evaluation": [row._asdict() for row in rows],
        **machine.made(),
    }
    paths.write_atomically(folder / "result.json", (json.dumps(result, indent=1) + "\n").encode())


def _lines(wanted: TrainingSettings, done: Done, rows: list[Row]) -> list[str]:
    """Return a run's result as lines of text."""
    from twinstep.rl.training.loop import mean_return

    variant = f" ({wanted.variant})" if wanted.variant else ""
    who = f" against {wanted.against}" if wanted.against else ""
    mean = mean_return(done.returns)
    gained = "no episode ended" if np.isnan(mean) else f"return {mean:.4g}"
    speed = "" if np.isnan(done.speed) else f", {done.speed:,.0f} steps a second"
    return [
        f"{wanted.subject().contract.version}{variant}, {wanted.backend}{who}: "
        f"{len(wanted.seeds)} x {done.steps:,} steps in {done.seconds:.0f} s{speed}; {gained}",
        *(row.line() for row in rows),
    ]
