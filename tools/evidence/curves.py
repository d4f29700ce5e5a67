"""Training runs: the curves of both backends over the same steps, and the policies' scores."""

from __future__ import annotations

import csv
import io
import itertools
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tools.evidence import paper
from tools.evidence.formatting import digits, joined, made_on, table
from tools.evidence.results import Found, Results, quoted, read, whole
from tools.evidence.section import Line, Lines, Missing, Picture, Section
from twinstep.errors import UserError
from twinstep.rl.training.metrics import HEADER
from twinstep.rl.training.settings import TrainingSettings, load

FOLDER = "runs"
ORACLE = "oracle"
_PARTS = ("environment", "settings", "steps", "return", "evaluation", "machine", "versions", "date")


@dataclass(frozen=True)
class Run:
    """A finished run. curve: the text of metrics.csv. points: environment steps -> the seeds'
    returns, without seeds that have none yet.
    """

    name: str
    settings: TrainingSettings
    result: Found
    curve: str
    points: dict[int, list[float]]

    @property
    def pair(self) -> tuple[str, str, str]:
        """The key that a run in another backend must share to be its match."""
        return self.settings.env, self.settings.variant, self.settings.against

    def side(self) -> str:
        """Return the backend of its training, in words."""
        return side_of(self.settings.backend)


def side_of(backend: str) -> str:
    """Return a backend's name in words."""
    return "the reference" if backend == ORACLE else backend


def runs(results: Results) -> list[Run]:
    """Return all runs, comparable ones next to each other. UserError if one is damaged."""
    found = []
    for folder in sorted(path for path in results.there(FOLDER).glob("*/") if path.is_dir()):
        result = read(folder / "result.json", _PARTS, ())
        if result is None:
            raise UserError(
                f"{folder} holds no result.json: its run did not end; go on with it "
                f"(`twinstep train --resume {folder}`), or remove it"
            )
        path = folder / "metrics.csv"
        curve = _curve(path)
        found.append(Run(folder.name, load(folder), result, curve, _points(path, curve)))
    order = {env: place for place, env in enumerate(paper.environments())}
    return sorted(
        found,
        key=lambda r: (
            order.get(r.settings.env, len(order)), *r.pair, r.settings.backend != ORACLE,
            r.settings.backend, r.name,
        ),
    )  # fmt: skip


def _curve(path: Path) -> str:
    try:
        text = path.read_text()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror})") from error
    if text.partition("\n")[0] != HEADER:
        raise UserError(f"{path} is no curve of a run: its first line is not `{HEADER}`")
    return text


def _points(path: Path, text: str) -> dict[int, list[float]]:
    """Return steps -> the seeds' returns; a seed has none until an episode has ended."""
    points: dict[int, list[float]] = {}
    with whole(path):
        for row in csv.DictReader(io.StringIO(text)):
            returns = points.setdefault(int(row["steps"]), [])
            if row["return"]:
                returns.append(float(row["return"]))
    return points


def training(results: Results) -> Section:
    """Return the section on training in both backends."""
    found = runs(results)
    rows = [["environment", "against", "trained in", "seeds", "steps of each",
             "last return, mean (least to greatest)", "run"]]  # fmt: skip
    played = [["run", "played in", "against", "policies", "episodes of each",
               "score or win rate, 95 % interval", "cut at the horizon"]]  # fmt: skip
    sources = []
    for run in found:
        with whole(results.there(FOLDER, run.name, "result.json")):
            rows.append(_row(run))
            played += [_evaluation(run.name, row) for row in run.result["evaluation"]]
            sources.append(f"- {run.name}: {made_on(run.result, _command(results, run))}")
    blocks = [
        "PPO with the same settings in both backends. The curve is the mean return of the latest "
        "episodes over the seeds, its band from the least to the greatest of them. A return is all "
        "that was learned from; a score leaves rewards out that only shape it, as 0.1 for a bounce "
        "in Pong. Evaluation plays fresh episodes; its interval is over policies, with one policy "
        "over its episodes."
    ]
    if found:
        blocks += [table(rows), "\n".join(sources)]
    if told := _digits_alike(found):
        blocks.append(
            "Curves of the same settings and seeds in two backends, digit by digit (nine of each "
            "number):\n\n" + "\n".join(told)
        )
    if len(played) > 1:
        blocks.append(table(played))
    return Section(
        "Training curves in both backends",
        blocks,
        list(dict.fromkeys(run.settings.env for run in found)),
        _missing(results, found),
        _pictures(found),
    )


