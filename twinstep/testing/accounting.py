"""What one pair's tests add up to: counts, what was compared, and the verdict's word."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from twinstep.environment import Environment
from twinstep.gates import Lockstep, Resync, Window
from twinstep.project.imported import loaded_hash
from twinstep.project.registry import Pair
from twinstep.project.verdicts import bridge_hash, jax_settings, sources_hash
from twinstep.reference.ranges_seen import Ranges, widen
from twinstep.testing.lab import Lab
from twinstep.testing.settings import RunSettings

#: Gates as a verdict has them that let no number differ.
_EXACT = {repr(gate) for gate in (Lockstep(), Lockstep(signed_zeros=False), Resync(0.0))}
#: The kinds of gates that bound a number's error in a step.
_OF_NUMBERS = tuple(f"{kind.__name__}(" for kind in (Lockstep, Resync, Window))
#: Fewer compared steps, of all drivers, are too few to be called equal without the number.
THIN = 1000
#: A level 3 with fewer episodes a driver is no full verdict.
FULL = RunSettings.episodes


def notes_of(lab: Lab) -> dict[str, Any]:
    """Return what the verdict says of a test's pair, as plain data."""
    harness, made = lab.reference.harness, lab.built
    if not lab.facts:
        lab.facts = facts_of(lab.pair, harness.settings.seeds, bool(harness.imported))
    known = dict(lab.facts)
    if harness.settings.tolerance:
        known["tolerance"] = "{:g} + {:g} * |oracle|".format(*harness.settings.tolerance)
    if made:
        gates = {path: repr(gate) for path, gate in lab.rules.gates.items()}
        for named in lab.rules.named:
            gates[f"{named.name} {named.path}".strip()] = repr(named.gate)
        known |= {"dtype": made.dtype, "platform": made.platform}
        known |= {"gates": gates, "owed": _owed(lab), "settings": _settings(lab)}
    lines = [*lab.notes.get("lines", []), *lab.reference.crashes]
    return {**known, "level": lab.level, **lab.notes, "lines": lines}


def facts_of(pair: Pair, seeds: str, imported: bool) -> dict[str, Any]:
    """Return what is known of a pair before its candidate is built."""
    subject = pair.subject
    return {
        "pair": pair.label,
        "environment": subject.env.name,
        "variant": subject.variant.name,
        "candidate": pair.candidate.name,
        "contract": subject.contract.version,
        "contract_digest": subject.contract.digest(),
        "params": {k: subject.contract.params[k] for k in sorted(subject.contract.params)},
        "oracle": subject.env.oracle.title,
        "pins": dict(subject.probe.pins),
        "dtype": "",
        "platform": "",
        "settings": {},
        "gates": {},
        "owed": [],
        "truncates": subject.contract.truncates,
        "placed_starts": bool(subject.contract.starts),
        "starts": "",
        "unvaried": unvaried(subject.env),
        "asks_illegal": subject.contract.masked and not subject.contract.illegal,
        "sources": sources_hash(pair.candidate),
        "loaded": loaded_hash(pair.candidate),
        "bridge": bridge_hash(subject),
        "seeds": seeds,
        "imported": imported,
    }


def _settings(lab: Lab) -> dict[str, str]:
    """Return JAX's unusual settings in which a candidate of JAX ran; its own process has none."""
    module = sys.modules.get("twinstep.jax_candidate")
    is_jax = module is not None and isinstance(lab.runner.candidate, module.JaxCandidate)
    given = jax_settings() if is_jax else {}
    wide = lab.runner.dtype == "float64"  # it computes so whatever the setting
    return {name: v for name, v in given.items() if not (wide and name == "jax_enable_x64")}


def unvaried(env: Environment) -> list[str]:
    """Return the parameters that have one value in all declared variants."""
    chosen = [env.params(variant.params) for variant in env.variants]
    names = [parameter.name for parameter in env.parameters]
    return [name for name in names if all(each[name] == chosen[0][name] for each in chosen)]


