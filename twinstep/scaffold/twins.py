"""What `twinstep init` finds out about a candidate's environment, and that of gymnax."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from twinstep.contract import ActionSpace
from twinstep.errors import UserError
from twinstep.scaffold import spaces
from twinstep.scaffold.introspect import ReferenceFacts
from twinstep.scaffold.making import first_line, import_package
from twinstep.scaffold.placing import Placing
from twinstep.scaffold.render import rows

#: Tolerance of the candidate's observation of a placed start: it must be the same quantity here;
#: equality is left to the suite.
CLOSE = 1e-5
#: Maximum number of orders of a candidate's fields to try.
ORDERS = 5040


@dataclass(frozen=True)
class Twin:
    """A candidate's environment. kind: its name in the declaration. title: for messages.

    template: the folder of its template, with `values` and `conditions` of its own. versions:
    distribution -> version. limit: its time limit, 0 for none.
    placed: whether it can be put into the reference's starts, else the reason in `unmatched`.
    parts: names of its state's elements, in the order of the reference's. clock: whether its state
    counts the steps. alike: the words for starts that are equal without being placed, "" for none.
    asked: whether the reference is placed at this one's own starts. masked: whether it has masks.
    packages: import packages that it consists of. places: of its reset and its step, for reports.
    edit: its own files.
    """

    kind: str
    title: str
    template: str
    versions: Mapping[str, str]
    limit: int
    placed: bool
    unmatched: str
    parts: tuple[str, ...] = ()
    clock: bool = False
    alike: str = ""
    asked: bool = False
    masked: bool = False
    packages: tuple[str, ...] = ()
    places: tuple[str, str] = ("", "")
    edit: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, bool] = field(default_factory=dict)


#: What to do where two sides have other spaces.
AGREE = "choose two that agree, or wrap one of them in a module of your own (MODULE:CALLABLE)"


def require_alike(
    facts: ReferenceFacts,
    title: str,
    action: ActionSpace,
    shape: Sequence[int],
    dtype: str,
    players: int = 1,
) -> None:
    """Raise UserError, with what differs, unless a candidate's spaces are the reference's."""
    if players != facts.players:
        raise UserError(
            f"the players differ: {facts.making.title} has {facts.players}, {title} has "
            f"{players}; {AGREE}"
        )
    mine, wanted = spaces.plain(action), spaces.plain(facts.action)
    if mine != wanted:
        raise UserError(
            f"the action spaces differ: {facts.making.title} has {wanted}, {title} has {mine}; "
            f"{AGREE}"
        )
    if tuple(shape) != facts.shape:
        raise UserError(
            f"the observations differ: {facts.making.title} has shape {list(facts.shape)}, "
            f"{title} has {list(shape)}; {AGREE}"
        )
    if np.dtype(dtype).kind == "f" != np.dtype(facts.dtype).kind:
        raise UserError(
            f"the observations differ: {facts.making.title} has {facts.dtype}, {title} has "
            f"{dtype}; {AGREE}"
        )


def order_of(
    names: Sequence[str],
    wanted: Sequence[str],
    placed: Placing,
    shown: Callable[[tuple[str, ...], np.ndarray], Any],
) -> tuple[str, ...]:
    """Return the candidate's elements that hold the reference's state, in its order; () if none do.

    names: of the candidate's elements. wanted: names of the reference's, () if unknown.
    shown(order, values) -> the candidate's observation with these elements put at the values.
    """

    def shows(order: tuple[str, ...], row: int) -> bool:
        seen = np.asarray(shown(order, placed.states[row]))
        want = placed.observations[row]
        return seen.shape == want.shape and np.allclose(seen, want, CLOSE, CLOSE)

    length = placed.states.shape[1]
    by_name = [[each for each in names if _plain(each) == _plain(name)] for name in wanted]
    first = [tuple(n[0] for n in by_name)] if len(by_name) == length and all(by_name) else []
    for order in itertools.chain(
        first, itertools.islice(itertools.permutations(names, length), ORDERS)
    ):
        if all(shows(order, row) for row in range(len(placed.states))):
            return order
    return ()


def _plain(name: str) -> str:
    """Return the last name of a path, in small letters and without signs."""
    return "".join(c for c in name.rpartition(".")[2].lower() if c.isalnum())


def made_by(package: Any, id: str) -> Any:
    """Call a library's `make`; UserError with its own words on a wrong id."""
    try:
        return package.make(id)
    except Exception as error:
        name = package.__name__
        raise UserError(f"--candidate {name}:{id}: {first_line(error)}") from error


def gymnax(id: str, facts: ReferenceFacts) -> Twin:
    """Inspect the gymnax environment `id`; UserError unless its spaces are the reference's."""
    package = import_package("gymnax")
    import jax

    env, params = made_by(package, id)
    title = f"gymnax's {id}"
    action = spaces.action_of(env.action_space(params), title)
    shape = tuple(env.observation_space(params).shape)
    require_alike(facts, title, action, shape, facts.dtype)
    parts = _parts(env, params, facts.placing) if facts.placing else facts.unplaceable
    order = parts if isinstance(parts, tuple) else ()
    return Twin(
        "gymnax",
        title,
        "gymnax",
        {"gymnax": version("gymnax")},
        int(params.max_steps_in_episode),
        bool(order),
        parts if isinstance(parts, str) else "",
        order,
        hasattr(env.reset_env(jax.random.PRNGKey(0), params)[1], "time"),
        packages=("gymnax",),
        values={
            "fastid": id,
            "fastversion": version("gymnax"),
            "parts": rows(f'"{part}"' for part in order),
        },
        conditions={"apart": hasattr(env, "is_truncated")},
    )


def _parts(env: Any, params: Any, placed: Placing) -> tuple[str, ...] | str:
    """Return the candidate's fields with the reference's state, or the reason why none have it."""
    import jax

    key = jax.random.PRNGKey(0)
    state: Any = env.reset_env(key, params)[1]
    if not dataclasses.is_dataclass(state) or isinstance(state, type):
        return "gymnax's state is no dataclass"
    values = {f.name: np.asarray(getattr(state, f.name)) for f in dataclasses.fields(state)}
    names = [name for name, value in values.items() if not value.ndim and value.dtype.kind == "f"]

    def shown(order: Iterable[str], values: np.ndarray) -> Any:
        filled = dict(zip(order, values.astype(np.float32), strict=True))
        return env.get_obs(dataclasses.replace(state, **filled), params=params, key=key)

    return order_of(names, placed.names, placed, shown) or (
        "no fields of gymnax's state give the reference's observation of its own starts"
    )
