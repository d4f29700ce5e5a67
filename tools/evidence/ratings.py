"""Elo ratings of players: round robins, and trained policies over their training."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tools.evidence import paper
from tools.evidence.curves import side_of
from tools.evidence.formatting import joined, made_on
from tools.evidence.results import Found, Results, quoted, read, whole
from tools.evidence.section import Bars, Line, Lines, Missing, Picture, Section
from twinstep.rl import elo

FOLDER = "elo"
_PARTS = ("environment", "variant", "backend", "games", "names", "elo", "spread", "rates",
          "command", "machine", "versions", "date", "policies")  # fmt: skip


def ratings(results: Results) -> Section:
    """Return the section on Elo ratings."""
    blocks = [
        "Every pair plays the same number of games; win rates are of the row's player, ± is the "
        "standard error. A curve joins the policies of one backend by the steps they were trained "
        f"for. {paper.facts()['elo_players']}"
    ]
    pictures, there, curved = [], [], []
    for env in results.names(FOLDER):
        path = results.there(FOLDER, f"{env}.json")
        if (found := read(path, _PARTS, (elo.SCHEMA,))) is None:
            continue
        with whole(path):
            blocks.append(_text(found))
            lines = _lines(found)
            panels = [_bars(found), *([_curves(found, lines)] if lines else [])]
            pictures.append(Picture(f"elo-{env}.png", f"Elo of the players of {env}", panels))
        there.append(env)
        curved += [env] if lines else []
    missing = []
    for env in paper.facts()["elo"]:
        file = quoted(results.there(FOLDER, f"{env}.json"))
        command = f"twinstep elo {env} --json {file}"
        if env not in there:
            missing.append(Missing(f"{env}, players", command, here=True))
        if env not in curved:
            more = " --policy FOLDER --policy FOLDER"
            missing.append(Missing(f"{env}, policies as they learn", command + more))
    return Section("Elo", blocks, there, missing, pictures)


def _text(found: Found) -> str:
    rates = [[np.nan if rate is None else rate for rate in row] for row in found["rates"]]
    rated, spread, won = (np.array(v, float) for v in (found["elo"], found["spread"], rates))
    fit = elo.EloTable(found["names"], rated, spread, won)
    size = len(fit.names)
    if fit.elo.shape != (size,) or fit.spread.shape != (size,) or fit.rates.shape != (size,) * 2:
        raise ValueError("names, elo, spread and rates are not of as many players")
    lines = elo.lines(fit)
    title = joined(found["environment"], found["variant"])
    how = f"{found['games']} games of each pair in {side_of(found['backend'])}"
    blocks = [f"### {title}", f"{how}; {made_on(found)}", "\n".join(lines)]
    if found["policies"]:
        blocks.append(
            "Policies, which `twinstep train` makes again:\n\n"
            + "\n".join(_trained(*each) for each in found["policies"].items())
        )
    return "\n\n".join(blocks)


def _trained(folder: str, about: Found) -> str:
    against = f" against {about['against']}" if about["against"] else ""
    where = f"in {side_of(about['backend'])}{against}"
    return f"- `{folder}`: trained {where} for {about['steps']:,} steps"


def _bars(found: Found) -> Bars:
    order = np.argsort(-np.array(found["elo"], float))
    names = [found["names"][i] for i in order]
    values = [(e := found["elo"][i], e - found["spread"][i], e + found["spread"][i]) for i in order]
    kinds = ["trained" if name in found["policies"] else "declared" for name in names]
    title = joined(found["environment"], found["variant"], "players")
    return Bars(title, "Elo", names, values, kinds)


def _lines(found: Found) -> list[Line]:
    """Return a line for each training backend of two or more of the policies."""
    points: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for name, rated, spread in zip(found["names"], found["elo"], found["spread"], strict=True):
        if name in found["policies"]:
            about = found["policies"][name]
            against = about["against"] and f"against {about['against']}"
            label = joined(f"trained in {side_of(about['backend'])}", against)
            points[label].append((about["steps"], rated, spread))
    lines = []
    for label, held in sorted(points.items()):
        if len({steps for steps, *_ in held}) > 1:
            x, y, half = zip(*sorted(held), strict=True)
            low = [a - b for a, b in zip(y, half, strict=True)]
            lines.append(Line(label, x, y, low, [a + b for a, b in zip(y, half, strict=True)]))
    return lines


def _curves(found: Found, lines: list[Line]) -> Lines:
    levels = [
        (name, value)
        for name, value in zip(found["names"], found["elo"], strict=True)
        if name not in found["policies"]
    ]
    title = joined(found["environment"], found["variant"], "policies as they learn")
    return Lines(title, "environment steps of training", "Elo", lines, levels)
