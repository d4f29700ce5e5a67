"""The failure report: a JSON record and the Markdown that a person or an agent reads.

Both are deterministic to the byte: no time, no absolute path, no process number. The record
is named by the hash of its canonical JSON, so that the same bug has the same name. The
Markdown is at most CAP characters, most important first.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import __version__, paths, record_shape, registry
from twinstep.cases import elements_that_differ
from twinstep.compare import Rules
from twinstep.contract import Contract, canonical_json
from twinstep.diagnose import Diagnosis, witness_of
from twinstep.errors import UserError
from twinstep.registry import Pair
from twinstep.values import text_of, to_json

#: Characters of a report. Agent runners cut longer texts in the middle.
CAP = 9000
SCHEMA = 1


@dataclass(frozen=True)
class Context:
    """What a report says beside its case: where it was found and what else was seen.

    level: 1 to 4. test: the test that found it. driver: who played, if anyone.
    counts: episodes, steps, diverging. clusters: (paths that differ first, episodes).
    shrunk_from: length of the episode before shrinking (0 if nothing was shrunk).
    minimal: whether shrinking came to its end. note: one more sentence, if any.
    """

    level: int
    test: str
    driver: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    clusters: tuple[tuple[tuple[str, ...], int], ...] = ()
    shrunk_from: int = 0
    minimal: bool = True
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "level": self.level,
            "test": self.test,
            "driver": self.driver,
            "counts": dict(self.counts),
            "clusters": [[list(names), count] for names, count in self.clusters],
            "shrunk_from": self.shrunk_from,
            "minimal": self.minimal,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Context:
        """Return the context that `to_json` was given."""
        return cls(
            data["level"],
            data["test"],
            data["driver"],
            tuple(data["counts"].items()),
            tuple((tuple(names), count) for names, count in data["clusters"]),
            data["shrunk_from"],
            data["minimal"],
            data["note"],
        )


def build(pair: Pair, rules: Rules, diagnosis: Diagnosis, context: Context) -> dict[str, Any]:
    """Return the record of a diagnosed case."""
    contract, answer = pair.subject.contract, diagnosis.answer
    witness = witness_of(diagnosis, contract)
    diff = [
        {
            "path": name,
            "before": None if before is None else to_json(before),
            "oracle": to_json(want),
            "candidate": to_json(got),
            "error": to_json(np.float64(size)),
            "tolerance": gate.atol if not gate.rtol else f"{gate.atol} + {gate.rtol} * |oracle|",
        }
        for name, before, want, got, size, gate in elements_that_differ(contract, rules, answer)
    ]
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "twinstep": __version__,
        "environment": pair.subject.env.name,
        "variant": pair.subject.variant.name,
        "params": {k: contract.params[k] for k in sorted(contract.params)},
        "contract": contract.version,
        "candidate": pair.candidate.name,
        "oracle": {
            "title": pair.subject.env.oracle.title,
            "pins": dict(pair.subject.probe.pins),
        },
        "context": context.to_json(),
        "case": diagnosis.case.to_json(),
        "step": answer.step,
        "diff": diff[:40],
        "differing_values": len(diff),
        "agree": _agreeing(contract, answer),
        "draws": _draws(contract, answer),
        "one_step": diagnosis.one_step,
        "witness": witness.to_json() if witness else None,
        "suspects": [
            {"module": s.module, "why": s.why, **_where(pair, s.module)} for s in diagnosis.suspects
        ],
        "call": None,
        "near": None,
        "last_steps": _last_steps(answer),
        "edit": list(pair.candidate.edit),
    }
    if diagnosis.call is not None:
        record["call"] = {
            "module": diagnosis.call.module,
            "inputs": {n: to_json(v) for n, v in sorted(diagnosis.call.inputs.items())},
            "oracle": {n: to_json(v) for n, v in sorted(diagnosis.call_oracle.items())},
            "candidate": {n: to_json(v) for n, v in sorted(diagnosis.call.outputs.items())},
        }
    if diagnosis.near is not None:
        name, here, there = diagnosis.near
        record["near"] = {"name": name, "here": to_json(here), "there": to_json(there)}
    record["id"] = hashlib.sha256(canonical_json(record).encode()).hexdigest()[:8]
    return record


def headline(record: dict[str, Any]) -> str:
    """Return the one sentence that says what differs."""
    who = f"{label_of(record)}-{record['candidate']}"
    level, kind = record["context"]["level"], record["case"]["kind"]
    if not record["diff"]:
        return f"{who} fails level {level}: {record['context']['note']}"
    row = record["diff"][0]
    values = f"`{row['path']}` is {text_of(row['candidate'])}, oracle {text_of(row['oracle'])}"
    if kind == "module":
        return f"{who} fails level {level}: {values}, in module {record['case']['module']}"
    if kind == "restart":
        return f"{who} fails level {level}: {values}, after a restart"
    if record["step"] == 0:
        return f"{who} fails level {level}: {values}, at reset"
    steps = sum(count for _, count in record["case"]["actions"])
    return f"{who} fails level {level}: {values}, at step {record['step']} of {steps}"


def label_of(record: dict[str, Any]) -> str:
    """Return `pong@fs8`."""
    variant = record["variant"]
    return f"{record['environment']}@{variant}" if variant else record["environment"]


def markdown(record: dict[str, Any], folder: str = ".twinstep/reports") -> str:
    """Return the report as Markdown, at most CAP characters.

    What is over the cap is left out in this order: the candidate's source, the last agreeing
    steps, the agreeing fields. Never the difference, the witness or the replay command.
    """
    must, may = _sections(record, folder)
    for drop in ((), ("source",), ("source", "last"), ("source", "last", "agree")):
        text = "\n".join(part for name, part in _merged(must, may) if name not in drop)
        if len(text) <= CAP:
            return text
    cut = "\n(cut; the JSON record has the rest)\n"
    return text[: CAP - len(cut)] + cut


def _sections(record: dict[str, Any], folder: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
    case, context = record["case"], record["context"]
    must = [
        ("head", f"# {headline(record)}      <!-- id {record['id']} -->\n{_found(context)}"),
        ("fix", _fix(record)),
        ("case", _case_text(record, folder)),
        ("diff", _diff_table(record)),
    ]
    if record["call"]:
        must.append(("call", _call_text(record["call"])))
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
    if record["agree"]:
        agree = " ".join(f"{name}={text_of(value)}" for name, value in record["agree"].items())
        may["agree"] = f"agree: {agree}"
    if record["last_steps"]["rows"]:
        may["last"] = _last_table(record["last_steps"])
    source = _candidate_source(record)
    if source:
        may["source"] = source
    if case["kind"] == "module":
        may.pop("last", None)
    return must, may


def _merged(must: list[tuple[str, str]], may: dict[str, str]) -> list[tuple[str, str]]:
    order: list[tuple[str, str]] = []
    for name, part in must:
        if name == "done":
            order += [(n, may[n]) for n in ("last", "source") if n in may]
        order.append((name, part))
        if name == "diff" and "agree" in may:
            order.append(("agree", may["agree"]))
    return order


def _found(context: dict[str, Any]) -> str:
    counts = context["counts"]
    if not context["clusters"]:
        return context["note"] or f"Found by {context['test']}."
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
        source = f"; the oracle has it at `{suspect['source']}`" if suspect["source"] else ""
        lines.append(f"{word}: **{suspect['module']}**{where}{source}: {suspect['why']}.")
    if record["one_step"] is True and record["case"]["kind"] == "episode":
        lines.append(
            "The oracle's state before this step, loaded into the candidate, shows it in ONE step."
        )
    elif record["one_step"] is False:
        lines.append(
            "Loading the oracle's state before this step does NOT show it: the candidate carries "
            "something from earlier steps that the frame's state does not hold, or lost it there."
        )
    return "\n".join(lines)


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
        shown = [f"{_action(a)}x{n}" for a, n in case["actions"]]
        if len(shown) > 60:
            shown = [*shown[:40], f"... {len(shown) - 50} runs ...", *shown[-10:]]
        lines.append(f"actions: {' '.join(shown) or '(none: it differs at reset)'}")
    lines.append(f"Replay: `twinstep replay {folder}/{record['id']}.json`")
    return "\n".join(lines)


def _action(action: Any) -> str:
    values = np.asarray(action)
    return text_of(values.reshape(-1)[0]) if values.size == 1 else text_of(values)


def _diff_table(record: dict[str, Any]) -> str:
    if not record["diff"]:
        return ""
    draws = record["draws"]
    lines = [
        "## What differs",
        "| field | before | oracle | candidate | error |",
        "|---|---|---|---|---|",
    ]
    for row in record["diff"][:16]:
        before = "" if row["before"] is None else text_of(row["before"])
        size = row["error"] if isinstance(row["error"], str) else f"{row['error']:.3g}"
        lines.append(
            f"| {row['path']} | {before} | {text_of(row['oracle'])} | "
            f"{text_of(row['candidate'])} | {size} |"
        )
    if record["differing_values"] > 16:
        lines.append(f"... {record['differing_values'] - 16} more values differ.")
    if draws:
        lines.append(
            f"draws: before {draws['before']}, oracle {draws['oracle']}, "
            f"candidate {draws['candidate']}"
        )
    return "\n".join(lines)


def _call_text(call: dict[str, Any]) -> str:
    inputs = ", ".join(f"{n}={text_of(v)}" for n, v in call["inputs"].items())
    lines = ["## Module call that differs", f"{call['module']}({inputs})"]
    lines += ["| output | oracle | candidate |", "|---|---|---|"]
    for name, want in call["oracle"].items():
        got = call["candidate"].get(name)
        mark = "" if text_of(want) == text_of(got) else " <-"
        lines.append(f"| {name} | {text_of(want)} | {text_of(got)}{mark} |")
    return "\n".join(lines)


def _last_table(last: dict[str, Any]) -> str:
    names = last["names"]
    lines = [
        "## Last agreeing steps",
        f"| t | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    for t, values in last["rows"]:
        lines.append(f"| {t} | {' | '.join(text_of(v) for v in values)} |")
    return "\n".join(lines)


def _done(record: dict[str, Any]) -> str:
    env, candidate = record["environment"], record["candidate"]
    level = record["context"]["level"]
    marks = " or ".join(f"level{n}" for n in range(1, level + 1))
    chosen = f'pytest -m "{marks}" --env {env} --candidate {candidate}'
    return f"## Done when\n`{chosen}` passes; other seeds are run too."


def _agreeing(contract: Contract, answer: Any) -> dict[str, Any]:
    out = {}
    for path in contract.compared_paths():
        small = path in answer.oracle and np.asarray(answer.oracle[path]).size <= 8
        if small and path not in answer.paths:
            out[path.removeprefix("state.")] = to_json(answer.oracle[path])
    return out


def _draws(contract: Contract, answer: Any) -> dict[str, Any] | None:
    path = f"state.{contract.randomness.draws}"
    if not contract.randomness.draws or path not in answer.oracle:
        return None
    before = to_json(answer.before[path]) if path in answer.before else 0
    return {
        "before": before,
        "oracle": to_json(answer.oracle[path]),
        "candidate": to_json(answer.candidate[path]),
    }


def _last_steps(answer: Any, rows: int = 3, columns: int = 9) -> dict[str, Any]:
    """Keep the frames before the difference, columns that differ or change first."""
    history = answer.history
    count = len(history["reward"]) if history else 0
    if count < 1:
        return {"names": [], "rows": []}
    begin = max(0, count - rows)
    small = [p for p, v in history.items() if v[0].size == 1]
    moving = [p for p in small if (history[p][begin:] != history[p][begin]).any()]
    chosen = [p for p in answer.paths if p in small]
    chosen += [p for p in moving if p not in chosen]
    chosen = chosen[:columns]
    return {
        "names": ["action", *[p.removeprefix("state.") for p in chosen]],
        "rows": [
            [
                t,
                [
                    to_json(answer.played[t].reshape(-1)) if t < len(answer.played) else [],
                    *[to_json(history[p][t].reshape(-1)[0]) for p in chosen],
                ],
            ]
            for t in range(begin, count)
        ],
    }


def _where(pair: Pair, module: str) -> dict[str, str]:
    """Return where a suspect lives: the candidate's `path:line` and the oracle's location."""
    declared = pair.candidate.sources.get(module, "")
    source = ""
    if any(m.name == module for m in pair.subject.contract.modules):
        source = pair.subject.contract.module(module).source
    if not declared:
        return {"place": "", "symbol": "", "source": source}
    path, _, symbol = declared.partition(":")
    line = line_of(path, symbol)
    return {"place": f"{path}:{line}" if line else path, "symbol": symbol, "source": source}


def find_source(path: str) -> Path | None:
    """Return a candidate's file given its path from the repository's root, if it is here.

    In a checkout that is the path itself; installed, the folder lies inside the package.
    """
    if Path(path).is_file():
        return Path(path)
    spec = importlib.util.find_spec("twinstep." + ".".join(Path(path).parent.parts[:1]))
    for base in (spec.submodule_search_locations or ()) if spec else ():
        inner = Path(base).joinpath(*Path(path).parts[1:])
        if inner.is_file():
            return inner
    return None


def line_of(path: str, symbol: str) -> int:
    """Return the line that defines a symbol in a candidate's file, 0 if it is not there."""
    file = find_source(path)
    if file is None or not symbol:
        return 0
    name = re.escape(symbol)
    defined = re.compile(rf"\s*((pub(\(\w+\))? )?fn {name}\b|def {name}\(|class {name}\b)")
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if defined.match(line):
            return number
    return 0


