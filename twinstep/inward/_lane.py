"""The pure functions of a port, for one lane: what all JAX libraries share.

The library's state is carried with the key and with the results of the last reset or step.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.chance.jax_random import JaxDraws
from twinstep.chance.row import DRAWN, DRAWS
from twinstep.contract import Contract
from twinstep.errors import UserError
from twinstep.frames import Array, Frame, Start
from twinstep.inward import _paths, _pinning
from twinstep.inward._library import Hooks, Library, require_array, require_fit


class State(NamedTuple):
    """One episode of a port.

    inner: the library's own state. first: its number of the player in row 0. key: of its next step,
    or the words of its next step where it draws from a row. drawn: the words of the last one.
    obs [P, ...], reward [P], terminated, truncated, acting bool[P], legal bool[P, A] or None: of
    the last reset or step.
    """

    inner: Any
    first: Array
    key: Array
    obs: Array
    reward: Array
    terminated: Array
    truncated: Array
    acting: Array
    legal: Array | None
    drawn: Array


class Lane:
    """The pure functions of a port, for one lane."""

    def __init__(self, contract: Contract, library: Library, hooks: Hooks) -> None:
        self._contract, self._library, self._hooks = contract, library, hooks
        self._chance = JaxDraws(hooks["chance"], hooks.get("sites")) if "chance" in hooks else None
        self._wide = hooks.get("dtype") == "float64"
        self._title = library.name
        self._types: Any = None
        require_fit(contract, library, hooks)
        with jax.enable_x64(True) if self._wide else contextlib.nullcontext(), own_promotion():
            start = self._some_start()
            self._types = _pinning.settled(
                lambda: self._begun(start).inner,
                lambda inner: self._moved(self._begun(start)._replace(inner=inner)).inner,
                self._title,
            )
            # Tells now of a path that is not there, and of a field of another size.
            jax.eval_shape(lambda: self.frame(self._begun(start)))
            if self._can_load():
                jax.eval_shape(lambda: self.load(self._some_state()))

    def functions(self) -> dict[str, Any]:
        """Return the functions for `JaxCandidate`.

        `load` is one of them where it can be made, `fresh` where starts are placed.
        """
        functions = {"reset": self.reset, "step": self.step, "frame": self.frame}
        if self._can_load():
            functions["load"] = self.load
        if "place" in self._hooks or self._chance:
            functions["fresh"] = self.fresh
        return {name: _promoting(function) for name, function in functions.items()}

    def reset(self, start: Start) -> State:
        """Begin the episode of a start."""
        return self._pinned(self._begun(start))

    def fresh(self, seed: Array) -> State:
        """Begin an episode where the library itself puts it, from a seed u32[2]."""
        return self._pinned(self._begun(Start(seed), placed=False))

    def step(self, state: State, action: Array) -> State:
        """Apply an action [P, ...]."""
        return self._pinned(self._moved(state, action))

    def load(self, fields: dict[str, Array]) -> State:
        """Continue from the fields of `Frame.state`."""
        key = jnp.zeros(2, jnp.uint32)
        with self._drawing(fields.get(DRAWS), key) as (now, _):
            inner, _ = self._library.reset(now)
        first = self._library.first_player(inner)
        if "load" in self._hooks:
            inner = self._hooks["load"](inner, fields)
        else:
            for name, path in _paths.settable(self._hooks.get("fields")).items():
                inner = _paths.replaced(inner, path, fields[name], self._like(name))
        inner = _pinning.cast(self._wider(inner), self._types)
        seen = self._seen(inner, key)
        key = fields[DRAWS] if self._chance else key
        return self._pinned(self._first_state(inner, seen, first, key))

    def frame(self, state: State) -> Frame:
        """Return the frame of a state."""
        return Frame(
            obs=state.obs,
            reward=state.reward,
            terminated=state.terminated,
            truncated=state.truncated,
            acting=state.acting,
            legal=state.legal,
            state=self._shown(state.inner) | self._drawn(state),
        )

    def _begun(self, start: Start, placed: bool = True) -> State:
        hooks = self._hooks
        given = _given(start, hooks)
        with self._drawing(start.fields.get(DRAWS) if placed else None, given) as (now, after):
            inner, seen = self._library.reset(now)
        first = self._library.first_player(inner)
        key, drawn = after()
        row = hooks.get("chance")
        if row and not placed:
            key = jnp.zeros(row.size, jnp.uint32)  # nothing is drawn from it
        if placed and "place" in hooks:
            inner = self._wider(hooks["place"](inner, start))
            # Observed in the types of later states.
            inner = inner if self._types is None else _pinning.cast(inner, self._types)
            seen = self._seen(inner, given)
        state = self._first_state(self._wider(inner), seen, first, key)
        return state._replace(drawn=drawn)

    def _first_state(self, inner: Any, seen: Any, first: Array, key: Array) -> State:
        nothing = jnp.zeros(self._library.players, self._available(self._contract.reward_dtype))
        no = jnp.bool_(False)
        return self._state(inner, seen, first, key, nothing, no, no)

    def _moved(self, state: State, action: Array | None = None) -> State:
        library = self._library
        if action is None:
            dtype, shape = self._contract.action_layout()
            action = jnp.asarray(np.zeros(shape, dtype))
        mine = action[jnp.argmax(state.acting)] if library.players > 1 else action[0]
        with self._drawing(state.key, state.key) as (now, after):
            moved = library.step(state.inner, self._acted(mine), now)
        key, drawn = after()
        reward = jnp.asarray(moved.reward)
        if library.players == 1:
            reward = jnp.ravel(reward)
            if reward.size != 1:
                raise UserError(
                    f"{self._title}: the reward is {list(reward.shape)}, not one number"
                )
        else:
            reward = jnp.roll(reward, -state.first)
        ends = [jnp.asarray(end, bool).reshape(()) for end in moved[3:]]
        reward = reward.astype(self._available(self._contract.reward_dtype))
        stepped = self._state(moved.inner, moved.seen, state.first, key, reward, *ends)
        return stepped._replace(drawn=drawn)

    def _state(
        self, inner: Any, seen: Any, first: Array, key: Array, reward: Array, *ends: Array
    ) -> State:
        library, hooks = self._library, self._hooks
        compared = hooks.get("observation", lambda given: given)
        rows = [compared(each) for each in library.observations(inner, seen, first)]
        for row in rows:
            require_array(row, self._title)
        want = self._contract.observation
        obs = jnp.stack([self._held("obs", row, want.dtype) for row in rows])
        if obs.size == len(rows) and not np.prod(want.shape, dtype=int) > 1:
            obs = obs.reshape(-1, *want.shape)  # [] and [1] are one number
        acting = library.acting(inner, first)
        legal = None
        if self._contract.masked:
            mask = hooks["legal"](inner) if "legal" in hooks else library.legal(inner, seen)
            if mask is None:
                raise UserError(
                    f"{self._title}: the contract is masked and the library gives no mask: "
                    "add legal=lambda state: ..."
                )
            mask = jnp.asarray(mask, bool)
            mask = mask if mask.ndim == 2 else mask.reshape(-1)[None] & acting[:, None]
            legal = mask
        terminated, truncated = ends
        none = jnp.int32(0)
        return State(inner, first, key, obs, reward, terminated, truncated, acting, legal, none)

    @contextlib.contextmanager
    def _drawing(self, row: Array | None, key: Array) -> Iterator[Any]:
        """Give the library's key, and a function to (the next key or row, words drawn).

        row: the words of this reset or step, where the library draws from them.
        """
        if self._chance is None or row is None:
            following, now = jax.random.split(key)
            yield now, lambda: (following, jnp.int32(0))
            return
        with self._chance.of(row) as step:
            yield (
                step.key,
                lambda: (step.state()[DRAWS], step.state().get(DRAWN, jnp.int32(0))),
            )

    def _drawn(self, state: State) -> dict[str, Array]:
        """Return the fields of the row from which the next step draws."""
        row = self._hooks.get("chance")
        if row is None:
            return {}
        fields = {DRAWS: state.key, DRAWN: state.drawn}
        return {field.name: fields[field.name] for field in row.state}

    def _pinned(self, state: State) -> State:
        return state._replace(inner=_pinning.cast(state.inner, self._types))

    def _wider(self, inner: Any) -> Any:
        return _pinning.widened(inner) if self._wide else inner

    def _seen(self, inner: Any, key: Array) -> Any:
        if "observe" in self._hooks:
            return self._hooks["observe"](inner)
        return self._library.observe(inner, key)

    def _acted(self, action: Array) -> Any:
        if "act" in self._hooks:
            return self._hooks["act"](action)
        shape = self._library.action_shape
        if shape is None or action.size != np.prod(shape, dtype=int):
            return action
        return action.reshape(shape)

    def _shown(self, inner: Any) -> dict[str, Array]:
        fields = self._hooks.get("fields", {})
        if not isinstance(fields, Mapping):
            named = fields(inner)
        else:
            named = {
                name: _paths.read(inner, how) if isinstance(how, str) else how(inner)
                for name, how in fields.items()
            }
        for name, value in named.items():
            if jax.tree.structure(value) != jax.tree.structure(0):
                raise UserError(
                    f"{self._title}: field `{name}` is no array but a {type(value).__name__}"
                )
        dtypes = {field.name: field.dtype for field in self._contract.state}
        return {
            name: self._held(name, value, dtypes.get(name, jnp.asarray(value).dtype))
            for name, value in named.items()
        }

    def _held(self, name: str, value: Any, dtype: Any) -> Array:
        """Return a value in the contract's dtype, of a float in the candidate's precision."""
        value, dtype = jnp.asarray(value), np.dtype(dtype)
        if value.dtype.kind == "f" and dtype.kind != "f":
            raise UserError(
                f"{self._title}: `{name}` is {value.dtype}, the contract says {dtype}: the "
                "fractions would be lost"
            )
        dtype = self._available(dtype)
        # A state in less than its own precision would not continue exactly.
        narrower = dtype.kind == "f" and dtype.itemsize < value.dtype.itemsize and name != "obs"
        return value if narrower and value.dtype.kind == "f" else value.astype(dtype)

    def _available(self, dtype: Any) -> np.dtype:
        """Return a dtype as JAX has it in the candidate's precision."""
        dtype = np.dtype(dtype)
        return dtype if self._wide else np.dtype(jax.dtypes.canonicalize_dtype(dtype))

    def _like(self, name: str) -> Callable[[Any, Any], Array]:
        def like(old: Any, new: Array) -> Array:
            old, new = jnp.asarray(old), jnp.asarray(new)
            if old.size != new.size:
                raise UserError(
                    f"{self._title}: field `{name}` is {list(new.shape)} in the contract and "
                    f"{list(old.shape)} in the library's state"
                )
            return _paths.cast_like(old, new)

        return like

    def _can_load(self) -> bool:
        put = "load" in self._hooks or bool(_paths.settable(self._hooks.get("fields")))
        return put and (self._library.can_observe or "observe" in self._hooks)

    def _some_state(self) -> dict[str, Array]:
        named = {f.name: jnp.asarray(np.zeros(f.shape, f.dtype)) for f in self._contract.state}
        for name in _paths.settable(self._hooks.get("fields")):
            if name not in named:
                raise UserError(f"{self._title}: the contract's state has no field `{name}`")
        return named

    def _some_start(self) -> Start:
        fields = {f.name: jnp.asarray(np.zeros(f.shape, f.dtype)) for f in self._contract.starts}
        return Start(jnp.zeros(2, jnp.uint32), fields)


def first_observation(library: Library, hooks: Hooks) -> Callable[[Start], Any]:
    """Return the compiled function from a start to what a port observes there, of one player."""
    wide = hooks.get("dtype") == "float64"

    def observe(start: Start) -> Any:
        _, now = jax.random.split(_given(start, hooks))
        return hooks.get("observation", lambda given: given)(library.reset(now)[1])

    compiled = jax.jit(_promoting(observe))

    def called(start: Start) -> Any:
        with jax.enable_x64(True) if wide else contextlib.nullcontext():
            return compiled(start)

    return called


def _given(start: Start, hooks: Hooks) -> Array:
    """Return the library's random key of a start."""
    return hooks["key"](start) if "key" in hooks else start.seed


@contextlib.contextmanager
def own_promotion() -> Iterator[None]:
    """JAX's default promotion: libraries are written for it, whatever the process has set."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _promoting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        with own_promotion():
            return function(*args)

    return wrapped
