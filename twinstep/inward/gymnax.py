"""gymnax: `reset_env` and `step_env` of 0.x and 1.x, without the auto-reset of `step`."""

from __future__ import annotations

from typing import Any, Unpack

import jax.numpy as jnp

from twinstep.frames import Array
from twinstep.inward._checks import imported, required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port


def from_gymnax(env: Any, params: Any = None, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a gymnax environment.

    env: what `gymnax.make` returns first, or its ID. params: the library's parameters, its default
    ones if None. hooks: see `Hooks`; their state is gymnax's `EnvState`. A time limit truncates,
    apart from `terminated`. gymnax imports gymnasium itself: let `OracleRef.upstream` name the
    reference's module, not the whole package. UserError if `env` is none, or gymnax is missing.
    """
    return port("from_gymnax", lambda: _Gymnax(env, params), hooks)


class _Gymnax(Library):
    name = "from_gymnax"

    def __init__(self, env: Any, params: Any) -> None:
        if isinstance(env, str):
            env, made = imported("gymnax", self.name).make(env)
            params = made if params is None else params
        required(env, self.name, ("reset_env", "step_env"), "what gymnax.make returns first")
        super().__init__(env)
        self._params = self._rules = env.default_params if params is None else params
        self._limit: Any = None
        if not hasattr(env, "is_truncated"):
            # 0.x joins both ends in `done`; without its time limit `done` means terminated.
            self._limit = self._params.max_steps_in_episode
            self._rules = self._params.replace(max_steps_in_episode=2**30)
        self.action_shape = tuple(env.action_space(self._params).shape)

    def reset(self, key: Array) -> tuple[Any, Any]:
        seen, inner = self.env.reset_env(key, self._params)
        return inner, seen

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        seen, inner, reward, terminated, _ = self.env.step_env(key, inner, action, self._rules)
        if self._limit is None:
            truncated = self.env.is_truncated(inner, self._params)
        else:
            truncated = jnp.asarray(inner.time) >= self._limit
        return Moved(inner, seen, reward, terminated, truncated)

    def observe(self, inner: Any, key: Array) -> Any:
        if hasattr(self.env, "observe"):  # since 1.0; `get_obs` is left for older environments
            return self.env.observe(key, inner, None, self._params)
        return self.env.get_obs(inner, params=self._params, key=key)
