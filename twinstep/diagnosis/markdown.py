"""A failure report as Markdown, for a person or a coding agent.

At most CAP characters, most important first.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from twinstep._lib import paths
from twinstep._lib.json_values import text_of
from twinstep._lib.markdown import table
from twinstep.diagnosis.boards import action_text, grids_text, masks_text, step_text
from twinstep.diagnosis.report import encode, has_case, headline, rounding_of
from twinstep.project.source_view import candidate_source

#: Characters of a report. Agent runners cut longer texts in the middle.
CAP = 9000
#: Lines shown of the oracle's own log.
TOLD = 60


def markdown(record: dict[str, Any], folder: str = ".twinstep/reports") -> str:
    """Return the report as Markdown, at most CAP characters.

    Beyond the cap, parts are left out in this order: the candidate's source, the last agreeing
    steps, the agreeing fields. The difference, the minimal case and the replay command always stay.
    """
    must, may = _sections(record, folder)
    first, then = ("source", "last"), ("agree", "apart", "grids", "alone")
    for drop in ((), ("source",), first, (*first, *then)):
        parts = [part for name, part in _merged(must, may) if part and name not in drop]
        text = "\n".join(parts)
        if len(text) <= CAP:
            return text
    cut = "\n(cut; the JSON record has the rest)\n"
    return text[: CAP - len(cut)] + cut


def _sections(record: dict[str, Any], folder: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
    case = record["case"]
    must = [
        ("head", f"# {headline(record)}      <!-- id {record['id']} -->\n{_found(record)}"),
        ("fix", _fix(record)),
    ]
    if has_case(record):
        must += [("case", _case_text(record, folder)), ("diff", _diff_table(record))]
    if record["context"].get("largest"):
        must.append(("largest", _largest_table(record["context"])))
        if record["context"]["rounding"]:
            must.append(("rounding", _rounding_text(record)))
    if record["call"]:
        must.append(("call", _call_text(record["call"])))
    if record.get("told"):
        must.append(("told", _told_text(record["told"])))
    if record["near"]:
        near = record["near"]
        must.append(
            (
                "near",
                "## Nearest input that agrees\n"
                f"`{near['name']}` = {text_of(near['there'])} (here {text_of(near['here'])}); "
                "everything else as above.",
            )
        )
    must.append(("done", _done(record)))
    may = {}
    parted = record.get("not_compared", [])
    if parted:
        shown = " ".join(
            f"{name}={text_of(want)} (candidate {text_of(got)})" for name, want, got in parted
        )
        may["apart"] = f"apart by then, under gates of their own: {shown}"
    if record["agree"]:
        shown = {n: v for n, v in record["agree"].items() if not n.startswith("legal[")}
        agree = " ".join(f"{name}={text_of(value)}" for name, value in shown.items())
        may["agree"] = f"agree: {agree}"
    if record["last_steps"]["rows"]:
        may["last"] = _last_table(record["last_steps"])
    source = candidate_source(record)
    if source:
        may["source"] = source
    if record.get("grids"):
        may["grids"] = grids_text(record["grids"])
    witness = record["witness"]
    if record["one_step"] and witness["kind"] == "step" and len(witness["actions"]) == 1:
        may["alone"] = step_text(record)
    if case["kind"] == "module":
        may.pop("last", None)
    return must, may


def _merged(must: list[tuple[str, str]], may: dict[str, str]) -> list[tuple[str, str]]:
    order: list[tuple[str, str]] = []
    for name, part in must:
        if name == "done":
            order += [(n, may[n]) for n in ("alone", "last", "source") if n in may]
        order.append((name, part))
        if name == "diff":
            order += [(n, may[n]) for n in ("apart", "agree", "grids") if n in may]
    return order


def _found(record: dict[str, Any]) -> str:
    context = record["context"]
    counts = context["counts"]
    if not context["clusters"]:
        if record["diff"] and context["note"]:
            return context["note"]
        # Without a difference to show, the note's first line is the headline.
        _, _, more = context["note"].partition("\n")
        return f"Found by {context['test']}.\n{more}".strip()
    lists = [f"{count} first at {_listed(names)}" for names, count in context["clusters"][:5]]
    more = len(context["clusters"]) - 5
    if more > 0:
        lists.append(f"{more} more kinds")
    text = f"{counts['diverging']} of {counts['episodes']} episodes diverge: {'; '.join(lists)}."
    return f"{text} {context['note']}".strip()


def _listed(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{{{', '.join(names[:most])}{more}}}"


def _fix(record: dict[str, Any]) -> str:
    lines = ["## Fix"]
    if record["edit"]:
        lines.append(f"Edit only {', '.join(f'`{glob}`' for glob in record['edit'])}.")
    for place, suspect in enumerate(record["suspects"]):
        word = "Suspect" if place == 0 else "Then"
        where = f" (`{suspect['place']}`)" if suspect["place"] else ""
        if more := [f"`{helper}`" for helper in suspect.get("helpers", ())]:
            where += f", with {', '.join(more)}"
        source = f"; the oracle has it at `{suspect['source']}`" if suspect["source"] else ""
        lines.append(f"{word}: **{suspect['module']}**{where}{source}: {suspect['why']}.")
    if record["one_step"] is True and record["case"]["kind"] == "episode":
        lines.append(
            "The oracle's state before this step, loaded into the candidate, shows it in ONE step."
        )
    elif record["one_step"] is False:
        why = (
            "the candidate carries something from earlier steps that the frame's state does not "
            "hold, or lost it there"
        )
        if record["context"].get("relaxed"):
            why = "differences of rounding's size in the steps before it have grown to it"
        elif record.get("not_compared"):
            why = "the fields that are apart, below, had parted before it"
        lines.append(f"Loading the oracle's state before this step does NOT show it: {why}.")
    return "\n".join(lines) if lines[1:] else ""


def _case_text(record: dict[str, Any], folder: str) -> str:
    case, context = record["case"], record["context"]
    title = {
        "episode": "Minimal counterexample" if context["minimal"] else "Counterexample",
        "step": "Counterexample (one step from a loaded state)",
        "restart": "Counterexample (restart of a loaded state)",
        "module": "Counterexample (one module call)",
    }[case["kind"]]
    if case["kind"] == "step" and sum(n for _, n in case["actions"]) > 1:
        title = "Counterexample (a few steps from a loaded state)"
    lines = [f"## {title}"]
    if context["shrunk_from"]:
        steps = sum(count for _, count in case["actions"])
        how = "1-minimal" if context["minimal"] else "budget spent, may not be minimal"
        lines[0] += f" (shrunk from {context['shrunk_from']} to {steps} steps, {how})"
    params = " ".join(f"{k}={v}" for k, v in record["params"].items())
    lines.append(", ".join(filter(None, (record["contract"], params))))
    if case["kind"] == "module":
        inputs = ", ".join(f"{n}={text_of(v)}" for n, v in case["inputs"].items())
        lines.append(f"{case['module']}({inputs})")
    if case["kind"] in ("step", "restart"):
        state = " ".join(f"{n}={text_of(v)}" for n, v in case["state"].items())
        lines.append(f"state: {state}")
    if case["kind"] == "episode":
        fields = " ".join(f"{n}={text_of(v)}" for n, v in case["start"].items())
        lines.append(f"seed {text_of(case['seed'])} {fields}".rstrip())
    if case["kind"] in ("episode", "step"):
        shown = [f"{action_text(a)}x{n}" for a, n in case["actions"]]
        if len(shown) > 60:
            shown = [*shown[:40], f"... {len(shown) - 50} runs ...", *shown[-10:]]
        lines.append(f"actions: {' '.join(shown) or '(none: it differs at reset)'}")
    lines.append(f"Replay: `twinstep replay {folder}/{record['id']}.json`")
    return "\n".join(lines)


def _diff_table(record: dict[str, Any]) -> str:
    if not record["diff"]:
        return ""
    draws, masks = record["draws"], record.get("masks", [])
    differing = [r for r in record["diff"] if not (masks and r["path"].startswith("legal"))]
    rows = [["field", "before", "oracle", "candidate", "error"]]
    for row in differing[:16]:
        before = "" if row["before"] is None else text_of(row["before"])
        sides = text_of(row["oracle"]), text_of(row["candidate"])
        rows.append([row["path"], before, *sides, _error(row)])
    lines = ["## What differs", *([masks_text(masks)] if masks else [])]
    lines += table(rows) if differing else []
    if differing and record["differing_values"] > 16:
        lines.append(f"... {record['differing_values'] - 16} more values differ.")
    if draws:
        counts = {name: "?" if draws[name] is None else draws[name] for name in draws}
        begin = f"before {counts['before']}" if draws["before"] is not None else "in this step"
        lines.append(f"draws: {begin}, oracle {counts['oracle']}, candidate {counts['candidate']}")
    return "\n".join(lines)


def _error(row: dict[str, Any]) -> str:
    size = row["error"] if isinstance(row["error"], str) else f"{row['error']:.3g}"
    words = rounding_of(row)
    return f"{size} ({words})" if words else size


def _largest_table(context: dict[str, Any]) -> str:
    """Show the largest difference of each field over all episodes, bugs before rounding."""
    rows = sorted(context["largest"], key=lambda row: bool(rounding_of(row)))
    lines = [["field", "largest", "in episode, step", "steps that differ", "first in"]]
    for row in rows[:12]:
        where, first = f"{row['episode']}, {row['step']}", "{}, {}".format(*row["first"])
        share = f"{row['steps']:,} of {row['compared']:,}"
        lines.append([row["path"], _error(row), where, share, first])
    more = [f"... {len(rows) - 12} more fields."] if len(rows) > 12 else []
    return "\n".join(["## Largest differences in whole episodes", *table(lines), *more])


def _rounding_text(record: dict[str, Any]) -> str:
    """Say where differences of rounding come from, and what to do about them."""
    gates = [
        f'GateRule(Lockstep({_above(row["error"])}), fields="{row["path"]}")'
        for row in record["context"]["largest"]
        if isinstance(row["error"], float)
    ]
    why = (
        "Such differences come from a product and a sum that the compiler fuses into one rounding, "
        "a division by a constant that it turns into a product, sums in another order, or a state "
        "kept in float32 where the reference has float64. Compute in the reference's precision and "
        "order (`twinstep.exact` keeps a product, a quotient and a sum as they are written), or "
        "declare gates that allow what was measured:"
    )
    if not any(row["error"] for row in record["context"]["largest"]):
        why = (
            "Only signs of zeros differ: a product with a negative number, or a negation, gives "
            "-0. Where neither value is printed or divided by, declare that both are one:"
        )
    return "\n".join(["## Rounding", why, *[f"`{gate}`" for gate in gates[:8]]])


def _above(size: float) -> str:
    """Return a gate's argument: a round number that leaves a measured error some room."""
    if not size:
        return "signed_zeros=False"
    power = 10.0 ** math.floor(math.log10(2 * size))
    return f"atol={next(step * power for step in (1, 2, 5, 10) if step * power >= 2 * size):g}"


