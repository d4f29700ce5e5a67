"""The strength of the suite: planted bugs, the levels' order, neighbouring releases."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

from tools.evidence import paper
from tools.evidence.formatting import joined, made_on, table
from tools.evidence.results import Found, Results, quoted, read, whole
from tools.evidence.section import Bars, Missing, Picture, Section
from twinstep._lib.stats import wilson
from twinstep.mutation.report import SCHEMA, counted

_PARTS = ("environment", "candidate", "mutants", "levels", "sites", "machine", "versions")
#: Results of older schemas differ only in their rows of single mutants.
_SCHEMAS = range(1, SCHEMA + 1)


def mutants(results: Results) -> Section:
    """Return the section on planted bugs."""
    rows = [["environment", "candidate", "bugs planted", "killed", "share, 95 % interval",
             "survivors", "equivalent", "not built"]]  # fmt: skip
    levels = [["environment", "candidate", "level", "kills by itself", "share, 95 % interval",
               "kills first"]]  # fmt: skip
    sources, bars, there = [], [], set()
    for name in results.names("mutants"):
        path = results.there("mutants", f"{name}.json")
        if (found := read(path, _PARTS, _SCHEMAS)) is None:
            continue
        with whole(path):
            who = [found["environment"], found["candidate"]]
            rows.append([*who, *_killed(found)])
            levels += [[*who, *row] for row in _by_level(found)]
            sources.append(f"- {joined(*who)}: {made_on(found)}")
            good = counted(found["mutants"])
            hits = sum(row["class"] != "survivor" for row in good)
            bars.append((joined(*who), found["candidate"], hits, len(good)))
            there.add(name)
    envs = {name.partition("-")[0] for name in there}
    missing = [
        Missing(env, f"twinstep mutants {env}{results.out('mutants', usual=['mutants'])}")
        for env in paper.environments()
        if env not in envs
    ]
    blocks = [
        "Bugs planted by rule in a candidate's own files, one at a time. Equivalent ones and those "
        "that cannot be built are not counted; intervals are Wilson's. Where a sample was drawn, "
        f"the interval is what it says of all. {paper.facts()['strength']}",
    ]
    if there:
        blocks += [table(rows), "\n".join(sources)]
        blocks += [
            "### By level\n\n*By itself* is of the bugs that were drawn to be asked at every "
            "level, *first* of all that are counted.",
            table(levels),
        ]
    return Section(
        "Planted bugs", blocks, paper.ordered(envs), missing, _rates(bars) if bars else []
    )


def _killed(found: Found) -> list[str]:
    good = counted(found["mutants"])
    hits = sum(row["class"] != "survivor" for row in good)
    classes = Counter(row["class"] for row in found["mutants"])
    planted = f"{len(found['mutants'])} of {found['sites']}"
    if found.get("stopped"):
        planted += ", stopped"
    others = [str(classes[name]) for name in ("survivor", "equivalent", "build")]
    return [planted, f"{hits} of {len(good)}", _share(hits, len(good)), *others]


def _by_level(found: Found) -> list[list[str]]:
    good = counted(found["mutants"])
    full = [row for row in good if row.get("full", True)]
    rows = []
    for level in map(str, found["levels"]):
        hits = sum(level in row["kills"] for row in full)
        first = sum(str(row["first"]) == level for row in good)
        rows.append([level, f"{hits} of {len(full)}", _share(hits, len(full)), str(first)])
    return rows


def _share(hits: int, count: int) -> str:
    if not count:
        return "none counted"
    low, high = wilson(hits, count)
    return f"{100 * hits / count:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _rates(bars: list[tuple[str, str, int, int]]) -> list[Picture]:
    edges = [wilson(hits, count) for _, _, hits, count in bars if count]
    shares = [hits / count for _, _, hits, count in bars if count]
    values = [
        (100 * share, 100 * low, 100 * high)
        for share, (low, high) in zip(shares, edges, strict=True)
    ]
    labels = [label for label, _, _, count in bars if count]
    colors = [who.rstrip("0123456789") for _, who, _, count in bars if count]
    panel = Bars("planted bugs", "killed, percent", labels, values, colors)
    return [Picture("mutants.png", "Planted bugs that are killed, with Wilson's interval", [panel])]


def hierarchy(results: Results) -> Section:
    """Return the section on all levels against whole episodes alone."""
    path = results.there("ablation.json")
    blocks, missing = [], []
    if (found := read(path, ("command", "bugs", "rows", "machine", "versions"), ())) is None:
        missing.append(Missing("all levels against episodes alone", _tool(results, "ablation")))
    else:
        with whole(path):
            blocks += [made_on(found), table(_arms(found))]
    theirs = [["environment", "levels", "found"]]
    theirs += [[f["work"], f["levels"], f["found"]] for f in paper.facts()["hierarchy"]]
    return Section(
        "What the order of the levels is worth to a repair",
        [*blocks, f"### The paper's\n\n{paper.column()}:", table(theirs)],
        ["ablation"] if found else [],
        missing,
    )


def _arms(found: Found) -> list[list[str]]:
    rows = [["levels", "starts", "bugs in each", "verified", "tries, median (most)",
             "tries that named a guilty function", "seconds of checks, median"]]  # fmt: skip
    for arm in dict.fromkeys(name for row in found["rows"] for name in row if name != "bugs"):
        runs = [row[arm] for row in found["rows"]]
        tries, named = [run["tries"] for run in runs], sum(run["named"] for run in runs)
        good = sum(run["end"] == "verified" for run in runs)
        rows.append(
            [
                arm,
                str(len(runs)),
                str(found["bugs"]),
                f"{good} of {len(runs)}",
                f"{statistics.median(tries):g} ({max(tries)})",
                f"{named} of {sum(tries)}",
                f"{statistics.median(run['check_seconds'] for run in runs):.0f}",
            ]
        )
    return rows


def neighbours(results: Results) -> Section:
    """Return the section on other releases in the reference's place."""
    path = results.there("neighbours.json")
    command = _tool(results, "neighbours")
    found = read(path, ("rows", "machine", "versions"), ())
    if found is None:
        return Section("Neighbouring releases", [], [], [Missing("other releases", command)])
    with whole(path):
        levels = sorted({n for row in found["rows"] for n in row["levels"]})
        rows = [["environment", "release", *(f"level {n}" for n in levels)]]
        rows += [
            [row["env"], row["release"], *(_asked(row["levels"].get(n)) for n in levels)]
            for row in found["rows"]
        ]
        about = "Each release in the reference's place, the candidate as it is proven."
        return Section(
            "Neighbouring releases",
            [f"{about} {made_on(found, command)}", table(rows)],
            paper.ordered(row["env"] for row in found["rows"]),
        )


def _asked(level: dict[str, Any] | None) -> str:
    """Return a level's cell; a failure without a report is the bridge's, and no difference."""
    if level is None:
        return "not asked"
    tests = level["passed"] + level["failed"]
    if level["reports"]:
        return f"differs: {level['failed']} of {tests} fail, first {level['first']}"
    if level["failed"]:
        return f"{level['failed']} of {tests} cannot be asked"
    return f"the same: {tests} tests"


def _tool(results: Results, name: str) -> str:
    stem = results.there(name)
    more = f" --out {quoted(stem)}" if results.out() else ""
    return f"python tools/{name}.py{more}"