def _digits_alike(found: Sequence[Run]) -> list[str]:
    """Return a line for every two runs that differ only in the backend."""
    lines = []
    for one, other in itertools.combinations(found, 2):
        if replace(one.settings, backend=other.settings.backend) != other.settings or (
            one.settings.backend == other.settings.backend
        ):
            continue
        rows = [run.curve.splitlines()[1:] for run in (one, other)]
        apart = next((row for row, its in zip(*rows, strict=False) if row != its), None)
        if apart is None and len(rows[0]) == len(rows[1]):
            told = f"the same, all {len(rows[0]):,} rows of `metrics.csv`"
        else:
            told = f"apart from batch {apart.split(',')[0] if apart else min(map(len, rows))} on"
        lines.append(f"- {one.name} and {other.name}: {told}")
    return lines


def _row(run: Run) -> list[str]:
    last = [each for each in run.result["return"] if each is not None]
    told = "no episode ended"
    if last:
        edges = f"{digits(min(last))} to {digits(max(last))}"
        told = f"{digits(statistics.fmean(last))} ({edges})"
    return [
        joined(run.result["environment"], run.settings.variant),
        run.settings.against,
        run.side(),
        ", ".join(map(str, run.settings.seeds)),
        f"{run.result['steps']:,}",
        told,
        run.name,
    ]


def _evaluation(name: str, row: Found) -> list[str]:
    mean = statistics.fmean(row["means"])
    return [
        name,
        side_of(row["backend"]),
        row["against"],
        str(len(row["means"])),
        str(row["episodes"]),
        f"{digits(mean)} [{digits(row['low'])}, {digits(row['high'])}]",
        f"{digits(100 * row['unfinished'])} %",
    ]


def _command(results: Results, run: Run) -> str:
    """Return the command that repeats a run: its settings file holds every value."""
    file = results.there(FOLDER, run.name, "settings.toml")
    episodes = [row["episodes"] for row in run.result["evaluation"]]
    others = dict.fromkeys(row["against"] for row in run.result["evaluation"] if row["against"])
    chosen = list(others) if list(others) != [run.settings.against] else []
    return " ".join(
        [
            f"twinstep train {run.settings.env} --config {quoted(file)}",
            *([f"--evaluate {episodes[0]}"] if episodes else []),
            *(f"--opponent {name}" for name in chosen),
        ]
    )


def _missing(results: Results, found: Sequence[Run]) -> list[Missing]:
    missing = []
    for env in paper.environments():
        mine = [run for run in found if run.settings.env == env]
        for who, there in (
            ("a candidate", any(run.settings.backend != ORACLE for run in mine)),
            ("the reference", any(run.settings.backend == ORACLE for run in mine)),
        ):
            if not there:
                backend = " --backend oracle" if who == "the reference" else ""
                name = f"{env}-{'oracle' if backend else 'fast'}"
                out = quoted(results.there(FOLDER, name))
                command = f"twinstep train {env}{backend} --out {out} --evaluate 256"
                missing.append(Missing(f"{env}, trained in {who}", command))
    return missing


def _pictures(found: Sequence[Run]) -> list[Picture]:
    """Return a picture for each environment, with a panel for each group of matching runs."""
    panels: defaultdict[str, list[Lines]] = defaultdict(list)
    for pair in dict.fromkeys(run.pair for run in found):
        mine = [run for run in found if run.pair == pair]
        env, variant, against = pair
        sides = [run.side() for run in mine]
        lines = [
            _line(run, f"{run.side()} ({run.name})" if sides.count(run.side()) > 1 else run.side())
            for run in mine
        ]
        title = joined(mine[0].result["environment"], variant, against and f"against {against}")
        if lines := [line for line in lines if line.x]:
            panels[env].append(Lines(title, "environment steps", "return", lines))
    return [
        Picture(f"training-{env}.png", f"Return while training {env} in both backends", held)
        for env, held in panels.items()
    ]


def _line(run: Run, label: str) -> Line:
    points = {steps: held for steps, held in run.points.items() if held}
    means, lows, highs = (
        [how(held) for held in points.values()] for how in (statistics.fmean, min, max)
    )
    seeds = len(run.settings.seeds)
    label += f", {seeds} seed{'s' * (seeds > 1)}"
    return Line(label, list(points), means, lows, highs)