def _call_text(call: dict[str, Any]) -> str:
    inputs = ", ".join(f"{n}={text_of(v)}" for n, v in call["inputs"].items())
    lines = ["## Module call that differs", f"{call['module']}({inputs})"]
    rows = [["output", "oracle", "candidate"]]
    for name, want in call["oracle"].items():
        got = call["candidate"].get(name)
        mark = "" if text_of(want) == text_of(got) else " <-"
        rows.append([name, text_of(want), text_of(got) + mark])
    return "\n".join([*lines, *table(rows)])


def _told_text(lines: list[str]) -> str:
    more = [f"... {len(lines) - TOLD} more lines"] if len(lines) > TOLD else []
    return "\n".join(
        ["## The oracle's own account of this step", "```", *lines[:TOLD], *more, "```"]
    )


def _last_table(last: dict[str, Any]) -> str:
    rows = ([t, *map(text_of, values)] for t, values in last["rows"])
    return "\n".join(["## Last agreeing steps", *table([["t", *last["names"]], *rows])])


def _done(record: dict[str, Any]) -> str:
    env, candidate = record["environment"], record["candidate"]
    level = record["context"]["level"]
    marks = " or ".join(f"level{n}" for n in range(1, level + 1))
    chosen = f'pytest -m "{marks}" --env {env} --candidate {candidate}'
    return f"## Done when\n`{chosen}` passes; other seeds are run too."


def write(record: dict[str, Any], folder: Path) -> Path:
    """Write `<id>.json` and `<id>.md` atomically; return the Markdown's path."""
    text = markdown(record, folder.as_posix())
    paths.write_atomically(folder / f"{record['id']}.json", encode(record))
    path = folder / f"{record['id']}.md"
    paths.write_atomically(path, text.encode())
    return path
