"""What an adapter tells about its library, and the hooks that a user may give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict

import jax
import jax.numpy as jnp

from twinstep.chance.row import Row
from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Array, Start
from twinstep.inward._checks import starts_placed

#: Field of `Frame.state` -> its path in the library's state, or a function of that state.
Fields = Mapping[str, str | Callable[[Any], Array]]


class Hooks(TypedDict, total=False):
    """What a user may tell about one environment of a JAX library; all optional, all traced.

    place(state, start) -> state: puts the start's fields into the library's state after a reset.
        The reset without it is the port's own start, which is compared in distribution.
    fields: what `Frame.state` shows: for each name a path in the library's state as
        `physics.qpos[0]`, or a function of it; or one function from the state to all, by name.
        Where all are paths, the candidate has a `load`.
    load(state, fields) -> state: puts `Frame.state` fields into the state of a reset, where the
        paths alone do not.
    key(start) -> key: the library's random key for an episode. Default: the start's seed u32[2]
        itself, as a raw key. A start of the port's own has no fields.
    observation(seen) -> array: what is compared of the library's observation. Default: all of it.
    observe(state) -> seen: the library's observation of a placed or loaded state, where the library
        itself offers none.
    legal(state) -> bool[A], or bool[P, A]: the action mask, where the library gives none.
    act(action[...]) -> action: the library's own form of one player's action. Default: the same
        numbers in the shape of its action space.
    dtype: `float32` or `float64`, of the arithmetic. Default float32.
    chance: the contract's row of words, from which `jax.random` draws in the library; see
        `twinstep.chance`.
    sites: place in the library's source -> name in the row, for a row with names.
    """

    place: Callable[[Any, Start], Any]
    fields: Fields | Callable[[Any], dict[str, Array]]
    load: Callable[[Any, dict[str, Array]], Any]
    key: Callable[[Start], Array]
    observation: Callable[[Any], Array]
    observe: Callable[[Any], Any]
    legal: Callable[[Any], Array]
    act: Callable[[Array], Any]
    dtype: str
    chance: Row
    sites: Mapping[str, str]


class Moved(NamedTuple):
    """A library's answer to a step: its state and observation, reward [] or [P], both ends."""

    inner: Any
    seen: Any
    reward: Array
    terminated: Array
    truncated: Array


class Library:
    """One environment of a JAX library, for one lane. An adapter overrides what it needs.

    name: of the adapter's function. action_shape: of the library's own action, None if unknown.
    can_observe: whether `observe` gives the observation of any state.
    """

    name = ""
    players = 1
    action_shape: tuple[int, ...] | None = None
    can_observe = True

    def __init__(self, env: Any) -> None:
        self.env = env

    def reset(self, key: Array) -> tuple[Any, Any]:
        """Return (state, observation) of a new episode."""
        raise NotImplementedError

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        """Apply an action, without auto-reset."""
        raise NotImplementedError

    def observe(self, inner: Any, key: Array) -> Any:
        """Return the observation of a state."""
        raise NotImplementedError

    def first_player(self, inner: Any) -> Array:
        """Return the library's number of the player in row 0, i32[], after a reset."""
        return jnp.int32(0)

    def observations(self, inner: Any, seen: Any, first: Array) -> tuple[Any, ...]:
        """Return each player's observation."""
        return (seen,)

    def acting(self, inner: Any, first: Array) -> Array:
        """Return bool[P], who decides now."""
        return jnp.ones(self.players, bool)

    def legal(self, inner: Any, seen: Any) -> Array | None:
        """Return bool[A], the deciding player's mask, or None where the library has none."""
        return None


def require_fit(contract: Contract, library: Library, hooks: Hooks) -> None:
    """UserError where the contract asks for what library and hooks do not give."""
    if library.players != contract.players:
        raise UserError(
            f"{library.name} has {library.players} players, the contract {contract.players}"
        )
    starts_placed(library.name, contract, hooks, "key", "place=lambda state, start: ...")
    if "place" in hooks and not (library.can_observe or "observe" in hooks):
        raise UserError(
            f"{library.name}: the library cannot observe a placed state: add "
            "observe=lambda state: ..."
        )


def require_array(row: Any, title: str) -> None:
    """UserError, with its parts, where an observation is no array."""
    if jax.tree.structure(row) == jax.tree.structure(0):
        return
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(row)[0]]
    parts = ", ".join(jax.tree_util.keystr(path).lstrip(".") for path in paths)
    raise UserError(
        f"{title}: the observation has parts ({parts}): say which are compared, "
        "observation=lambda seen: ..."
    )
