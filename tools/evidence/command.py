"""`python -m tools.evidence`: write the document, check it, or re-measure its cheap ratios."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from twinstep import cli
from twinstep._lib import paths
from twinstep._lib.progress import on_a_terminal
from twinstep.errors import UserError

if TYPE_CHECKING:
    from tools.evidence.results import Results
    from tools.evidence.section import Section


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code. argv: None for the process's own."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence", description="Write all committed results as one document."
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("benchmarks"), metavar="FOLDER", help="of the results")
    add("--check", action="store_true", help="write nothing; 1 if the document is out of date")
    add("--verify-claims", action="store_true", help="measure the cheap ratios again")
    add("--run", action="store_true", dest="measure",
        help="first measure the breakdowns and round robins that are missing")  # fmt: skip
    add("--slack", default="0.25",
        help="with --verify-claims: how far beyond the recorded spread; default: 0.25")  # fmt: skip
    parser.set_defaults(run=run)
    return cli.run(parser.parse_args(argv), leave=argv is None)


def run(args: argparse.Namespace) -> int:
    """Run the command; return 0, or 1 if the document is outdated or a ratio does not hold."""
    # The document's modules take longer to import than --help should.
    from tools.evidence import document, figures
    from tools.evidence import results as reading

    if not args.out.is_dir():
        raise UserError(f"--out {args.out}: there is no such folder of results")
    results = reading.results(args.out)
    if args.check + args.verify_claims + args.measure > 1:
        raise UserError("--check, --verify-claims and --run: one of them at a time")
    if args.verify_claims:
        return _again(results, args.slack)
    if not args.check:
        # Before anything is measured.
        figures.require()
    parts = document.sections(results)
    failed = _measured(parts) if args.measure else 0
    parts = document.sections(results) if args.measure else parts
    text = document.markdown(parts, results).encode()
    pictures = [picture for part in parts for picture in part.pictures]
    target, folder = args.out / document.DOCUMENT, args.out / document.PICTURES
    if args.check:
        return _check(target, text, [folder / picture.name for picture in pictures], results)
    # The document last: everything that it names exists by then.
    for picture in pictures:
        _write(folder / picture.name, figures.png(picture))
    _write(target, text)
    print(f"written: {target} and {len(pictures)} pictures in {folder}")
    return 1 if failed else 0


def _measured(parts: Sequence[Section]) -> int:
    """Run the commands of missing results that can run here; return the number of failures."""
    failed = 0
    for each in (one for part in parts for one in part.missing if one.here):
        print(f"{each.what}: {each.command}", flush=True)
        code = cli.main(shlex.split(each.command)[1:])
        if code == cli.INTERRUPTED:
            raise KeyboardInterrupt
        failed += code != 0
    return failed


def _again(results: Results, text: str) -> int:
    from tools.evidence import verify_claims

    def say(line: str) -> None:
        print(line, flush=True)

    try:
        slack = float(text)
    except ValueError:
        slack = -1.0
    if not slack >= 0:
        raise UserError(f"--slack {text}: a number of at least 0 is needed")
    good = verify_claims.verify(results, slack, len(os.sched_getaffinity(0)), on_a_terminal(), say)
    return 0 if good else 1


def _check(target: Path, text: bytes, pictures: Sequence[Path], results: Results) -> int:
    """Return 0 if the document is up to date; otherwise print one line and return 1."""
    mend = f"`python -m tools.evidence{results.out()}` writes it anew"
    try:
        current = target.read_bytes()
    except OSError as error:
        print(f"{target} cannot be read ({error.strerror}): {mend}", file=sys.stderr)
        return 1
    if current != text:
        print(f"{target} is not what the results say: {mend}", file=sys.stderr)
        return 1
    if lacking := [path for path in pictures if not path.is_file()]:
        print(f"{lacking[0]} is missing, which {target} shows: {mend}", file=sys.stderr)
        return 1
    print(f"{target} is what the results say")
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        paths.write_atomically(path, data)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror})") from error
