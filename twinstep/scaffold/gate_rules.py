"""Gates of rounding's size from one step that both sides take from the same states.

The gates are written active, not as a comment. Where arithmetic differs by rounding, every placed
state differs, every report shows rounding first, and a bug of 0.04 stands behind it. A gate allows
ten times what was measured, one step from the reference's own state, so that nothing adds up. It is
measured only on states where the candidate, computing in float64, is the reference but for
float64's rounding. What differs there by more is a finding: it is printed, and no gate is made
wide enough to let it pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

import numpy as np

from twinstep._lib.json_values import text_of
from twinstep.compare.arrays import differs, error
from twinstep.contract import Contract
from twinstep.diagnosis.case import Answer, elements_that_differ
from twinstep.gates import Lockstep

#: Units of the dtype's rounding, of a value or of the field's median, up to which an error may be
#: rounding: one step of an integrator adds up some.
UNITS = 1000
#: The same for a candidate that computes in float32 whatever its dtype says.
NARROW = 16
#: The factor between what was measured and what a gate allows.
MARGIN = 10
#: Findings that are printed.
SHOWN = 3

#: Frame path -> [N, ...] of N questions.
Frames = dict[str, np.ndarray]


@dataclass(frozen=True)
class Proposal:
    """Gates and findings. rules: lines of the contract. words: the comment above them.

    findings: lines to print on differences larger than rounding, the most frequent first.
    measured: dtype -> frame path -> the largest error of rounding.
    """

    rules: tuple[str, ...]
    words: tuple[str, ...]
    findings: tuple[str, ...]
    measured: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Asked:
    """What both sides were asked: N questions, the last ones resets.

    states: state fields [S, ...] of the first S, each stepped with an action [S, P, ...].
    want: the reference's frames. got: dtype -> the candidate's.
    """

    states: Frames
    actions: np.ndarray
    want: Frames
    got: dict[str, Frames]


def propose(contract: Contract, asked: Asked) -> Proposal:
    """Return the gates that let rounding pass, and what is larger than that."""
    paths = contract.compared_paths()
    beyond = {path: _beyond_rounding(path, asked) for path in paths}
    wrong = np.logical_or.reduce(list(beyond.values()))
    rules: list[str] = []
    measured: dict[str, dict[str, float]] = {}
    for dtype, got in asked.got.items():
        errors, zeros = {}, []
        for path in paths:
            want, have = asked.want[path][~wrong], got[path][~wrong]
            if want.dtype.kind != "f" or not want.size:
                continue
            apart = error(want, have)
            # A step whose comparison flips by rounding is none to measure by.
            errors[path] = float(apart[apart <= _bound(want, dtype, UNITS)].max(initial=0.0))
            if not errors[path] and differs(want, have, Lockstep()).any():
                zeros.append(path)
        measured[dtype] = {path: size for path, size in errors.items() if size}
        units = {path: _unit(asked.want[path][~wrong], dtype) for path in measured[dtype]}
        rules += _rules(dtype, measured[dtype], units, zeros)
    count = len(asked.actions)
    words = (
        "What one step from the same state may differ by. `twinstep init` measured the largest",
        f"error on {count:,} placed states; {MARGIN} times that is allowed, and nothing elsewhere.",
        "It is rounding: without a line, its field must be equal to the last bit.",
    )
    return Proposal(tuple(rules), words, _findings(contract, asked, beyond, wrong), measured)


def gates_line(proposal: Proposal) -> str:
    """Return the line that says which gates are active."""
    sizes = "; ".join(
        f"{dtype}: {max(errors.values()):.1e} at most"
        for dtype, errors in proposal.measured.items()
        if errors
    )
    if not sizes:
        return "Zeros of both signs are one value where both sides gave each: GATES in contract.py."
    return (
        f"One step from the same state differs by rounding ({sizes}): contract.py has GATES that "
        f"allow {MARGIN} times what was measured of each field."
    )


def _rules(
    dtype: str, measured: dict[str, float], units: dict[str, float], zeros: list[str]
) -> list[str]:
    lines = []
    for path, size in measured.items():
        most = max(MARGIN * _up(size), _up(units[path]))
        rule = f'GateRule(Resync({most:.0e}), fields="{path}", dtype="{dtype}"),'
        lines.append(f"{rule}  # measured: {size:.2g}")
    if measured:
        # Episodes part by rounding: all else is equal one step from the reference's state.
        return [*lines, f'GateRule(Resync(0.0), dtype="{dtype}"),']
    return [
        f'GateRule(Lockstep(signed_zeros=False), fields="{path}", dtype="{dtype}"),'
        for path in zeros
    ]


def _unit(want: np.ndarray, dtype: str) -> float:
    """Return the rounding of a field's largest value, which few of the states may show."""
    unit = max(float(np.finfo(np.dtype(name)).eps) for name in (want.dtype, dtype))
    return unit * float(np.abs(want[np.isfinite(want)]).max(initial=0.0))


