"""Gymnasium's `FuncEnv` (`gymnasium.envs.phys2d`, `gymnasium.envs.tabular`, or your own)."""

from __future__ import annotations

from typing import Any, Unpack

import jax.numpy as jnp

from twinstep.frames import Array
from twinstep.inward._checks import required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port

_METHODS = ("initial", "transition", "observation", "reward", "terminal")


def from_functional(func_env: Any, params: Any = None, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a `gymnasium.experimental.functional.FuncEnv` in JAX.

    params: the environment's parameters, its default ones if None. hooks: see `Hooks`; their state
    is the functional environment's. It knows no time limit: nothing is truncated. UserError if
    `func_env` is none.
    """
    return port("from_functional", lambda: _Functional(func_env, params), hooks)


class _Functional(Library):
    name = "from_functional"

    def __init__(self, env: Any, params: Any) -> None:
        required(env, self.name, _METHODS, "a FuncEnv, as CartPoleFunctional()")
        super().__init__(env)
        # By name and only if given: the methods of Gymnasium's own disagree on the places.
        self._named = {} if params is None else {"params": params}
        space = getattr(env, "action_space", None)
        self.action_shape = getattr(space, "shape", None)

    def reset(self, key: Array) -> tuple[Any, Any]:
        inner = self.env.initial(key, **self._named)
        return inner, self.observe(inner, key)

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        after = self.env.transition(inner, action, key, **self._named)
        reward = self.env.reward(inner, action, after, key, **self._named)
        terminated = self.env.terminal(after, key, **self._named)
        return Moved(after, self.observe(after, key), reward, terminated, jnp.bool_(False))

    def observe(self, inner: Any, key: Array) -> Any:
        return self.env.observation(inner, key, **self._named)
