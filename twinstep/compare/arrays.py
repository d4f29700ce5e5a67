"""Compare two arrays of frames under the gates of the contract."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from twinstep.contract import Contract
from twinstep.gates import (
    Averages,
    Distribution,
    Further,
    Gate,
    Horizon,
    Lockstep,
    Resync,
    Window,
)


def differs(oracle: np.ndarray, candidate: np.ndarray, gate: Lockstep) -> np.ndarray:
    """Return, element by element, where the candidate fails a lockstep gate.

    Exact gates compare bits: -0.0 differs from 0.0, and a NaN equals any NaN at its place.
    The comparison uses the oracle's dtype.
    """
    if gate.exact:
        if candidate.dtype != oracle.dtype:  # a float32 candidate of a float64 reference
            candidate = candidate.astype(oracle.dtype)
        wrong = oracle != candidate
        if oracle.dtype.kind == "f":
            wrong = _bits(oracle) != _bits(candidate)
            wrong &= ~(np.isnan(oracle) & np.isnan(candidate))
        return wrong
    # An infinite oracle would make any relative bound infinite.
    size = np.abs(np.where(np.isfinite(oracle), oracle, 0).astype(np.float64))
    return ~within(oracle, candidate, gate.atol + gate.rtol * size)


def error(oracle: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Return |candidate - oracle| as float64; 0 for equal bits, inf where only one is NaN."""
    truth = oracle.astype(np.float64)
    with np.errstate(invalid="ignore"):
        size = np.abs(candidate.astype(np.float64) - truth)
    same = (oracle == candidate) | (_nan(oracle) & _nan(candidate))
    return np.where(same, 0.0, np.where(np.isnan(size), np.inf, size))


