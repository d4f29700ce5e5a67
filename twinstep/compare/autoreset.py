"""Compare the steps of `twinstep.make` under auto-reset with the reference, over several episodes.

The oracle is recorded under same-step auto-reset, episode after episode in each lane. The
expected steps of next-step auto-reset follow from that recording: one more step after each end,
in which the lane waits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinstep._lib.json_values import text_of
from twinstep.compare import reset_clues
from twinstep.compare.arrays import differs
from twinstep.compare.reset_clues import ExpectedSteps
from twinstep.contract import Contract
from twinstep.env.timestep import TimeStep
from twinstep.gates import Lockstep

HEADS = ("obs", "reward", "terminated", "truncated", "acting", "legal")


def expected_of(
    contract: Contract, frames: dict[str, np.ndarray], actions: np.ndarray
) -> ExpectedSteps:
    """Return the expected steps of same-step auto-reset from recorded frames [T + 1, N, ...]."""
    heads = {name: frames[name][1:] for name in (*HEADS, "final_obs") if name in frames}
    valid = np.ones(actions.shape[:2], bool)
    return ExpectedSteps(actions, _squeezed(contract, heads), valid)


def first_episodes(expected: ExpectedSteps) -> ExpectedSteps:
    """Return the expected steps without auto-reset: each lane up to its first episode's end."""
    ended = expected.heads["terminated"] | expected.heads["truncated"]
    before = np.cumsum(ended, 0) - ended
    whole = without_resets(expected)
    return whole._replace(valid=whole.valid & (before == 0))


def without_resets(expected: ExpectedSteps) -> ExpectedSteps:
    """Return the expected steps if no lane is reset after them."""
    heads = expected.heads | {"obs": expected.heads["final_obs"]}
    return expected._replace(heads=heads, over=True)


def each_step(expected: ExpectedSteps) -> ExpectedSteps:
    """Return the steps [T, N] as one step of T * N lanes."""

    def beside(values: np.ndarray) -> np.ndarray:
        return values.reshape(1, -1, *values.shape[2:])

    heads = {name: beside(values) for name, values in expected.heads.items()}
    return expected._replace(
        actions=beside(expected.actions), heads=heads, valid=beside(expected.valid)
    )


def waiting(contract: Contract, expected: ExpectedSteps) -> ExpectedSteps:
    """Return the expected steps of next-step auto-reset: one more step after each end.

    Lanes get different lengths. They are cut to the recording's, so that only recorded steps are
    compared.
    """
    ended = expected.heads["terminated"] | expected.heads["truncated"]
    steps, lanes = ended.shape
    heads = {name: np.zeros_like(values) for name, values in expected.heads.items()}
    actions, valid = np.zeros_like(expected.actions), np.zeros(ended.shape, bool)
    for lane in range(lanes):
        # Row t of the recording moves down by the number of ends before it.
        moved = np.arange(steps) + np.cumsum(ended[:, lane]) - ended[:, lane]
        inside_rows = moved < steps
        to, source = moved[inside_rows], np.flatnonzero(inside_rows)
        actions[to, lane] = expected.actions[source, lane]
        valid[to, lane] = True
        for name, values in expected.heads.items():
            heads[name][to, lane] = values[source, lane]
        last = source[ended[source, lane]]
        at = moved[last]
        for name in ("obs", "final_obs"):
            heads[name][at, lane] = expected.heads["final_obs"][last, lane]
        waits = at + 1
        inside = waits < steps
        waits, last = waits[inside], last[inside]
        valid[waits, lane] = True
        for name, values in heads.items():
            if name in ("obs", "final_obs"):
                values[waits, lane] = expected.heads["obs"][last, lane]
            elif name in ("acting", "legal"):
                values[waits, lane] = expected.heads[name][last, lane]
    return ExpectedSteps(actions, heads, valid, over=True)