def _owed(lab: Lab) -> list[str]:
    """Return the level 3 comparisons without which a candidate is not verified."""
    rules = lab.rules
    kinds = ["lockstep"] if rules.lockstep() else []
    kinds += ["resync"] if rules.from_states() else []
    kinds += ["horizon"] if rules.horizons() else []
    kinds += ["averages"] if rules.averages() else []
    kinds += ["distribution"] if rules.distributions() else []
    return sorted(f"{kind} {driver}" for kind in kinds for driver in lab.contract.drivers)


def new_pair(notes: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a pair of which nothing is counted yet."""
    left_out = ("pair", "level", "coverage", "numbers", "lines", "idle", "ranges", "searched")
    kept = {name: value for name, value in notes.items() if name not in left_out}
    lists = {name: [] for name in ("compared", "differs", "auto_reset", "batches", "lines", "seen")}
    counts = {"levels": {}, "drivers": {}, "numbers": {}, "not_run": 0}
    return kept | lists | counts | {"idle": None, "ranges": {}}


def count(pair: dict[str, Any], notes: dict[str, Any], outcome: str) -> None:
    """Add a test. outcome: passed, failed, errors, skipped or expected_failures."""
    for name in ("dtype", "platform", "settings", "gates", "owed"):
        pair[name] = pair[name] or notes[name]
    count_outcome(pair, f"level{notes['level']}", outcome)
    if outcome in ("passed", "failed"):
        pair["starts"] = notes["starts"] or pair["starts"]
        pair["seen"] = sorted({*pair["seen"], *notes.get("seen", [])})
    coverage = notes.get("coverage")
    if coverage and notes.get("compared"):
        seen = {name: value for name, value in coverage.items() if name not in ("driver", "key")}
        known = pair["drivers"].setdefault(coverage["driver"], seen)
        _add_idle(pair, notes.get("idle"))
        _reach(pair, notes.get("ranges", {}))
        if seen["episodes"] > known["episodes"]:  # the long proof beside the usual one
            pair["drivers"][coverage["driver"]] = seen
    if outcome == "passed":
        _reach(pair, notes.get("searched", {}))
        for name in ("compared", "auto_reset", "batches", "lines"):
            pair[name] = sorted({*pair[name], *notes.get(name, [])})
    elif outcome == "failed":
        pair["differs"] = sorted({*pair["differs"], *notes.get("compared", [])})
        pair["lines"] = sorted({*pair["lines"], *notes.get("lines", [])})
    pair["numbers"].update(notes.get("numbers", {}))


def _reach(pair: dict[str, Any], ranges: Ranges) -> None:
    """Widen the state's ranges that were compared."""
    for name, ends in ranges.items():
        widen(pair["ranges"], name, np.array(ends))


def _add_idle(pair: dict[str, Any], idle: dict[str, list[int]] | None) -> None:
    """Note a driver's idle actions: those of all drivers together are in every driver's lists."""
    known = pair["idle"]
    if idle is None or known is None:
        pair["idle"] = known or idle
        return
    legal = set(known["legal"]) & set(idle["legal"])
    taken = set.intersection(*({*each["legal"], *each["taken"]} for each in (known, idle)))
    pair["idle"] = {"legal": sorted(legal), "taken": sorted(taken - legal)}


def count_outcome(pair: dict[str, Any], level: str, outcome: str) -> None:
    """Add an outcome to the counts of a level: `level1`, or `lost` where it is not known."""
    names = ("passed", "failed", "errors", "skipped", "expected_failures")
    held = pair["levels"].setdefault(level, dict.fromkeys(names, 0))
    held[outcome] = held.get(outcome, 0) + 1  # another plugin may have outcomes of its own


def finished(pair: dict[str, Any], complete: bool) -> dict[str, Any]:
    """Return a pair's entry as it stands in verdict.json. complete: whether the run ended."""
    numbers = {name: _plain(number) for name, number in sorted(pair["numbers"].items())}
    made = {
        **pair,
        "levels": dict(sorted(pair["levels"].items())),
        "drivers": dict(sorted(pair["drivers"].items())),
        "numbers": numbers,
        "missing": _missing(pair, complete),
        "never_seen": _never_seen(pair),
        "starts": pair["starts"] or (_PLACED if pair["placed_starts"] and pair["compared"] else ""),
    }
    del made["idle"]
    return made | {"never_taken": _never_taken(pair), "verdict": _verdict_word(made)}


_PLACED = "starts are placed; the port's own are not compared"


def _missing(pair: dict[str, Any], complete: bool) -> list[str]:
    """Say what a full verdict would need beside what was done."""
    found = sorted(set(pair["owed"]) - set(pair["compared"]) - set(pair["differs"]))
    small = [n for n, seen in sorted(pair["drivers"].items()) if seen["episodes"] < FULL]
    found += [f"{FULL} episodes of {name}" for name in small]
    if count := pair["not_run"]:
        found.append(f"{count} test{'s' * (count > 1)} that did not run")
    return found if complete else [*found, "the run did not end"]


def _never_seen(pair: dict[str, Any]) -> list[str]:
    """Say what the contract declares and no recorded episode shows, of what was compared."""
    seen = pair["drivers"].values()
    if not pair["compared"] or not seen:
        return []
    found = []
    shown = any(each["truncated"] for each in seen) or "truncated" in pair["seen"]
    if pair["truncates"] and not shown:
        found.append(
            "a truncation, which the contract declares: a driver that lives so long is missing"
        )
    if pair["asks_illegal"] and not any(each["illegal"] for each in seen):
        found.append(
            "an illegal action: add the driver `careless`, or say in the contract's `illegal` "
            "how the reference answers one"
        )
    if names := pair["unvaried"]:
        found.append(f"another value of {', '.join(names)}: no declared variant has one")
    return found


def _never_taken(pair: dict[str, Any]) -> list[str]:
    """Say which actions no recorded episode takes, and which it could not take."""
    idle = pair["idle"] or {"legal": [], "taken": []}
    words = {"taken": "actions never taken", "legal": "actions never legal"}
    return [f"{words[kind]}: {_some(idle[kind])}" for kind in words if idle[kind]]


def _some(numbers: list[int], most: int = 12) -> str:
    """Return a few numbers, and how many there are if these are not all."""
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown}, ... ({len(numbers)} of them)" if len(numbers) > most else shown


