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
from twinstep.testing.harness import RunSettings

SCHEMA = 2
_Row = dict[str, Any]


def result(campaign: Campaign, command: str, cores: list[int], stopped: bool) -> dict[str, Any]:
    """Return all that is written, as plain JSON values. stopped: before all mutants were done."""
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


def markdown(found: dict[str, Any]) -> str:
    """Return the table for readers."""
    rows = found["mutants"]
    return "\n".join([*_head(found), *_by_level(found), *_by_part(found), *_lists(rows)]) + "\n"


def counted(rows: list[_Row]) -> list[_Row]:
    """Return the mutants that a suite's strength is measured by: those that run and differ."""
    return [row for row in rows if row["class"] in ("killed", "survivor", "refuted")]


def _head(found: dict[str, Any]) -> Iterator[str]:
    rows, who = found["mutants"], found["machine"]
    of = f"a sample of {len(rows)}" if found["sample"] else f"all {len(rows)}"
    if found["stopped"]:
        of = f"the first {len(rows)} (it was stopped)"
    yield f"# Planted bugs: {found['environment']}, candidate {found['candidate']}"
    yield ""
    yield f"`{found['command']}`: {of} of {found['sites']} mutants, against {found['reference']}."
    yield ""
    yield f"- processor: {who['cpu']} ({who['architecture']}), {who['cores_used']} cores"
    yield f"- system: {who['os']}"
    versions = ", ".join(f"{name} {text}" for name, text in found["versions"].items())
    yield f"- versions: {versions}"
    if "date" in found:  # Results of before it was written have none.
        yield f"- date: {found['date']}"
    yield f"- load average at the end: {found['load_average']}"
    if found["kept"]:
        yield f"- {found['kept']} mutants were settled by an earlier run, and not asked again"
    yield ""
    classes = Counter(row["class"] for row in rows)
    good = counted(rows)
    killed = sum(row["class"] != "survivor" for row in good)
    yield (
        f"**{killed} of {len(good)} mutants are killed: {_share(killed, len(good))}.** "
        f"{_surviving(found)} Not counted: {classes['build']} that cannot be imported, "
        f"built or traced, and {classes['equivalent']} that are equivalent, each with its reason "
        f"beside the candidate's adapter{_proven(found)}."
    )
    if classes["refuted"]:
        named = ", ".join(row["id"] for row in rows if row["class"] == "refuted")
        yield f"\n**Called equivalent, and killed: {named}.**"
    asked = f"variant {found['variant']}" if found["variant"] else "its only variant"
    how = f"Every mutant is asked at every level of {asked}"
    if found["matrix"] >= 0:
        some = f"{len(_full(rows))} of the mutants, drawn by lot, are asked at every level"
        how = f"{some} of {asked}, the others until a level notices"
    yield (
        f"\n{how}. These are the suite's generic checks, level 3 with {found['episodes']} "
        "episodes of each driver. What none of them notices is asked in the other variants and in "
        f"candidates made of the same files{_more_episodes(found)}, and of the tests that the "
        f"environment has of its own{_ordered(found)}, until one notices. "
        "Brackets hold Wilson's 95 % interval."
    )


def _ordered(found: dict[str, Any]) -> str:
    before = _before(found)
    return f" ({before})" if before else ""


def _proven(found: dict[str, Any]) -> str:
    """Say how many of those that are called equivalent were not asked the last level, "" if all."""
    last = str(found["levels"][-1])
    rows = [row for row in found["mutants"] if row["class"] == "equivalent"]
    unasked = sum(last not in row["seconds"] for row in rows)
    return f"; {unasked} of these were not asked level {last}" if unasked else ""


def _before(found: dict[str, Any]) -> str:
    """Say what own tests were asked before, "" if they came last."""
    early = found.get("own_first")
    if not early:
        return ""
    # Older results hold true or false.
    late = [] if early is True else [n for n in found["levels"] if n not in early]
    return f"before {' and '.join([*(f'level {n}' for n in late), 'the other variants'])}"


