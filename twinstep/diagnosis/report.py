"""The failure report's record: the whole diagnosis as JSON.

Deterministic to the byte: no time, no absolute path, no process number. Its name is the hash of
its canonical JSON, so that the same bug has the same name. markdown.py writes the same as text.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from twinstep import __version__
from twinstep._lib.json_values import text_of, to_json
from twinstep.compare.arrays import ulps
from twinstep.compare.rounding import Largest, rounding_words
from twinstep.contract import Box, Contract, canonical_json
from twinstep.diagnosis import boards, reward_terms, schema
from twinstep.diagnosis.case import (
    Answer,
    elements_not_compared,
    elements_that_agree,
    elements_that_differ,
)
from twinstep.diagnosis.diagnose import Diagnosis
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import Pair
from twinstep.project.source_view import line_of
from twinstep.runner import runner

SCHEMA = 1


@dataclass(frozen=True)
class Context:
    """The context of a report's case: the test that found it and its counts.

    level: 1 to 4. test: the test that found it. driver: the driver's name, if any.
    counts: episodes, steps, diverging. clusters: (paths that differ first, episodes).
    shrunk_from: length of the episode before shrinking (0 if nothing was shrunk).
    minimal: True if shrinking completed; False if it did not, or nothing was shrunk.
    note: one more sentence, if any.
    largest: the largest difference of each field, where rounding is among them.
    relaxed: (frame path, (atol, rtol)) of the tolerances of rounding's size that the case exceeds.
    rounding: True if no difference of any episode exceeds them. tolerance: the run's own, or None.
    """

    level: int
    test: str
    driver: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    clusters: tuple[tuple[tuple[str, ...], int], ...] = ()
    shrunk_from: int = 0
    minimal: bool = True
    note: str = ""
    largest: tuple[Largest, ...] = ()
    relaxed: tuple[tuple[str, tuple[float, float]], ...] = ()
    rounding: bool = False
    tolerance: tuple[float, float] | None = None

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
            "largest": [to_plain(each) for each in self.largest],
            "relaxed": {path: list(both) for path, both in self.relaxed},
            "rounding": self.rounding,
            "tolerance": list(self.tolerance) if self.tolerance else None,
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
            tuple(_largest(row) for row in data.get("largest", ())),
            tuple((path, (a, r)) for path, (a, r) in data.get("relaxed", {}).items()),
            data.get("rounding", False),
            tuple(data["tolerance"]) if data.get("tolerance") else None,
        )


def to_plain(each: Largest) -> dict[str, Any]:
    """Return a field's largest difference as JSON has it; infinity as text."""
    values = dataclasses.asdict(each)
    sizes = {name: to_json(np.float64(values[name])) for name in ("error", "ulps")}
    return values | sizes | {"first": list(each.first)}


def _largest(row: dict[str, Any]) -> Largest:
    sizes = {name: float(row[name]) for name in ("error", "ulps")}
    return Largest(**{**row, **sizes, "first": tuple(row["first"])})


def build(pair: Pair, diagnosis: Diagnosis, context: Context) -> dict[str, Any]:
    """Return the record of a diagnosed case."""
    contract, answer = pair.subject.contract, diagnosis.answer
    witness = diagnosis.witness
    diff = [
        {
            "path": name,
            "before": None if before is None else to_json(before),
            "oracle": to_json(want),
            "candidate": to_json(got),
            "error": to_json(np.float64(size)),
            "ulps": to_json(ulps(want, got)) if want.dtype.kind == "f" else None,
            "tolerance": gate.atol if not gate.rtol else f"{gate.atol} + {gate.rtol} * |oracle|",
        }
        for name, before, want, got, size, gate in elements_that_differ(contract, answer)
    ]
    # A bug before the rounding beside it; a wrong state before the mask that follows from it.
    diff.sort(key=lambda row: (bool(rounding_of(row)), row["path"].startswith("legal[")))
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
        "not_compared": [
            [path.removeprefix("state."), to_json(want), to_json(got)]
            for path, want, got in elements_not_compared(contract, answer)
        ],
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
    if _is_beyond(contract, answer.played):
        record["beyond"] = True
    if found := boards.masks(contract, answer):
        record["masks"] = found
    if found := boards.grids(contract, answer):
        record["grids"] = found
    names = {field.name: list(field.names) for field in contract.state if field.names}
    if witness is not None and names:
        record["elements"] = names
    if answer.raised:
        what = answer.raised.what.partition(": ")[2]
        record["raised"] = {"what": what, "place": place_of(answer.raised.detail)}
    if diagnosis.oracle_log:
        record["told"] = diagnosis.oracle_log.splitlines()
        if "reward" in answer.paths:
            want, got = (float(np.ravel(s["reward"])[0]) for s in (answer.oracle, answer.candidate))
            if found := reward_terms.fault(want, got, record["told"]):
                record["term"] = found
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
    """Return the one sentence that states the difference."""
    who = f"{label_of(record)}-{record['candidate']}"
    level, kind = record["context"]["level"], record["case"]["kind"]
    if raised := record.get("raised"):
        steps = sum(count for _, count in record["case"]["actions"])
        place = f", at `{raised['place']}`" if raised["place"] else ""
        said = f"the candidate raises {raised['what']}{place}"
        return f"{who} fails level {level}: {said}, in step {record['step']} of {steps}"
    if not record["diff"]:
        note, _, _ = record["context"]["note"].partition("\n")
        return f"{who} fails level {level}: {note}"
    row = record["diff"][0]
    if row["path"].startswith("legal") and record.get("masks"):
        said = boards.masks_text(record["masks"])
        where = f"at step {record['step']}" if record["step"] else "at reset"
        return f"{who} fails level {level}: {said}, {where}"
    values = f"`{row['path']}` is {text_of(row['candidate'])}, oracle {text_of(row['oracle'])}"
    if words := rounding_of(row):
        values += f" ({words})"
    if record.get("beyond"):
        values += ", for an action beyond its range"
    if record.get("term") and row["path"] == "reward":
        values += f", {record['term']}"
    if kind == "module":
        return f"{who} fails level {level}: {values}, in module {record['case']['module']}"
    if kind == "restart":
        return f"{who} fails level {level}: {values}, after a restart"
    if record["step"] == 0:
        return f"{who} fails level {level}: {values}, at reset"
    steps = sum(count for _, count in record["case"]["actions"])
    return f"{who} fails level {level}: {values}, at step {record['step']} of {steps}"


