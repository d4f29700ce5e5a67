"""`twinstep report`: the record of a run of `twinstep repair`, or an issue for others to read."""

from __future__ import annotations

import argparse
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep.diagnosis import report, upstream
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.repair import history, history_markdown, history_plot, journal, metadata, provenance
from twinstep.repair.command import RUNS

REPORT, FIGURE, PROVENANCE = "report.md", "tests.png", "PROVENANCE.toml"


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    parser = commands.add_parser("report", help="the record of a run of `twinstep repair`")
    parser.add_argument("name", metavar="RUN", nargs="?", default="", help="default: the only one")
    parser.add_argument(
        "--upstream",
        type=Path,
        metavar="FILE",
        help="print an issue for the port's maintainers instead, from a failure report's JSON",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="default: the run's own folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; return its exit code."""
    if args.upstream:
        if args.name or args.out:
            raise UserError("--upstream prints an issue: leave out the run and --out")
        print(_issue(args.upstream), end="")
        return 0
    folder = find(args.name)
    out = args.out or folder
    journal.require_whole(folder / journal.NAME)
    record = history.from_entries(folder.name, journal.read(folder / journal.NAME))
    about = metadata.find(record, folder)
    try:
        picture = history_plot.png(record)
    except ImportError:
        picture = b""
    files = {REPORT: history_markdown.markdown(record, about, FIGURE if picture else "").encode()}
    files |= {FIGURE: picture} if picture else {}
    table = provenance.toml(record, about) if record.verified else ""
    files |= {PROVENANCE: table.encode()} if table else {}
    for name, data in files.items():
        _write(out / name, data)
        print(f"wrote {out / name}")
    if not picture:
        print("no figure: matplotlib is missing, `pip install 'twinstep[report]'`")
    if table:
        print(f"\n{table}", end="")
    return 0


def _issue(file: Path) -> str:
    record = report.read(file)
    if not report.has_case(record):
        sentence = report.headline(record)
        raise UserError(f"report {record['id']} has no case that others could try: {sentence}")
    env = registry.environment(record["environment"])
    packages = [
        name.partition(".")[0]
        for ref in env.candidates
        if ref.name == record["candidate"]
        for name in (*ref.packages, "jax", "numpy")
    ]
    known = packages_distributions()
    names = {known[name][0] for name in packages if name in known}
    return upstream.issue(record, {name: version(name) for name in names})


def find(name: str) -> Path:
    """Return the folder of a run; no name: of the only run. UserError if there is none."""
    names = sorted(path.name for path in RUNS.glob("*/")) if RUNS.is_dir() else []
    if not names:
        raise UserError(f"there are no runs in {RUNS}: `twinstep repair` makes one")
    if not name and len(names) > 1:
        raise UserError(f"say which run: {', '.join(names)}")
    if name and name not in names:
        raise registry.unknown("run", name, names)
    return RUNS / (name or names[0])


def _write(path: Path, data: bytes) -> None:
    try:
        paths.write_atomically(path, data)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror})") from error
