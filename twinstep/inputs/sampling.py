"""Draw inputs where behaviour changes: ranges, their ends, landmarks, and ties between fields.

Uniform draws miss comparisons: they hit the edge of a paddle once in hundreds. So a part of the
draws lies on the ends of a range, on landmarks and one grid step next to them, and another
part puts one field at a landmark's distance from another.
"""

from __future__ import annotations

import numpy as np

from twinstep.contract import Box, Contract, Field, Module, Role
from twinstep.frames import Start
from twinstep.inputs.seeds import seeds, starts_of


def sample_fields(
    fields: tuple[Field, ...],
    landmarks: tuple[float, ...],
    count: int,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """Draw `count` values of each field [count, ...] inside its declared range.

    Fields without a range get zeros.
    """
    drawn = {field.name: _draw(field, landmarks, count, rng) for field in fields}
    scalars = [f for f in fields if f.shape == () and _ranged(f) and _numeric(f)]
    if len(scalars) > 1:
        _tie(scalars, landmarks, drawn, count, rng)
    return drawn


def sample_module(module: Module, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw inputs [count, ...] from a module's level 1 domain."""
    return sample_fields(module.inputs, module.landmarks, count, rng)


def takes_whole_state(module: Module, contract: Contract) -> bool:
    """Return whether a module takes a whole game's state, which field-wise draws cannot give."""
    state = {field.name for field in contract.state} - {"seed", contract.randomness.draws}
    return contract.masked and not state.isdisjoint(field.name for field in module.inputs)


def sample_states(
    contract: Contract, count: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw placed states [count, ...] from the contract's ranges and all modules' landmarks."""
    landmarks = tuple(sorted({mark for m in contract.modules for mark in m.landmarks}))
    fields = tuple(f for f in contract.state if f.role is not Role.IRRELEVANT)
    states = sample_fields(fields, landmarks, count, rng)
    for field in contract.state:
        if field.role is Role.IRRELEVANT:
            states[field.name] = np.zeros((count, *field.shape), field.dtype)
    return states


def sample_actions(contract: Contract, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw actions [count, P, ...]; real-valued ones also on and beyond the ends of the range."""
    dtype, shape = contract.action_layout()
    space = contract.action
    if not isinstance(space, Box):
        return rng.integers(0, space.n, (count, *shape)).astype(dtype)
    middle, half = (space.low + space.high) / 2, (space.high - space.low) / 2
    unit = rng.uniform(-space.beyond, space.beyond, (count, *shape))
    ends = rng.choice([-1.0, 0.0, 1.0], unit.shape)
    return (middle + half * np.where(rng.random(unit.shape) < 0.4, ends, unit)).astype(dtype)


def some_starts(contract: Contract, count: int) -> Start:
    """Return the batched public starts 0 .. count - 1."""
    return starts_of(contract, seeds("public", count, contract.version))


def _ranged(field: Field) -> bool:
    return field.low is not None and field.high is not None


def _numeric(field: Field) -> bool:
    return np.dtype(field.dtype).kind in "iuf"


def _draw(
    field: Field, landmarks: tuple[float, ...], count: int, rng: np.random.Generator
) -> np.ndarray:
    shape = (count, *field.shape)
    dtype = np.dtype(field.dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if not _ranged(field):
        return np.zeros(shape, dtype)
    low, high = float(field.low or 0), float(field.high or 0)
    values = rng.uniform(low, high, shape)
    inside = [mark for mark in landmarks if low <= mark <= high]
    special = np.array([low, high, *inside])
    grid = field.step or (high - low) / 1024
    near = rng.choice(special, shape) + grid * rng.integers(-1, 2, shape)
    values = np.where(rng.random(shape) < 0.3, near, values)
    return _fit(values, field)


def _fit(values: np.ndarray, field: Field) -> np.ndarray:
    """Move values onto the field's grid and into its range."""
    low, high = float(field.low or 0), float(field.high or 0)
    if field.step:
        values = low + np.round((values - low) / field.step) * field.step
    dtype = np.dtype(field.dtype)
    top = high
    if field.step:
        top = low + np.floor((high - low) / field.step) * field.step
    clipped = np.clip(values, low, top)
    return clipped.astype(np.int64).astype(dtype) if dtype.kind in "iu" else clipped.astype(dtype)


def _tie(
    scalars: list[Field],
    landmarks: tuple[float, ...],
    drawn: dict[str, np.ndarray],
    count: int,
    rng: np.random.Generator,
) -> None:
    """In a third of the draws, put one field at a landmark's distance from another."""
    marks = np.array([0.0, *landmarks])
    pick = rng.integers(0, len(scalars), count)
    other = (pick + rng.integers(1, len(scalars), count)) % len(scalars)
    tied = rng.random(count) < 0.35
    distance = rng.choice(marks, count) * rng.choice([-1.0, 1.0], count)
    table = np.stack([drawn[f.name].astype(np.float64) for f in scalars])
    for place, field in enumerate(scalars):
        rows = np.flatnonzero(tied & (pick == place))
        grid = field.step or (float(field.high or 0) - float(field.low or 0)) / 1024
        values = table[other[rows], rows] + distance[rows] + grid * rng.integers(-1, 2, len(rows))
        inside = (values >= float(field.low or 0)) & (values <= float(field.high or 0))
        drawn[field.name][rows[inside]] = _fit(values[inside], field)