def _up(size: float) -> float:
    """Return the number rounded up to one significant digit."""
    return float(Context(1, ROUND_CEILING).create_decimal(repr(size)))


def _beyond_rounding(path: str, asked: Asked) -> np.ndarray:
    """Return bool[N]: where the path differs by more than rounding, in float64."""
    want, got = asked.want[path], asked.got["float64"][path]
    if want.dtype.kind != "f":
        return _any(differs(want, got, Lockstep()))
    apart = error(want, got)
    wrong = apart > _bound(want, "float64", UNITS)
    if wrong.any() and (apart <= _bound(want, "float32", NARROW)).all():
        narrow = np.median(error(want, asked.got.get("float32", asked.got["float64"])[path])[wrong])
        if np.median(apart[wrong]) > 0.1 * narrow:
            return np.zeros(len(want), bool)
    return _any(wrong)


def _bound(want: np.ndarray, dtype: str, units: int) -> np.ndarray:
    """Return the error that rounding may reach, for each value [N, ...]."""
    unit = max(np.finfo(np.dtype(name)).eps for name in (want.dtype, dtype))
    size = np.abs(np.where(np.isfinite(want), want, 0).astype(np.float64))
    return units * unit * np.maximum(size, np.median(size, 0, keepdims=True))


def _any(wrong: np.ndarray) -> np.ndarray:
    return np.asarray(wrong.reshape(len(wrong), -1).any(1))


def _findings(
    contract: Contract, asked: Asked, beyond: dict[str, np.ndarray], wrong: np.ndarray
) -> tuple[str, ...]:
    """Return a line for each set of paths that differ together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in np.flatnonzero(wrong):
        paths = tuple(path for path, rows in beyond.items() if rows[row])
        groups.setdefault(paths, []).append(int(row))
    sizes = Counter({paths: len(rows) for paths, rows in groups.items()}).most_common(SHOWN)
    return tuple(_finding(contract, asked, paths, groups[paths]) for paths, _ in sizes)


def _finding(contract: Contract, asked: Asked, paths: tuple[str, ...], rows: list[int]) -> str:
    row, steps = rows[0], len(asked.actions)
    truth, got = ({p: v[row] for p, v in f.items()} for f in (asked.want, asked.got["float64"]))
    rules = dict.fromkeys(paths, Lockstep())
    answer = Answer(1, paths, {}, truth, got, {}, np.zeros(0), compared=rules)
    elements = [
        (name, want, have)
        for name, _, want, have, _, _ in elements_that_differ(contract, answer)
        if want.dtype.kind != "f" or error(want, have) > _bound(want[None], "float64", UNITS)[0]
    ]
    values = ", ".join(
        f"`{name}` is {text_of(have)}, oracle {text_of(want)}" for name, want, have in elements[:3]
    )
    more = f" and {len(elements) - 3} more" if len(elements) > 3 else ""
    if row >= steps:
        return f"Larger than rounding: {values}{more}, at reset."
    state = " ".join(f"{name}={text_of(values[row])}" for name, values in asked.states.items())
    return (
        f"Larger than rounding: {values}{more}, one step from {state}, action "
        f"{text_of(asked.actions[row])} ({len(rows):,} of {steps:,} placed states differ so)."
    )