def _candidate_source(record: dict[str, Any], most: int = 40) -> str:
    """Return the suspect's own source, whole function if it is short."""
    suspect = record["suspects"][0] if record["suspects"] else None
    if not suspect or ":" not in suspect["place"]:
        return ""
    path, _, line = suspect["place"].rpartition(":")
    file = find_source(path)
    if file is None:
        return ""
    lines = file.read_text().splitlines()
    begin = int(line) - 1
    body = lines[begin : begin + most]
    for number, text in enumerate(body[1:], 1):
        if text and not text[0].isspace() and not text.startswith((")", "}")):
            body = body[:number]
            break
    while body and not body[-1].strip():
        body.pop()
    kind = "rust" if path.endswith(".rs") else "python"
    shown = "\n".join(body)
    return f"## Candidate source (`{path}:{line}-{begin + len(body)}`)\n```{kind}\n{shown}\n```"


def oracle_source(record: dict[str, Any]) -> str:
    """Return the reference's own lines for the first suspect, for display only.

    Never stored: reports hold the location. Empty where the contract's `source_view` is not
    `verbatim`, or where the reference's source is not at hand.
    """
    env = registry.environment(record["environment"])
    view = env.contract(record["params"]).source_view
    place = record["suspects"][0]["source"] if record["suspects"] else ""
    if view != "verbatim" or not env.oracle.source or not place:
        return ""
    name, _, ranges = place.partition(":")
    file = registry.load_object(env.oracle.source)() / name
    if not file.is_file():
        return ""
    lines = file.read_text().splitlines()
    parts = [f"## Oracle source (`{place}`)"]
    for span in ranges.split(","):
        first, _, last = span.partition("-")
        parts += lines[int(first) - 1 : int(last or first)]
    return "\n".join(parts[:60])


def write(record: dict[str, Any], folder: Path) -> Path:
    """Write `<id>.json` and `<id>.md` atomically; return the Markdown's path."""
    text = markdown(record, folder.as_posix())
    paths.write_atomically(folder / f"{record['id']}.json", encode(record))
    path = folder / f"{record['id']}.md"
    paths.write_atomically(path, text.encode())
    return path


def encode(record: dict[str, Any]) -> bytes:
    """Return a record's bytes on disk."""
    return (json.dumps(record, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def read(path: Path) -> dict[str, Any]:
    """Read a record; UserError if it is not one."""
    try:
        record = json.loads(path.read_text())
        if record["schema"] != SCHEMA:
            raise UserError(f"{path} has schema {record['schema']}; this twinstep reads {SCHEMA}")
        record_shape.check(record)
        return record
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is not a twinstep report ({error})") from error
