"""Formatting of the evidence: tables, numbers of three digits, origins of results."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from twinstep._lib import markdown

#: Keys of a machine with a text of their own; other keys are shown by name: `gpu ...`.
_TOLD = ("cpu", "architecture", "cores_used", "cores_online", "isa", "os", "libc")
_UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "K"))
NOT_MEASURED = "not measured"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is its head, a `|` in a cell is escaped."""
    return "\n".join(markdown.table([map(_cell, row) for row in rows], " --- "))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def digits(value: float) -> str:
    """Return three digits, without an exponent where that is readable."""
    if not math.isfinite(value):
        return "unknown"
    if value and not 1e-3 <= abs(value) < 1e15:
        return f"{value:.2e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rate(value: float) -> str:
    """Return a number of steps per second (SPS) in three digits: `42.6M`."""
    for unit, letter in _UNITS:
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return digits(value)


def spread(values: Mapping[str, float], mark: str = "", unit: float = 1.0) -> str:
    """Return a median with the least and the greatest: `3.89 (2.61 to 4.95)`."""
    median, low, high = (digits(values[name] * unit) for name in ("median", "min", "max"))
    return f"{median}{mark} ({low} to {high})"


def share(values: Mapping[str, float]) -> str:
    """Return a share with its spread, in percent."""
    return spread(values, " %", 100)


def rates(values: Mapping[str, float]) -> str:
    """Return steps per second with their spread."""
    median, low, high = (rate(values[name]) for name in ("median", "min", "max"))
    return f"{median} ({low} to {high})"


def made_on(found: Mapping[str, Any], command: str = "") -> str:
    """Return one line: command, machine, versions, date, each as the result holds it.

    command: an equivalent command, named if the result has none.
    """
    again = f"command not recorded, `{command}` measures the same"
    return "; ".join(
        [
            f"`{found['command']}`" if found.get("command") else again,
            _machine(found.get("machine")),
            ", ".join(f"{name} {text}" for name, text in _versions(found).items())
            or "versions not recorded",
            str(found.get("date") or "date not recorded"),
        ]
    )


def _versions(found: Mapping[str, Any]) -> Mapping[str, Any]:
    own = {"twinstep": found["twinstep"]} if "twinstep" in found else {}
    return own | dict(found.get("versions") or {})


def _machine(found: Mapping[str, Any] | None) -> str:
    if not found:
        return "machine not recorded"
    more = [f"{name} {_plain(value)}" for name, value in found.items() if name not in _TOLD]
    cores = f"{found['cores_used']} of {found['cores_online']} cores"
    isa = hashlib.sha256(" ".join(found.get("isa") or []).encode()).hexdigest()[:4]
    kind = f"{found['cpu']} ({found['architecture']}, instruction sets {isa})"
    return ", ".join([kind, cores, *more, found["os"]])


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def joined(variant: str, *more: str) -> str:
    """Join the non-empty parts of a name."""
    return ", ".join(part for part in (variant, *more) if part)
