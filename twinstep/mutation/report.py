"""The result of a campaign: JSON for programs, Markdown for people."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from typing import Any

from twinstep._lib import machine
from twinstep._lib.markdown import table
from twinstep._lib.stats import wilson
from twinstep.mutation.campaign import Campaign
from twinstep.mutation.python_operators import OPERATORS
from twinstep.testing.settings import RunSettings

SCHEMA = 2
_Row = dict[str, Any]


def result(campaign: Campaign, command: str, cores: list[int], stopped: bool) -> dict[str, Any]:
    """Return the result as plain JSON values. stopped: True if mutants are left to run."""
    subject, plan = campaign.pair.subject, campaign.plan
    return {
        "schema": SCHEMA,
        "environment": subject.contract.version,
        "reference": subject.env.oracle.title,
        "candidate": plan.candidate,
        "variant": subject.variant.name,
        "other_variants": [campaign.name_of(pair) for pair in campaign.pairs[1:]],
        "command": command,
        "levels": list(plan.levels),
        "episodes": plan.episodes,
        "sites": campaign.sites,
        "sources": campaign.sources,
        "matrix": plan.matrix,
        "sample": plan.sample,
        "seed": plan.seed,
        "stopped": stopped,
        "kept": campaign.kept,
        "own_first": list(campaign.early),
        "sampled": [mutant.id for mutant in campaign.mutants] if plan.sample else [],
        **machine.made(cores),
        "load_average": machine.load(),
        "mutants": campaign.in_order(),
    }


def markdown(data: dict[str, Any]) -> str:
    """Return a result as Markdown."""
    rows = data["mutants"]
    return "\n".join([*_head(data), *_by_level(data), *_by_part(data), *_lists(rows)]) + "\n"


def counted(rows: list[_Row]) -> list[_Row]:
    """Return the mutants that count for a suite's strength: those that run and differ."""
    return [row for row in rows if row["class"] in ("killed", "survivor", "refuted")]


def _head(data: dict[str, Any]) -> Iterator[str]:
    rows, who = data["mutants"], data["machine"]
    of = f"a sample of {len(rows)}" if data["sample"] else f"all {len(rows)}"
    if data["stopped"]:
        of = f"the first {len(rows)} (it was stopped)"
    yield f"# Planted bugs: {data['environment']}, candidate {data['candidate']}"
    yield ""
    yield f"`{data['command']}`: {of} of {data['sites']} mutants, against {data['reference']}."
    yield ""
    yield f"- processor: {who['cpu']} ({who['architecture']}), {who['cores_used']} cores"
    yield f"- system: {who['os']}"
    versions = ", ".join(f"{name} {text}" for name, text in data["versions"].items())
    yield f"- versions: {versions}"
    if "date" in data:  # Results of before it was written have none.
        yield f"- date: {data['date']}"
    yield f"- load average at the end: {data['load_average']}"
    if data["kept"]:
        yield f"- {data['kept']} mutants were settled by an earlier run, and not asked again"
    yield ""
    classes = Counter(row["class"] for row in rows)
    good = counted(rows)
    killed = sum(row["class"] != "survivor" for row in good)
    yield (
        f"**{killed} of {len(good)} mutants are killed: {_share(killed, len(good))}.** "
        f"{_surviving(data)} Not counted: {classes['build']} that cannot be imported, "
        f"built or traced, and {classes['equivalent']} that are equivalent, each with its reason "
        f"beside the candidate's adapter{_proven(data)}."
    )
    if classes["refuted"]:
        named = ", ".join(row["id"] for row in rows if row["class"] == "refuted")
        yield f"\n**Called equivalent, and killed: {named}.**"
    variant = f"variant {data['variant']}" if data["variant"] else "its only variant"
    how = f"Every mutant is asked at every level of {variant}"
    if data["matrix"] >= 0:
        some = f"{len(_full(rows))} of the mutants, drawn at random, are asked at every level"
        how = f"{some} of {variant}, the others until a level notices"
    yield (
        f"\n{how}. These are the suite's generic checks, level 3 with {data['episodes']} "
        "episodes of each driver. What none of them notices is asked in the other variants and in "
        f"candidates made of the same files{_more_episodes(data)}, and of the tests that the "
        f"environment has of its own{_ordered(data)}, until one notices. "
        "Brackets hold Wilson's 95 % interval."
    )


def _ordered(data: dict[str, Any]) -> str:
    before = _before(data)
    return f" ({before})" if before else ""


def _proven(data: dict[str, Any]) -> str:
    """Return how many equivalent mutants did not run at the last level; "" if all did."""
    last = str(data["levels"][-1])
    rows = [row for row in data["mutants"] if row["class"] == "equivalent"]
    skipped = sum(last not in row["seconds"] for row in rows)
    return f"; {skipped} of these were not asked level {last}" if skipped else ""


def _before(data: dict[str, Any]) -> str:
    """Return the checks that own tests run before; "" if own tests run last."""
    early = data.get("own_first")
    if not early:
        return ""
    # Older results hold true or false.
    late = [] if early is True else [n for n in data["levels"] if n not in early]
    return f"before {' and '.join([*(f'level {n}' for n in late), 'the other variants'])}"


def _more_episodes(data: dict[str, Any]) -> str:
    usual = RunSettings().episodes
    return f" (with {usual} episodes)" if data["episodes"] < usual else ""