def _more_episodes(found: dict[str, Any]) -> str:
    usual = RunSettings().episodes
    return f" (with {usual} episodes)" if found["episodes"] < usual else ""


def _surviving(found: dict[str, Any]) -> str:
    """Say how many survive, of how many a change was measured, and how many may yet be killed."""
    left = [row for row in found["mutants"] if row["class"] == "survivor"]
    below = sum(bool(row.get("effect", {}).get("where")) for row in left)
    more = f", {below} of them below the gates' tolerance" if below else ""
    asked = "everywhere" if found["other_variants"] else "own"
    last = str(found["levels"][-1])
    unasked = sum(
        "own" not in row or asked not in row or last not in row["seconds"] for row in left
    )
    if found["stopped"] and unasked:
        more += f"; {unasked} were not yet asked of everything"
    return f"{len(left)} survive{more}."


def _effect(row: _Row) -> str:
    """Say what a survivor changes, as far as it was measured."""
    found = row.get("effect")
    if found is None:
        return ""
    if not found["where"]:
        return "; nothing that levels 1 and 2 ask of the first variant changes by a bit"
    size = "what is no number" if found["largest"] is None else f"at most {found['largest']:.2g}"
    return (
        f"; below tolerance: changes {found['where']} by {size}, {100 * found['share']:.2g} % of it"
    )


def _full(rows: list[_Row]) -> list[_Row]:
    """Return those that were asked at every level, whatever another said."""
    return [row for row in rows if row.get("full", True)]


def _by_level(found: dict[str, Any]) -> Iterator[str]:
    good = counted(found["mutants"])
    full = _full(good)
    yield "\n## Levels\n"
    rows: list[list[object]] = [["level", "by itself", "first", "alone", "time or crash",
                                 "processor seconds to kill, median (most)"]]  # fmt: skip
    for level in map(str, found["levels"]):
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
    elsewhere = sum(row["class"] == "killed" and row["variant"] != found["variant"] for row in good)
    if elsewhere:
        yield f"\n{elsewhere} are killed in another variant or candidate only."
    own = [row for row in good if row.get("own") and row["class"] == "killed"]
    if own:
        files = sorted(
            {kill["check"].partition("::")[0] for r in own for kill in r["kills"].values()}
        )
        before = _before(found)
        only = f", asked {before}" if before else " only"
        yield f"\n{len(own)} are killed by the environment's own tests{only}: {', '.join(files)}."
    asked = [row for row in good if "located" in row]
    if asked:
        where = Counter(row["located"] for row in asked)
        inside = where["function"] + where["file"] + where["helper"]
        named = len(asked) - where["shared"]
        yield (
            f"\nLocalisation: of {named} mutants that level 3 kills in a file that some module "
            f"is declared to be in, the report's first suspect is one of that file for {inside} "
            f"({_share(inside, named)}): for {where['function']} the bug lies in its very "
            f"function, for {where['file']} elsewhere in that function's file, for "
            f"{where['helper']} in what the report names as its helpers. {where['shared']} more "
            "lie in files of no module."
        )


def _by_part(found: dict[str, Any]) -> Iterator[str]:
    levels = [str(level) for level in found["levels"]]
    order = {operator: place for place, operator in enumerate(OPERATORS)}
    for title, key in (("Operators", "operator"), ("Files", "path")):
        groups = sorted({r[key] for r in found["mutants"]}, key=lambda g: (order.get(g, 0), g))
        yield f"\n## {title}\n"
        columns = [key, "mutants", "counted", "killed", f"first by {'/'.join(levels)}"]
        columns += ["at every level", *[f"level {level}" for level in levels]]
        lines: list[list[object]] = [[*columns]]
        for group in groups:
            rows = [row for row in found["mutants"] if row[key] == group]
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
