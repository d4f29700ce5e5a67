"""Check committed benchmark results against new ones: the claimed ratios must hold here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twinstep.errors import UserError

Result = Mapping[str, Any]


def read(path: Path, schema: int) -> Result:
    """Return a committed result. Raises UserError if it is missing or unreadable."""
    mend = "measure once without --verify-claims, or name its folder with --out"
    try:
        result = json.loads(path.read_text())
    except OSError:
        raise UserError(f"there is no {path}: {mend}") from None
    except ValueError:
        result = None
    parts = {"schema", "request", "cells"}
    if not isinstance(result, dict) or not parts <= result.keys() or result["schema"] != schema:
        raise UserError(f"{path} is no result of this version of twinstep bench: {mend}")
    try:
        _require_whole(result)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UserError(f"{path} is not as twinstep bench writes it ({error!r}): {mend}") from error
    return result


def _require_whole(found: Result) -> None:
    """Raise any exception that a comparison with this result would raise."""
    then, counts = found["request"], ("batches", "threads", "backends", "policies")
    sizes = {name: list(then[name]) for name in counts}
    least = [*sizes["batches"], *sizes["threads"], then["rounds"]]
    if type(then["env"]) is not str or not then["variants"] or min(least) < 1 or then["steps"] < 0:
        raise ValueError("what was asked for is no measurement")
    compare(found, found, 0.0)


def request_of(committed: Result) -> Mapping[str, Any]:
    """Return the earlier measurement as data."""
    return committed["request"]


def compare(committed: Result, now: Result, slack: float) -> tuple[list[str], list[str]]:
    """Return a line for every claim and for the differences that matter, and the failed claims.

    A ratio must reach the committed spread, widened by `slack` (0.25: a quarter) at its lower end:
    it claims that a backend is at least so fast. A share of time must lie within its spread,
    widened at both ends. A checksum over the same work must be the same. On another processor, or
    with other instruction sets, numbers do not carry over: there a claim to be faster than the
    reference must still be true, and the lines say which numbers are others.
    """
    lines, failed, others = [], [], 0
    before, here = committed["machine"], now["machine"]
    same_machine = (before["cpu"], before["isa"]) == (here["cpu"], here["isa"])

    def judge(check: Callable[..., tuple[bool, str]], then: Any, new: Any, what: str) -> None:
        nonlocal others
        holds, text = check(then, new, slack)
        if not holds and not same_machine and _is_kept(check, then, new):
            holds, others = True, others + 1
            text += ", claimed on another machine"
        say(holds, f"{what}: {text}")

    def say(holds: bool, text: str) -> None:
        line = f"{'holds' if holds else 'FAILS'}  {text}"
        lines.append(line)
        if not holds:
            failed.append(line)

    then = {_key(cell): cell for cell in committed["cells"]}
    for cell in now["cells"]:
        if (old := then.get(_key(cell))) is None:
            say(False, f"{_label(cell)}: not in the committed result")
            continue
        if (old["steps"], old["rounds"]) == (cell["steps"], cell["rounds"]):
            one, other = cell.get("checksum"), old.get("checksum")
            if one or other:  # neither physics nor training writes what can be compared
                say(one == other, f"{_label(cell)}: checksum {one}, committed {other}")
        claims = {r["name"]: r for r in old["results"]}
        for result in cell["results"]:
            if not result["backend"]:
                continue
            claim = claims.get(result["name"])
            if claim is None:
                say(False, f"{_label(cell)}, {result['name']}: not in the committed result")
                continue
            for against in ("best", "plain"):
                what = f"{_label(cell)}, {result['name']} to the {against} reference"
                judge(_reaches, claim["ratio"][against], result["ratio"][against], what)
    shares = {_key(cell): cell for cell in committed["policies"]}
    for cell in now["policies"]:
        if (old := shares.get(_key(cell))) is None:
            say(False, f"{_label(cell)}: not in the committed result")
            continue
        what = f"{_label(cell)}, the environment's share of time"
        judge(_within, old["environment_share"], cell["environment_share"], what)
    total = len(lines)
    wide = f"the committed spread, widened by {slack:.0%}"
    kept = f"; {others} of them with other numbers, on another machine" if others else ""
    lines.append(
        f"{total - len(failed)} of {total} claims hold within {wide}, or are exceeded{kept}"
    )
    if before["cpu"] != here["cpu"]:
        lines.append(f"measured here on {here['cpu']}, claimed on another processor: "
                     f"{before['cpu']}")  # fmt: skip
    elif before["isa"] != here["isa"]:
        lines.append(f"claimed on {before['cpu']} with other instruction sets than here")
    changed = [name for name, its in now["sources"].items() if committed["sources"][name] != its]
    if changed:
        lines.append(f"the files of {', '.join(changed)} have changed since it was claimed")
    return lines, failed


def _is_kept(check: Callable[..., tuple[bool, str]], then: Any, now: Any) -> bool:
    """Return whether what is left of a claim on another machine is true.

    A ratio above 1 claims to be faster than the reference. A share of time claims nothing there.
    """
    return check is not _reaches or then["min"] <= 1 or now["median"] > 1


def _reaches(then: Mapping[str, float], now: Mapping[str, float], slack: float) -> tuple[bool, str]:
    low, high = _widened(then, slack)
    text = _beside(then, now)
    if now["median"] < low:
        return False, f"{text}; below {low:.3g}"
    return True, f"{text}; above {high:.3g}" if now["median"] > high else text


def _within(then: Mapping[str, float], now: Mapping[str, float], slack: float) -> tuple[bool, str]:
    low, high = _widened(then, slack)
    text = _beside(then, now)
    if low <= now["median"] <= high:
        return True, text
    return False, f"{text}; outside {low:.3g} to {high:.3g}"


def _widened(spread: Mapping[str, float], slack: float) -> tuple[float, float]:
    return spread["min"] / (1 + slack), spread["max"] * (1 + slack)


def _beside(then: Mapping[str, float], now: Mapping[str, float]) -> str:
    spread = f"({then['min']:.3g} to {then['max']:.3g})"
    return f"{now['median']:.3g} here, {then['median']:.3g} claimed {spread}"


def _key(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("variant", "threads", "lanes", "backend", "policy")
    return (cell.get("work", "environment"), *(cell.get(name) for name in names))


def _label(cell: Mapping[str, Any]) -> str:
    threads = f"{cell['threads']} thread{'s' if cell['threads'] > 1 else ''}"
    work = cell.get("work", "environment")
    begin = [work] if work != "environment" else []
    begin += [cell["variant"], *(cell[n] for n in ("backend", "policy") if n in cell)]
    return ", ".join([*filter(None, begin), threads, f"{cell['lanes']} lanes"])
