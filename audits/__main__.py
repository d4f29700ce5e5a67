"""`python -m audits [PAIR ...]`: run pairs, and write the scoreboard."""

from __future__ import annotations

import argparse
import os
import sys

from audits import run, scoreboard
from audits.pair import names
from twinstep._lib import paths


def main() -> int:
    """Return 0, 1 where a difference is not confirmed or the scoreboard is stale, 2 for usage."""
    parser = argparse.ArgumentParser(prog="python -m audits", description=__doc__)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="default: all")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2), metavar="N")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print the pairs' names")
    what.add_argument("--check", action="store_true", help="whether the scoreboard fits")
    what.add_argument("--render", action="store_true", help="write the scoreboard, run nothing")
    what.add_argument(
        "--measure", action="store_true", help="print the gates that init would write"
    )
    asked = parser.parse_args()
    known = names()
    if unknown := sorted(set(asked.pairs) - set(known)):
        parser.error(f"no pair {', '.join(unknown)} (known: {', '.join(known)})")
    chosen = asked.pairs or known
    if asked.list:
        print("\n".join(chosen))
        return 0
    if asked.check:
        print(scoreboard.stale() or "audits/SCOREBOARD.md fits audits/results")
        return bool(scoreboard.stale())
    if asked.measure:
        from audits import measure  # JAX

        for name in chosen:
            print("\n".join(measure.lines(name)), flush=True)
        return 0
    done = [] if asked.render else run.run(chosen, asked.jobs, sys.stdout)
    paths.write_atomically(scoreboard.SCOREBOARD, scoreboard.text().encode())
    unsure = [row for row in done if row["verdict"] == "differs" and row["witness"][:4] != "conf"]
    for row in unsure:
        print(f"{row['pair']}: {row['witness']}", file=sys.stderr)
    return bool(unsure)


if __name__ == "__main__":
    sys.exit(main())
