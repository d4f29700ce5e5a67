"""Measure, report or keep the planted bugs.

python -m twinstep.tests.planted              which check alone catches which bug (TABLE.md)
python -m twinstep.tests.planted report BUG   the failure report of level 3, as in the README
python -m twinstep.tests.planted keep         every bug's counterexample and witness, as
                                              regressions for all candidates
python -m twinstep.tests.planted blind        what level 4 misses (transfer/BLIND_SPOTS.md)
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from twinstep.diagnosis import markdown, regressions
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab
from twinstep.testing.settings import RunSettings
from twinstep.tests.planted import BUGS, Bug, blind_spots, make_project, pair_of
from twinstep.tests.planted.checks import KINDS, LEVEL_3, failure, lab_of

EPISODES = 100


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m twinstep.tests.planted")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("table", help="which check alone catches which bug (the default)")
    shown = commands.add_parser("report", help="print a bug's level 3 report")
    shown.add_argument("bug", choices=[bug.name for bug in BUGS])
    commands.add_parser("keep", help="keep every bug's counterexample as a regression")
    commands.add_parser("blind", help="what level 4 makes of every bug")
    args = parser.parse_args()
    harness = Harness(RunSettings(episodes=EPISODES))
    try:
        if args.command == "report":
            print(level_3_report(harness, _named(args.bug)))
        elif args.command == "keep":
            _keep(harness)
        elif args.command == "blind":
            _blind(harness)
        else:
            _table(harness)
    finally:
        harness.close()


@contextlib.contextmanager
def planted(harness: Harness, bug: Bug) -> Iterator[Lab]:
    """Yield the lab of a bug, from a project in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_project(bug, Path(folder))
        sys.path.insert(0, folder)
        try:
            yield lab_of(harness, pair_of(bug))
        finally:
            sys.path.remove(folder)


def level_3_report(harness: Harness, bug: Bug) -> str:
    """Return the report of the first level 3 failure; LookupError if play does not show it."""
    with planted(harness, bug) as lab:
        for kind in LEVEL_3:
            record = failure(lab, kind)
            if record is not None:
                # Here, where the planted source lies: the report quotes it.
                return markdown.markdown(record)
    raise LookupError(f"level 3 does not show {bug.name}")


def _named(name: str) -> Bug:
    return next(bug for bug in BUGS if bug.name == name)


def _keep(harness: Harness) -> None:
    root = Path.cwd()
    for bug in BUGS:
        with planted(harness, bug) as lab:
            records = [failure(lab, kind) for kind in KINDS]
        episodes = [r for r in records if r is not None and r["case"]["kind"] == "episode"]
        first = next(r for r in records if r is not None)
        for record in {r["id"]: r for r in [first, *episodes[:1]]}.values():
            for path in regressions.keep(record, root, note=f"planted {bug.name}"):
                print(f"kept {path.relative_to(root)}", flush=True)


def _blind(harness: Harness) -> None:
    env = registry.environment("pong")
    subject = EnvVariant(env, env.variants[0])
    asked = [bug for bug in BUGS if bug.variant == subject.variant.name]
    for text in blind_spots.lines(harness, subject, asked, planted):
        print(text, end="", flush=True)


def _table(harness: Harness) -> None:
    print("# Which check alone catches which planted bug\n")
    print(f"Measured by `python -m twinstep.tests.planted`; {EPISODES} episodes a driver.\n")
    print(f"| bug | quirk | variant | {' | '.join(KINDS)} | first suspect |")
    print("|---" * (len(KINDS) + 4) + "|")
    for bug in BUGS:
        with planted(harness, bug) as lab:
            found = {kind: failure(lab, kind) for kind in KINDS}
        marks = ["yes" if record else "-" for record in found.values()]
        first = next((r["suspects"][0]["module"] for r in found.values() if r), "-")
        row = [bug.name, str(bug.quirk or ""), bug.variant, *marks, first]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