def ulps(oracle: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Return how many values of a float dtype lie from one to the other, as float64.

    The dtype is the coarser of both: a candidate in float32 rounds no finer. It is 0.5 where it
    cannot tell them apart. Zeros of both signs are one value, 0 apart. NaN is 0 from NaN and inf
    from any number.
    """
    dtype = oracle.dtype
    if candidate.dtype.kind == "f" and candidate.dtype.itemsize < dtype.itemsize:
        dtype = candidate.dtype
    signed = np.dtype(f"i{dtype.itemsize}")

    def place(values: np.ndarray) -> np.ndarray:
        # The bits of negative floats grow downwards: mirrored, they are in order.
        bits = np.asarray(values).view(signed)
        return np.where(bits < 0, np.iinfo(signed).min - bits, bits)

    with np.errstate(over="ignore"):
        one, other = place(oracle.astype(dtype)), place(candidate.astype(dtype))
        count = np.abs((other - one).astype(np.float64))
    # Numbers of opposite sign may be farther apart than the integer type reaches.
    far = (one < 0) != (other < 0)
    count = np.where(far, np.abs(one.astype(np.float64)) + np.abs(other.astype(np.float64)), count)
    count = np.where((count == 0) & (oracle != candidate), 0.5, count)
    both, either = _nan(oracle) & _nan(candidate), _nan(oracle) | _nan(candidate)
    return np.where(both, 0.0, np.where(either, np.inf, count))


def within(oracle: np.ndarray, candidate: np.ndarray, bound: np.ndarray | float) -> np.ndarray:
    """Return where the error does not exceed the bound."""
    return error(oracle, candidate) <= bound


def _nan(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.itemsize}")


@dataclass(frozen=True)
class Named:
    """A gate other than lockstep, its frame path, and its name in reports."""

    name: str
    path: str
    gate: Gate | Further


@dataclass(frozen=True)
class Rules:
    """The gates of one candidate by frame path, and of its modules' outputs.

    outputs: (module, output) -> the gate of one call. named: every gate other than lockstep, with
    its name. placed: the gates of one step from placed states. The quantiles of a resync gate apply
    there too; see `broken_shares`.
    """

    gates: dict[str, Gate]
    outputs: dict[tuple[str, str], Lockstep]
    named: tuple[Named, ...]
    placed: dict[str, Gate]

    @classmethod
    def of(cls, contract: Contract, *, candidate: str, dtype: str, platform: str) -> Rules:
        """Look up every compared path and every module's outputs of the contract."""
        of = {"candidate": candidate, "dtype": dtype, "platform": platform}
        paths = contract.compared_paths()
        rules = [(path, contract.rule(path, **of)) for path in paths]
        rules += [(p, rule) for rule in contract.further for p in paths if rule.fits(p, **of)]
        return cls(
            {path: contract.gate(path, **of) for path in paths},
            {
                (module.name, field.name): _once(
                    contract.gate(
                        f"{module.name}.{field.name}", field.name, f"state.{field.name}", **of
                    )
                )
                for module in contract.modules
                for field in module.outputs
            },
            tuple(
                Named(rule.name, path, rule.gate)
                for path, rule in rules
                if not isinstance(rule.gate, Lockstep)
            ),
            {path: contract.gate(f"placed.{path}", path, **of) for path in paths},
        )

    def lockstep(self) -> dict[str, Lockstep]:
        """Paths that must agree over whole episodes."""
        return {p: g for p, g in self.gates.items() if isinstance(g, Lockstep)}

    def from_states(self) -> list[Named]:
        """Gates on one step, and on short windows, from the oracle's state."""
        return [named for named in self.named if isinstance(named.gate, Resync | Window)]

    def distributions(self) -> dict[str, Distribution]:
        """Return the paths that are compared in distribution alone, with their gates."""
        return {p: g for p, g in self.gates.items() if isinstance(g, Distribution)}

    def horizons(self) -> list[Named]:
        """Gates on the number of steps before episodes diverge."""
        return [named for named in self.named if isinstance(named.gate, Horizon)]

    def averages(self) -> list[Named]:
        """Gates on averages over whole episodes."""
        return [named for named in self.named if isinstance(named.gate, Averages)]

    def one_step(self) -> dict[str, Lockstep]:
        """Return the gates of one step from the oracle's state, by path.

        A resync or window gate gives its maximum as tolerance. What is compared in distribution
        has none.
        """
        return _each_once(self.gates)

    def from_placed(self) -> dict[str, Lockstep]:
        """Return the gates of each step from a placed state, by path; see `one_step`."""
        return _each_once(self.placed)

    def narrowed(self, factor: float) -> Rules:
        """Return the same rules with every tolerance of one comparison multiplied by `factor`."""

        def narrow(gate: Any) -> Any:
            if isinstance(gate, Lockstep):
                return dataclasses.replace(gate, atol=gate.atol * factor, rtol=gate.rtol * factor)
            if isinstance(gate, Distribution):
                return gate
            return dataclasses.replace(gate, max=gate.max * factor)

        return dataclasses.replace(
            self,
            gates={path: narrow(gate) for path, gate in self.gates.items()},
            outputs={name: narrow(gate) for name, gate in self.outputs.items()},
        )


def _each_once(gates: dict[str, Gate]) -> dict[str, Lockstep]:
    return {path: _once(gate) for path, gate in gates.items() if not isinstance(gate, Distribution)}


def _once(gate: Gate) -> Lockstep:
    if isinstance(gate, Lockstep):
        return gate
    assert not isinstance(gate, Distribution), "a module's output is compared call by call"
    # A bound of 0 too is one of errors, which tell no zero from the other.
    return Lockstep(atol=gate.max, signed_zeros=False)


def frames_differ(
    oracle: dict[str, np.ndarray], candidate: dict[str, np.ndarray], gates: dict[str, Lockstep]
) -> dict[str, np.ndarray]:
    """Return path -> bool over the leading axes that all paths share (the lanes), if any differ.

    Arrays have the same leading axes `oracle["reward"].shape[:-1]`; the rest is reduced.
    Only paths with a difference are returned.
    """
    leading = oracle["reward"].ndim - 1
    differences = {}
    for path, gate in gates.items():
        wrong = differs(oracle[path], candidate[path], gate)
        if wrong.any():
            differences[path] = wrong.reshape(*wrong.shape[:leading], -1).any(-1)
    return differences


def broken_shares(
    oracle: dict[str, np.ndarray], candidate: dict[str, np.ndarray], gates: dict[str, Gate]
) -> list[str]:
    """Return one line for each quantile of a resync gate that steps from many states break.

    Arrays are as of `frames_differ`. A step's error is its worst element's.
    """
    leading = oracle["reward"].ndim - 1
    lines = []
    for path, gate in gates.items():
        if not isinstance(gate, Resync):
            continue
        size = error(oracle[path], candidate[path])
        worst = size.reshape(*size.shape[:leading], -1).max(-1)
        for threshold, allowed in gate.above:
            share = float((worst > threshold).mean())
            if share > allowed:
                lines.append(
                    f"`{path}`: {share:.3%} of {worst.size} errors from placed states exceed "
                    f"{threshold:g}, allowed {allowed:.3%}"
                )
    return lines


@dataclass(frozen=True)
class Miss:
    """One lane's first divergence: after `step` steps these paths differ."""

    lane: int
    step: int
    paths: tuple[str, ...]


def first_misses(found: dict[str, np.ndarray], valid: np.ndarray, first: int) -> list[Miss]:
    """Return the first divergence of each lane of a window.

    found: path -> bool[W, N]. valid: bool[W, N], frames that exist. first: step of row 0.
    """
    if not found:
        return []
    wrong = np.zeros(valid.shape, bool)
    for rows in found.values():
        wrong |= rows
    wrong &= valid
    misses = []
    for lane in np.flatnonzero(wrong.any(0)):
        row = int(wrong[:, lane].argmax())
        paths = tuple(sorted(path for path, rows in found.items() if rows[row, lane]))
        misses.append(Miss(int(lane), first + row, paths))
    return misses
