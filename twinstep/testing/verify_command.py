"""`twinstep verify`: every check of an environment, behind walls, or a user's own program alone."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.workspace import with_references

_SUITE = ("twinstep.properties", "twinstep.interactions", "twinstep.rollouts")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "verify",
        help="ask whether a candidate behaves as its reference: levels 1 to 3, behind walls",
        description="Run levels 1 to 3 with each candidate in a process of its own behind walls. "
        "The exit code is pytest's.",
    )
    parser.add_argument("env", help="an environment of `twinstep envs`")
    parser.add_argument(
        "--candidate", action="append", default=[], help="only this one (can be repeated)"
    )
    parser.add_argument(
        "--batch-size", action="append", default=[], type=int,
        help="lanes of a batch that is asked beside those drawn anew (can be repeated)",
    )  # fmt: skip
    parser.add_argument(
        "--as-shipped", action="store_true",
        help="instead, play a short program that calls `twinstep.make`, with seeds that nobody "
        "has seen, in a fresh process without walls, as you would",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the suite in a process of its own; return its exit code."""
    env = registry.environment(args.env)
    chosen = {name: None for name in args.candidate}
    registry.pairs(registry.EnvVariant(env, env.variants[0]), list(chosen))  # an unknown name
    if args.as_shipped and args.batch_size:
        raise UserError("--as-shipped draws its own sizes: leave out --batch-size")
    # The long names: another plugin may have taken a short one.
    words = [sys.executable, "-m", "pytest", "--twinstep-env", args.env]
    words += ["--twinstep-require-oracles"]
    words += [word for name in chosen for word in ("--twinstep-candidate", name)]
    words += [word for size in args.batch_size for word in ("--twinstep-batch-size", str(size))]
    if not args.as_shipped:
        words += ["--twinstep-isolate", "-m", "level1 or level2 or level3", "--pyargs", *_SUITE]
        return subprocess.call(words)
    words += ["--twinstep-seeds", "holdout", "-m", "level3 or slow", "-k", "users_own_program"]
    with tempfile.TemporaryDirectory(prefix="twinstep-") as folder:
        # Recordings of these seeds are of no use later, nor is a verdict on so little.
        with_references(Path(folder))
        words += ["--twinstep-verdict", str(Path(folder, "verdict.json"))]
        own = {"TWINSTEP_HOLDOUT_KEY": secrets.token_hex(32), "TWINSTEP_CACHE": folder}
        words += ["--pyargs", "twinstep.rollouts.test_shipped"]
        return subprocess.call(words, env={**os.environ, **own})