def place_of(trace: str) -> str:
    """Return the innermost place of a traceback that is no library's: `port.py:31 in step`.

    No absolute path: relative to the present folder, or below the folder of installed packages.
    """
    shown = ""
    for file, line, function in re.findall(r'File "([^"]+)", line (\d+), in (\S+)', trace):
        path = Path(file)
        _, _, installed = file.rpartition("site-packages/")
        if installed.partition("/")[0] in _LIBRARIES or path.parent == _CALLER:
            continue
        if path.is_relative_to(Path.cwd()):
            installed = str(path.relative_to(Path.cwd()))
        short = path.name if Path(installed).is_absolute() else installed
        shown = f"{short}:{line} in {function}"
    return shown


#: Packages in whose code a candidate's exception may arise.
_LIBRARIES = {"jax", "jaxlib", "numpy"}
#: The folder of our own code that calls a candidate.
_CALLER = Path(runner.__file__).parent


def rounding_of(row: dict[str, Any]) -> str:
    """Return the size of a difference of rounding in words, "" for any other."""
    apart = row.get("ulps")
    return rounding_words(apart) if isinstance(apart, float) else ""


def has_case(record: dict[str, Any]) -> bool:
    """Return True if a record holds inputs to replay, not a sentence alone."""
    return bool(record["diff"] or record["case"]["actions"])


def label_of(record: dict[str, Any]) -> str:
    """Return `pong@fs8`."""
    variant = record["variant"]
    return f"{record['environment']}@{variant}" if variant else record["environment"]


def _agreeing(contract: Contract, answer: Answer) -> dict[str, Any]:
    if answer.module:
        return {}  # the table of the call shows all of its outputs
    agreeing = elements_that_agree(contract, answer)
    return {path.removeprefix("state."): to_json(value) for path, value in agreeing}


def _is_beyond(contract: Contract, played: np.ndarray) -> bool:
    """Return whether the last action that was played lies outside of the declared range."""
    space = contract.action
    if not isinstance(space, Box) or not len(played):
        return False
    return bool(((played[-1] < space.low) | (played[-1] > space.high)).any())


def _draws(contract: Contract, answer: Any) -> dict[str, Any] | None:
    if answer.raised:
        return None
    if contract.randomness.between and answer.before:
        between = registry.load_object(contract.randomness.between)
        before, *after = (
            {path.removeprefix("state."): value for path, value in named.items()}
            for named in (answer.before, answer.oracle, answer.candidate)
        )
        made = [between(before, state) for state in after]
        return {"before": None, "oracle": made[0], "candidate": made[1]}
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
    """Return the frames before the difference; columns that differ or change come first."""
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


def _where(pair: Pair, module: str) -> dict[str, Any]:
    """Return a suspect's locations: the candidate's `path:line` and the oracle's.

    helpers: further declared places of the candidate, if there are any.
    """
    declared = pair.candidate.sources.get(module, "")
    source = ""
    if any(m.name == module for m in pair.subject.contract.modules):
        source = pair.subject.contract.module(module).source
    helpers = pair.candidate.helpers.get(module, ())
    more = {"source": source} | ({"helpers": list(helpers)} if helpers else {})
    if not declared:
        return {"place": "", "symbol": "", **more}
    path, _, symbol = declared.partition(":")
    line = line_of(path, symbol)
    return {"place": f"{path}:{line}" if line else path, "symbol": symbol, **more}


def encode(record: dict[str, Any]) -> bytes:
    """Return a record's bytes on disk."""
    return (json.dumps(record, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def read(path: Path) -> dict[str, Any]:
    """Read a record; UserError if it is not one."""
    try:
        record = json.loads(path.read_text())
        if record["schema"] != SCHEMA:
            raise UserError(f"{path} has schema {record['schema']}; this twinstep reads {SCHEMA}")
        schema.check(record)
        return record
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{path} is not a twinstep report ({error})") from error
