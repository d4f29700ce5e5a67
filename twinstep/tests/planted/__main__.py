"""Measure which check alone catches which planted bug; print TABLE.md."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

from twinstep.harness import Harness, Settings
from twinstep.tests.planted import BUGS, make_project, pair_of
from twinstep.tests.planted.checks import KINDS, failure, lab_of

EPISODES = 100


def main() -> None:
    """Print the table."""
    print("# Which check alone catches which planted bug\n")
    print(f"Measured by `python -m twinstep.tests.planted`; {EPISODES} episodes a driver.\n")
    print(f"| bug | quirk | variant | {' | '.join(KINDS)} | first suspect |")
    print("|---" * (len(KINDS) + 4) + "|")
    harness = Harness(Settings(episodes=EPISODES))
    for bug in BUGS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            make_project(bug, Path(folder))
            sys.path.insert(0, folder)
            lab = lab_of(harness, pair_of(bug))
            found = {kind: failure(lab, kind) for kind in KINDS}
            sys.path.remove(folder)
        marks = ["yes" if record else "-" for record in found.values()]
        first = next((r["suspects"][0]["module"] for r in found.values() if r), "-")
        row = [bug.name, str(bug.quirk or ""), bug.variant, *marks, first]
        print(f"| {' | '.join(row)} |", flush=True)
    harness.close()


if __name__ == "__main__":
    main()
