"""brax: `reset` and `step` of one state that holds everything."""

from __future__ import annotations

from typing import Any, Unpack

import jax.numpy as jnp

from twinstep.frames import Array
from twinstep.inward._checks import imported, no_auto_reset, required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port


def from_brax(env: Any, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a brax environment.

    env: what `brax.envs.get_environment` returns, or its name. For a time limit wrap it in brax's
    `EpisodeWrapper` (`brax.envs.create(name, auto_reset=False)`), which tells truncation. hooks:
    see `Hooks`; their state is brax's `State`. `place` and `load` need `observe`: brax observes
    within its steps. UserError if `env` is none, resets itself, or brax is missing.
    """
    return port("from_brax", lambda: _Brax(env), hooks)


class _Brax(Library):
    name = "from_brax"
    can_observe = False

    def __init__(self, env: Any) -> None:
        if isinstance(env, str):
            env = imported("brax.envs", self.name).get_environment(env)
        required(env, self.name, ("reset", "step"), "what brax.envs.get_environment returns")
        no_auto_reset(env, self.name, "env")
        super().__init__(env)
        self.action_shape = (env.action_size,)

    def reset(self, key: Array) -> tuple[Any, Any]:
        inner = self.env.reset(key)
        return inner, inner.obs

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        inner = self.env.step(inner, action)
        truncated = jnp.asarray(inner.info.get("truncation", 0)) != 0
        return Moved(inner, inner.obs, inner.reward, (inner.done != 0) & ~truncated, truncated)