def _surviving(data: dict[str, Any]) -> str:
    """Return how many survive, how many of them have an effect, and how many may yet be killed."""
    left = [row for row in data["mutants"] if row["class"] == "survivor"]
    below = sum(bool(row.get("effect", {}).get("where")) for row in left)
    more = f", {below} of them below the gates' tolerance" if below else ""
    elsewhere = "everywhere" if data["other_variants"] else "own"
    last = str(data["levels"][-1])
    pending = sum(
        "own" not in row or elsewhere not in row or last not in row["seconds"] for row in left
    )
    if data["stopped"] and pending:
        more += f"; {pending} were not yet asked of everything"
    return f"{len(left)} survive{more}."


def _effect(row: _Row) -> str:
    """Return a survivor's effect, as far as it was measured."""
    peak = row.get("effect")
    if peak is None:
        return ""
    if not peak["where"]:
        return "; nothing that levels 1 and 2 ask of the first variant changes by a bit"
    size = "what is no number" if peak["largest"] is None else f"at most {peak['largest']:.2g}"
    return (
        f"; below tolerance: changes {peak['where']} by {size}, {100 * peak['share']:.2g} % of it"
    )


def _full(rows: list[_Row]) -> list[_Row]:
    """Return the mutants that ran at every level, whatever the other levels found."""
    return [row for row in rows if row.get("full", True)]


def _by_level(data: dict[str, Any]) -> Iterator[str]:
    good = counted(data["mutants"])
    full = _full(good)
    yield "\n## Levels\n"
    rows: list[list[object]] = [["level", "by itself", "first", "alone", "time or crash",
                                 "processor seconds to kill, median (most)"]]  # fmt: skip
    for level in map(str, data["levels"]):
        hits = [row for row in full if level in row["kills"]]
        first = sum(str(row["first"]) == level for row in good)
        alone = sum(len(row["kills"]) == 1 for row in hits)
        every = [row for row in good if level in row["kills"] and not row.get("own")]
        late = sum(row["kills"][level]["how"] in ("time", "crash") for row in every)
        taken = [row["seconds"][level] for row in every] or [0.0]
        rate = f"{len(hits)} of {len(full)}, {_share(len(hits), len(full))}"
        spent = f"{statistics.median(taken):.2f} ({max(taken):.2f})"
        rows.append([level, rate, first, alone, late, spent])
    yield from table(rows)
    if compiling := [row["compiling"] for row in good if "compiling" in row]:
        yield (
            f"\nCompiling one takes {statistics.median(compiling):.1f} s "
            f"(median; at most {max(compiling):.1f})."
        )
    elsewhere = sum(row["class"] == "killed" and row["variant"] != data["variant"] for row in good)
    if elsewhere:
        yield f"\n{elsewhere} are killed in another variant or candidate only."
    own = [row for row in good if row.get("own") and row["class"] == "killed"]
    if own:
        files = sorted(
            {kill["check"].partition("::")[0] for r in own for kill in r["kills"].values()}
        )
        before = _before(data)
        only = f", asked {before}" if before else " only"
        yield f"\n{len(own)} are killed by the environment's own tests{only}: {', '.join(files)}."
    located = [row for row in good if "located" in row]
    if located:
        where = Counter(row["located"] for row in located)
        inside = where["function"] + where["file"] + where["helper"]
        named = len(located) - where["shared"]
        yield (
            f"\nLocalisation: of {named} mutants that level 3 kills in a file that some module "
            f"is declared to be in, the report's first suspect is one of that file for {inside} "
            f"({_share(inside, named)}): for {where['function']} the bug lies in its very "
            f"function, for {where['file']} elsewhere in that function's file, for "
            f"{where['helper']} in what the report names as its helpers. {where['shared']} more "
            "lie in files of no module."
        )


def _by_part(data: dict[str, Any]) -> Iterator[str]:
    levels = [str(level) for level in data["levels"]]
    order = {operator: place for place, operator in enumerate(OPERATORS)}
    for title, key in (("Operators", "operator"), ("Files", "path")):
        groups = sorted({r[key] for r in data["mutants"]}, key=lambda g: (order.get(g, 0), g))
        yield f"\n## {title}\n"
        columns = [key, "mutants", "counted", "killed", f"first by {'/'.join(levels)}"]
        columns += ["at every level", *[f"level {level}" for level in levels]]
        lines: list[list[object]] = [[*columns]]
        for group in groups:
            rows = [row for row in data["mutants"] if row[key] == group]
            good = counted(rows)
            full = _full(good)
            hits = [sum(level in row["kills"] for row in full) for level in levels]
            first = "/".join(str(sum(str(r["first"]) == level for r in good)) for level in levels)
            killed = sum(bool(row["kills"]) for row in good)
            lines.append([group, len(rows), len(good), killed, first, len(full), *hits])
        yield from table(lines)


def _lists(rows: list[_Row]) -> Iterator[str]:
    left = [row for row in rows if row["class"] == "survivor"]
    yield "\n## Survivors\n"
    if not left:
        yield "None."
    for row in left:
        where = f"{row['symbol'] or 'the module'}, line {row['line']}"
        yield f"`{row['id']}` in {where}: {row['what']}{_effect(row)}"
        yield "\n".join(["```diff", *row["diff"], "```\n"])
    same = [row for row in rows if row["class"] == "equivalent"]
    if same:
        yield "\n## Equivalent\n"
    for row in same:
        yield f"- `{row['id']}` {row['path']}:{row['line']}, `{row['what']}`: {row['reason']}"


def _share(hits: int, count: int) -> str:
    low, high = (f"{100 * edge:.1f}" for edge in wilson(hits, count))
    return f"{100 * hits / count:.1f} % [{low}, {high}]" if count else "none"
