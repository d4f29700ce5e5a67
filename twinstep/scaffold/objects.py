"""Inspection of a candidate that is an object with Gymnasium's interface."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.errors import UserError
from twinstep.inward import _paths
from twinstep.scaffold import introspect, placing, spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import Making
from twinstep.scaffold.placing import Placing, Way
from twinstep.scaffold.render import imports_of, indented
from twinstep.scaffold.twins import Twin, order_of, require_alike


@dataclass(frozen=True)
class _Placed:
    """The way into the candidate. order: the places of the reference's elements in its row.

    counts: whether one more element, the last of `order`, counts the steps.
    """

    way: Way
    observe: str
    order: tuple[int, ...]
    counts: bool


def inspected(making: Making, facts: ReferenceFacts) -> Twin:
    """Inspect the object of `making`; UserError unless its spaces are the reference's."""
    env, other = (introspect.made(making) for _ in range(2))
    cls = type(_paths.innermost(env))
    if cls.__module__ == facts.module:
        raise UserError(
            f"--candidate {making.given}: both sides lie in {facts.module}, and a candidate must "
            "not import its reference: put it into a file of its own"
        )
    shape, dtype = spaces.observed(env, making.title)
    action = spaces.action_of(env.action_space, making.title)
    require_alike(facts, making.title, action, shape, dtype)
    limit = introspect.time_limit(env)
    found = _placed(env, other, facts, dtype, bool(limit))
    placed = found if isinstance(found, _Placed) else None
    file = introspect.path_of(cls.__module__)
    first = introspect.first_observations(env)
    twin = Twin(
        making.given.partition(":")[0].rpartition(".")[2],
        making.title,
        "object",
        introspect.versions_of(*making.imports, cls.__module__),
        limit,
        placed is not None,
        found if isinstance(found, str) else "",
        clock=bool(limit) or bool(placed and placed.counts),
        alike="a seed gives both sides the same start" if _same(first, facts.first) else "",
        masked=introspect.masks(env),
        packages=(cls.__module__.partition(".")[0],) if "/" in file else (),
        places=(f"{file}:{cls.__name__}.reset", f"{file}:{cls.__name__}.step"),
        edit=(file,) if Path(file).is_file() else (),
        values={
            "fasttitle": making.title,
            "fastimports": imports_of(making.imports, placed is not None, ("Any",)),
            "fastmake": indented(making.body),
            "fastinner": "env.unwrapped" if hasattr(env, "unwrapped") else "env",
            **(_values(placed) if placed else {}),
        },
        conditions={
            "wrapped": bool(placed and facts.clock and limit),
            "unwrapped": bool(placed and not (facts.clock and limit)),
            "wrappedloads": bool(placed and facts.clock and limit and _exact(facts)),
        },
    )
    for each in (env, other):
        introspect.close(each)
    return twin


def _exact(facts: ReferenceFacts) -> bool:
    return facts.placing is not None and facts.placing.exact


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def _values(placed: _Placed) -> dict[str, str]:
    """Return the template's values for the way into the candidate."""
    order = list(placed.order)
    straight = order == sorted(order)
    back = [order.index(n) for n in range(len(order))]
    given = 'np.asarray(start.fields["state"])'
    if placed.counts:
        given = 'np.append(start.fields["state"], 0)'
    return {
        "fastgiven": given,
        "fastnames": '(*ELEMENTS, "time")' if placed.counts else "ELEMENTS",
        "fastshown": "values[:-1]" if placed.counts else "values",
        "fastclock": ' | {"time": np.int32(values[-1])}' if placed.counts else "",
        "fastobserve": placed.observe,
        "fastread": placed.way.read if straight else f"{placed.way.read}[{order}]",
        "fastorder": "" if straight else f"[{back}]",
        "fastputstart": indented(placed.way.start).lstrip(),
        "fastputlater": indented(placed.way.resume).lstrip(),
    }


def _placed(
    env: Any, other: Any, facts: ReferenceFacts, dtype: str, clocked: bool
) -> _Placed | str:
    """Return the way into the candidate, or why it cannot be put into the reference's starts.

    env, other: the candidate twice.
    """
    placed = facts.placing
    if placed is None:
        return facts.unplaceable
    found = placing.way_of(env, other, dtype, clocked)
    if isinstance(found, str):
        return found.replace("the reference's", "the candidate's")
    way, observe = found
    env.reset(seed=0)
    start = placing.row_of(env, way.first)
    counters = _counters(env, way) if facts.clock and not clocked else []
    counts = len(start) == placed.states.shape[1] + 1 and len(counters) == 1
    if len(start) - counts != placed.states.shape[1]:
        return (
            f"the candidate's state has {len(start)} elements, the reference's "
            f"{placed.states.shape[1]}"
        )
    known = placed.names if len(placed.names) == len(start) else ()
    names = way.names or known or tuple(f"[{n}]" for n in range(len(start)))
    order = _order(env, way, observe, names, counters if counts else [], placed)
    if not order:
        return (
            "no order of the candidate's state gives the reference's observation of its own starts"
        )
    return _Placed(way, observe, order, counts)


def _order(
    env: Any,
    way: Way,
    observe: str,
    names: tuple[str, ...],
    counters: list[int],
    placed: Placing,
) -> tuple[int, ...]:
    """Return the places of the reference's elements in the candidate's row, then the counter's."""
    numbers = {name: n for n, name in enumerate(names)}

    def shown(order: tuple[str, ...], values: np.ndarray) -> Any:
        row = np.zeros(len(names))
        row[[numbers[name] for name in order]] = values
        env.reset(seed=0)
        placing.place(env, way, row, later=True)
        return placing.observation(env, observe)

    free = [name for name in names if numbers[name] not in counters]
    order = order_of(free, placed.names or free, placed, shown)
    return (*(numbers[name] for name in order), *counters) if order else ()


def _counters(env: Any, way: Way) -> list[int]:
    """Return the places of the elements that count the steps."""
    env.reset(seed=0)
    env.action_space.seed(0)
    rows = [placing.row_of(env, way.first)]
    for _ in range(3):
        env.step(env.action_space.sample())
        rows.append(placing.row_of(env, way.read))
    return [n for n, column in enumerate(np.stack(rows).T) if (column == np.arange(4)).all()]
