"""Tell rounding from bugs: the largest difference of each field, and rules that let rounding pass.

An episode's first difference is often one of rounding. What is wrong with a port comes later in
it, or in others: rules with a tolerance of rounding's size find it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from twinstep.compare.arrays import Rules, differs, error, ulps
from twinstep.compare.lockstep import recorded_rows, replayed
from twinstep.contract import Contract
from twinstep.gates import Lockstep
from twinstep.reference.trace_set import TraceSet
from twinstep.runner.runner import Runner

#: Ulps from which an error is not told as rounding.
ROUNDING = 1000
#: The share of a field's largest value that rounding may reach within an episode, by dtype.
SHARES = {"float32": 1e-4, "float64": 1e-9}


@dataclass
class Largest:
    """One field's differences from the reference over whole episodes, never corrected.

    steps: frames that differ, of `compared`. error, ulps: the largest; ulps are inf where it holds
    no floats. episode, step: where the largest error is.
    first: (episode, step) of the first difference.
    """

    path: str
    steps: int
    compared: int
    error: float
    ulps: float
    episode: int
    step: int
    first: tuple[int, int]


def rounding_words(apart: float) -> str:
    """Return a difference of so many ulps in words, "" if they are too many for rounding."""
    if apart >= ROUNDING:
        return ""
    if 0 < apart < 1:
        return "less than 1 ulp"
    return f"{apart:.0f} ulp" if apart else "zeros of other sign"


def is_rounding(contract: Contract, paths: Iterable[str]) -> bool:
    """Return whether all of these frame paths hold floats: only these can differ by rounding."""
    layout = contract.layout()
    return all(layout[path][0].kind == "f" for path in paths)


def tolerances(contract: Contract, traces: TraceSet, dtype: str) -> dict[str, tuple[float, float]]:
    """Return frame path -> (atol, rtol) beyond which a difference is more than rounding.

    dtype: the candidate's. Every float field that is compared has them; atol is a share of the
    largest finite value that the recorded episodes show.
    """
    layout = contract.layout()
    paths = [path for path in contract.compared_paths() if layout[path][0].kind == "f"]
    largest = dict.fromkeys(paths, 0.0)
    for chunk in traces.chunks():
        for number in range(chunk.windows):
            for path, values in chunk.window(number, paths).items():
                finite = np.where(np.isfinite(values), np.abs(values), 0)
                largest[path] = max(largest[path], float(finite.max(initial=0.0)))
    found = {}
    for path, most in largest.items():
        share = max(SHARES.get(str(layout[path][0]), 1e-9), SHARES.get(dtype, 1e-9))
        found[path] = (share * most, share)
    return found


def relaxed(rules: Rules, allowed: dict[str, tuple[float, float]]) -> Rules:
    """Return the rules with at least these tolerances (atol, rtol) where lockstep compares."""
    gates = dict(rules.gates)
    for path, (atol, rtol) in allowed.items():
        gate = gates.get(path)
        if isinstance(gate, Lockstep):
            gates[path] = _widened(gate, atol, rtol)
    return dataclasses.replace(rules, gates=gates)


def _widened(gate: Lockstep, atol: float, rtol: float) -> Lockstep:
    return Lockstep(max(gate.atol, atol), max(gate.rtol, rtol))


def tolerant(rules: Rules, contract: Contract, atol: float, rtol: float) -> Rules:
    """Return the rules with at least this tolerance wherever floats are compared."""
    floats = {path: (atol, rtol) for path in rules.gates if is_rounding(contract, [path])}
    placed = relaxed(dataclasses.replace(rules, gates=rules.placed), floats).gates
    outputs = {
        (module.name, output.name): _widened(rules.outputs[module.name, output.name], atol, rtol)
        for module in contract.modules
        for output in module.outputs
        if np.dtype(output.dtype).kind == "f"
    }
    wide = relaxed(rules, floats)
    return dataclasses.replace(wide, outputs=rules.outputs | outputs, placed=placed)


def largest_differences(runner: Runner, traces: TraceSet, rules: Rules) -> list[Largest]:
    """Return the largest difference of each field that lockstep compares, in frame order.

    Fields of which a recording holds only digests, as of pictures, are left out.
    """
    found: dict[str, Largest] = {}
    before = frames = 0
    for chunk in traces.chunks():
        paths = [path for path in rules.lockstep() if not chunk.has_digest(path)]
        for number, first, valid, got in replayed(runner, chunk):
            window, rows = recorded_rows(number)
            for path, want in chunk.new_rows(window, paths).items():
                _note(found, path, want[rows], got[path], valid, before, first)
        before += chunk.lanes
        frames += int(chunk.lengths.sum()) + chunk.lanes
    for each in found.values():
        each.compared = frames
    return [found[path] for path in rules.lockstep() if path in found]


def _note(
    found: dict[str, Largest],
    path: str,
    want: np.ndarray,
    got: np.ndarray,
    valid: np.ndarray,
    before: int,
    first: int,
) -> None:
    """Add one part's differences of a field; want, got: [T, N, ...], valid: bool[T, N]."""

    def worst(values: np.ndarray) -> np.ndarray:
        return np.where(valid, values.reshape(*valid.shape, -1).max(-1), -1.0)

    wrong = worst(differs(want, got, Lockstep()).astype(np.float64)) > 0
    if not wrong.any():
        return
    size = worst(error(want, got))
    apart = worst(ulps(want, got)) if want.dtype.kind == "f" else np.full(valid.shape, np.inf)
    begin, who = (int(place) for place in np.argwhere(wrong)[0])
    held = found.setdefault(
        path, Largest(path, 0, 0, -1.0, 0.0, 0, 0, (before + who, first + begin))
    )
    held.steps += int(wrong.sum())
    held.ulps = max(held.ulps, float(apart.max()))
    size = np.where(wrong, size, -1.0)
    row, lane = (int(place) for place in np.unravel_index(int(size.argmax()), size.shape))
    if size[row, lane] > held.error:
        held.error, held.episode, held.step = float(size[row, lane]), before + lane, first + row