def with_ends(expected: ExpectedSteps, lanes: int) -> tuple[ExpectedSteps, np.ndarray]:
    """Return a shorter part: the lanes that end first, until half of them have, and which they are.

    Where no recorded episode ends, the part is as short as one that ends at once.
    """
    ended = expected.heads["terminated"] | expected.heads["truncated"]
    first = np.where(ended.any(0), ended.argmax(0), len(ended))
    chosen = np.argsort(first, kind="stable")[:lanes]
    half = int(first[chosen[(lanes - 1) // 2]])
    half = half if half < len(ended) else 0
    steps = min(len(ended), max(half, 32) + 32)
    heads = {name: values[:steps, chosen] for name, values in expected.heads.items()}
    actions, valid = expected.actions[:steps, chosen], expected.valid[:steps, chosen]
    return expected._replace(actions=actions, heads=heads, valid=valid), chosen


def around_ends(
    expected: ExpectedSteps, steps: int
) -> tuple[ExpectedSteps, np.ndarray, np.ndarray]:
    """Return `steps` steps around each lane's first end, where they begin, and the ends before.

    Where they begin is i64[N]: row t of the recording's frames is the one before step t. The
    number of ends before says how far a lane's seed has moved.
    """
    ended = expected.heads["terminated"] | expected.heads["truncated"]
    first = np.where(ended.any(0), ended.argmax(0), len(ended))
    begin = np.clip(first - steps // 2, 0, len(ended) - steps)
    rows = begin + np.arange(steps)[:, None]
    lanes = np.arange(ended.shape[1])
    before = np.array([int(ended[: begin[lane], lane].sum()) for lane in lanes])
    heads = {name: values[rows, lanes] for name, values in expected.heads.items()}
    actions, valid = expected.actions[rows, lanes], expected.valid[rows, lanes]
    return expected._replace(actions=actions, heads=heads, valid=valid), begin, before


class Mismatch(NamedTuple):
    """The first difference of steps from the expected.

    said: what differs, where, and as if what, in a line. steps: the steps around it, as a table.
    """

    said: str
    steps: str = ""


def mismatch(
    expected: ExpectedSteps,
    got: TimeStep,
    gates: dict[str, Lockstep],
    lanes: np.ndarray | None = None,
    first: np.ndarray | None = None,
) -> Mismatch | None:
    """Return the first difference of an environment's steps [T, N, ...] from the expected, if any.

    lanes: which lanes of `got` are the recorded ones; all, in order, if None. first: the
    observations [N, ...] at reset, where all of the steps since then are given.
    """
    heads = {name: getattr(got, name) for name in (*HEADS, "final_obs")}
    if lanes is not None:
        heads = {name: None if v is None else v[:, lanes] for name, v in heads.items()}
    worst: tuple[int, int, str, Any, Any] | None = None
    where = ""
    for name, want in expected.heads.items():
        gate = gates.get("obs" if name == "final_obs" else name)
        if gate is None:  # a field with a resync or window gate: play alone compares nothing
            continue
        value = np.asarray(heads[name])
        real = value.dtype.kind == want.dtype.kind == "f"
        if value.shape != want.shape or (value.dtype != want.dtype and not real):
            return Mismatch(
                f"`{name}` is {value.dtype}{list(value.shape)}, expected "
                f"{want.dtype}{list(want.shape)}"
            )
        wrong = differs(want, value, gate).reshape(*expected.valid.shape, -1).any(-1)
        wrong &= expected.valid
        if expected.over and name in ("acting", "legal"):
            wrong &= ~_ends(expected)
        if wrong.any():
            t = int(wrong.any(1).argmax())
            lane = int(wrong[t].argmax())
            if worst is None or t < worst[0]:
                where = name
                worst = (t, lane, *_first(name, want[t, lane], value[t, lane], gate))
    if worst is None:
        return None
    t, lane, name, want_value, value = worst
    values = f"`{name}` is {text_of(value)}, expected {text_of(want_value)}"
    said = f"{values}, at step {t + 1} of lane {lane}{_after_an_end(expected, t, lane)}"
    if where == "obs" and first is not None:
        said += reset_clues.as_if(expected, np.asarray(heads["obs"]), np.asarray(first))
    return Mismatch(said, reset_clues.around(expected, heads, t, lane, where))


def _ends(expected: ExpectedSteps) -> np.ndarray:
    """Return bool[T, N], where episodes end; all False where no end is among the heads."""
    ends = [expected.heads[name] for name in ("terminated", "truncated") if name in expected.heads]
    return np.logical_or(*ends) if len(ends) == 2 else np.zeros_like(expected.valid)


def _after_an_end(expected: ExpectedSteps, t: int, lane: int) -> str:
    """Say where row t lies from an end before it, "" if no end is, or none is among the heads."""
    ends = np.flatnonzero((_ends(expected) & expected.valid)[: t + 1, lane])
    if not len(ends):
        return ""
    steps = t - int(ends[-1])
    return f", step {steps} after an end" if steps else ", where the episode ends"


def _first(name: str, want: Any, value: Any, gate: Lockstep) -> tuple[str, Any, Any]:
    """Return the first element that differs, as `obs[1]`, and its two values."""
    if not want.ndim:
        return name, want, value
    place = tuple(int(axis[0]) for axis in np.nonzero(differs(want, value, gate)))
    return f"{name}[{', '.join(map(str, place))}]", want[place], value[place]


def _squeezed(contract: Contract, heads: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Bring a recording's arrays into TimeStep's layout: no player axis for one player."""
    if contract.players > 1:
        return heads
    return {name: values[:, :, 0] if name in _BY_PLAYER else values
            for name, values in heads.items() if name != "acting"}  # fmt: skip


_BY_PLAYER = ("obs", "final_obs", "reward", "legal")
