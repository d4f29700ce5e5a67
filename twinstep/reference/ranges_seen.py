"""Find which part of the state's declared ranges recorded episodes reach."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twinstep.contract import Contract, Field
from twinstep.inputs.batching import WINDOW
from twinstep.reference.trace_file import ChunkFile
from twinstep.reference.trace_set import TraceSet

#: The share of a declared range that counts as the whole, where its ends are met by chance alone.
WHOLE = 0.9
#: A range of so many whole numbers must be reached at both ends.
_SHORT = 256

#: field name -> [its least value, its largest]
Ranges = dict[str, list[float]]


def widen(found: Ranges, name: str, values: np.ndarray) -> None:
    """Widen a field's range by values. NaN and infinity are none."""
    values = values.astype(np.float64)
    values = values[np.isfinite(values)]
    if values.size:
        low, high = found.get(name, [np.inf, -np.inf])
        found[name] = [min(low, float(values.min())), max(high, float(values.max()))]


def ranged(contract: Contract) -> list[Field]:
    """Return the fields of a frame's state that declare their range, but no RAM and no pixels."""
    return [
        field
        for field in contract.shown
        if field.low is not None and field.high is not None and not field.large
    ]


def ranges_seen(contract: Contract, traces: TraceSet) -> tuple[Ranges, list[float]]:
    """Return the least and the largest value of each ranged field, and the episodes' lengths.

    Lengths are the least, the median and the largest number of steps.
    """
    found: Ranges = {}
    lengths: list[np.ndarray] = []
    for chunk in traces.chunks():
        lengths.append(chunk.lengths)
        for field, steps, values in _rows(chunk, ranged(contract)):
            widen(found, field.name, values[steps <= chunk.lengths])
    every = np.concatenate(lengths)
    return found, [int(every.min()), float(np.median(every)), int(every.max())]


def values_seen(contract: Contract, traces: TraceSet) -> dict[str, np.ndarray]:
    """Return the values that fields of few whole numbers have where a recorded step begins.

    The last states of episodes that ended are none of them: no step begins there.
    """
    fields = [field for field in ranged(contract) if _is_short(field)]
    found: dict[str, np.ndarray] = {}
    for chunk in traces.chunks():
        for field, steps, values in _rows(chunk, fields):
            begun = np.unique(values[steps < chunk.lengths])
            found[field.name] = np.union1d(found.get(field.name, begun), begun)
    return found


def _rows(chunk: ChunkFile, fields: list[Field]) -> Iterator[tuple[Field, np.ndarray, np.ndarray]]:
    """Yield each field's values [W, N, ...] window by window, with their steps i64[W, 1]."""
    for number in range(chunk.windows):
        frames = chunk.window(number, [f"state.{field.name}" for field in fields])
        for field in fields:
            values = frames[f"state.{field.name}"]
            yield field, number * WINDOW + np.arange(len(values))[:, None], values


def left_out(contract: Contract, seen: Ranges) -> list[str]:
    """Return a phrase for each field of whose declared range episodes left out a part.

    A range of few whole numbers counts by both its ends, any other by its width.
    """
    found = []
    for name, (least, most) in seen.items():
        field = contract.state_field(name)
        low, high = float(field.low or 0), float(field.high or 0)
        if _is_short(field):
            short = least > low or most < high
        else:
            short = most - least < WHOLE * _width(field)
        if short:
            reached = f"{least:g} to {most:g}" if least != most else f"{least:g} alone"
            found.append(f"{name} {reached} (of {low:g} to {high:g})")
    return found


def _width(field: Field) -> float:
    return float(field.high or 0) - float(field.low or 0)


def _is_short(field: Field) -> bool:
    return (np.dtype(field.dtype).kind != "f" or field.step == 1) and _width(field) < _SHORT