def _verdict_word(pair: dict[str, Any]) -> str:
    """Return the verdict in a few words. Never `equal` beside a failure."""
    levels = pair["levels"].values()
    if any(level["failed"] for level in levels):
        return "differs"
    if any(level["errors"] for level in levels):
        return "error"
    if any(level["expected_failures"] for level in levels):
        return "differs as expected"
    steps = sum(seen["steps"] for seen in pair["drivers"].values())
    if not pair["compared"] or not steps:
        played = pair["levels"].get("level4", {}).get("passed")
        return "not verified step by step; policies score alike" if played else "not verified"
    if pair.get("tolerance"):
        return f"not verified; within {pair['tolerance']}"
    kinds = {what.partition(" ")[0] for what in pair["compared"]}
    drawn = "distribution" in kinds
    only = drawn and not kinds & {"lockstep", "resync"}
    word = "equal but for rounding" if allows_rounding(pair["gates"]) else "equal"
    word = "alike in distribution" if only else word
    if pair["missing"]:
        word += " in part"
    elif steps < THIN and not only:
        word += f" in what was played: {steps} step{'s' * (steps != 1)}"
    word += ", the rest alike in distribution" if drawn and not only else ""
    return f"{word} (imported traces)" if pair["imported"] else word


def allows_rounding(gates: Mapping[str, str]) -> list[str]:
    """Return the gates of a verdict, name -> text, that let a number differ; one of each kind.

    Zeros of both signs are one number.
    """
    return sorted({g for g in gates.values() if g.startswith(_OF_NUMBERS) and g not in _EXACT})


def _plain(number: float) -> float | str:
    """JSON has no infinity and no NaN; a candidate's error may be one."""
    return number if np.isfinite(number) else str(number)
