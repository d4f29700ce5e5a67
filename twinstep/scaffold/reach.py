"""The ranges in which a reference's states lie: at reset, in play, and as its space declares.

Level 2 places states in these ranges, one element by one. So they are of states that a step is
really taken from: the last state of an episode is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: Steps of play in all, and of one episode at most.
STEPS, EPISODE = 8_000, 1000
#: Most values of an element that are dealt from a grid; more are called real.
GRID = 256
#: Places between what was played and a declared end, and states tried at each.
PLACES, TRIED = 16, 40
#: The share of them that must go on: up to a place on the way, and everywhere up to the end.
INSIDE, EVERYWHERE = 0.75, 0.25


@dataclass(frozen=True)
class Range:
    """The closed range of an element. step: the grid of its values, 0 for any value."""

    low: float
    high: float
    step: float = 0.0


def range_of(values: np.ndarray) -> Range:
    """Return the range of an element's values, with their grid if they are dealt from one."""
    distinct = np.unique(values.astype(np.float64))
    low, high = float(distinct[0]), float(distinct[-1])
    if 1 < len(distinct) <= GRID and len(values) >= 2 * len(distinct):
        step = float(np.diff(distinct).min())
        places = (distinct - low) / step
        if np.allclose(places, np.round(places), atol=1e-6):
            return Range(low, high, step)
    if len(distinct) > 1 and (distinct == np.round(distinct)).all():
        return Range(low, high, 1.0)
    return Range(low, high)


def drawn(each: Range, rng: np.random.Generator) -> float:
    """Return a value of the range."""
    if each.step:
        places = round((each.high - each.low) / each.step)
        return each.low + each.step * int(rng.integers(0, places + 1))
    return each.low + rng.random() * (each.high - each.low)


def play(env: Any, read: Callable[[], np.ndarray]) -> list[np.ndarray]:
    """Play the environment; return the states from which a step was taken, episode by episode.

    Episodes are random, hold their actions, or follow the sign of a random linear function of the
    observation, which pumps a swing and leans on a wall where random play does not.
    """
    episodes, left, number = [], STEPS, 0
    while left > 0:
        rows = list(_episode(env, read, number, min(EPISODE, left)))
        episodes.append(np.stack(rows))
        left, number = left - len(rows), number + 1
    return episodes


def _episode(
    env: Any, read: Callable[[], np.ndarray], number: int, most: int
) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(number)
    space = env.action_space
    space.seed(number)
    obs, _ = env.reset(seed=number)
    weights = rng.normal(size=np.asarray(obs).size)
    ends = _ends(space)
    action = space.sample()
    for _ in range(most):
        yield read()
        if number % 3 == 0 or number % 3 == 1 and rng.random() < 0.125:
            action = space.sample()
        elif number % 3 == 2 and ends is not None:
            above = float(weights @ np.asarray(obs, np.float64).ravel()) > 0
            action = ends[int(above)]
        obs, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return


def _ends(space: Any) -> tuple[Any, Any] | None:
    if hasattr(space, "n"):
        return 0, int(space.n) - 1
    low, high = getattr(space, "low", None), getattr(space, "high", None)
    return None if low is None or high is None else (low, high)


def declared(env: Any, ranges: list[Range], place: Callable[[np.ndarray], None]) -> list[Range]:
    """Widen the ranges of play to the ends that the observation space declares.

    The observation is the state. A range grows only as far as the reference goes on: CartPole
    declares twice the angle at which it ends, and from beyond that one no step is taken.
    """
    space = getattr(env, "observation_space", None)
    rng = np.random.default_rng(0)
    env.action_space.seed(0)
    wide = list(ranges)
    for place_of, known in enumerate(ranges):
        for end in ("low", "high"):
            ends = np.broadcast_to(np.asarray(getattr(space, end, np.nan), np.float64), len(ranges))
            limit, played = float(ends[place_of]), getattr(known, end)
            beyond = limit < played if end == "low" else limit > played
            if not np.isfinite(limit) or not beyond or known.step:
                continue
            values = np.linspace(played, limit, PLACES + 1)[1:].tolist()
            shares = [_going_on(env, ranges, place_of, value, place, rng) for value in values]
            if min(shares) < EVERYWHERE:
                inside = [share >= INSIDE for share in shares]
                values = values[: inside.index(False)]
            if values:
                wide[place_of] = replace(wide[place_of], **{end: values[-1]})
    return wide


def _going_on(
    env: Any,
    ranges: list[Range],
    place_of: int,
    value: float,
    place: Callable[[np.ndarray], None],
    rng: np.random.Generator,
) -> float:
    """Return the share of steps that do not end from this value, the other elements as played."""
    going_on = 0
    for seed in range(TRIED):
        values = np.array([rng.uniform(each.low, each.high) for each in ranges])
        values[place_of] = value
        try:
            env.reset(seed=seed)
            place(values)
            going_on += not env.step(env.action_space.sample())[2]
        except Exception:  # the reference refuses such a state
            return 0.0
    return going_on / TRIED
