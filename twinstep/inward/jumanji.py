"""jumanji: `reset` and `step` with a state and a time step each."""

from __future__ import annotations

from typing import Any, Unpack

import jax.numpy as jnp

from twinstep.frames import Array
from twinstep.inward._checks import imported, no_auto_reset, required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port


def from_jumanji(env: Any, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a jumanji environment of one player.

    env: what `jumanji.make` returns, or its ID. hooks: see `Hooks`; their state is jumanji's
    `State`, `seen` its observation with parts, so that `observation` is needed. `place` and `load`
    need `observe` as well: jumanji observes within its steps. The mask is the observation's
    `action_mask`. A last step with a discount of 0 is terminated, another truncated. UserError if
    `env` is none, or jumanji is missing.
    """
    return port("from_jumanji", lambda: _Jumanji(env), hooks)


class _Jumanji(Library):
    name = "from_jumanji"
    can_observe = False

    def __init__(self, env: Any) -> None:
        if isinstance(env, str):
            env = imported("jumanji", self.name).make(env)
        required(env, self.name, ("reset", "step"), "what jumanji.make returns")
        no_auto_reset(env, self.name, "_env")
        super().__init__(env)
        spec = env.action_spec
        self.action_shape = tuple(getattr(spec() if callable(spec) else spec, "shape", ()))

    def reset(self, key: Array) -> tuple[Any, Any]:
        inner, now = self.env.reset(key)
        return inner, now.observation

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        inner, now = self.env.step(inner, action)
        last, goes_on = now.last(), jnp.any(now.discount != 0)
        return Moved(inner, now.observation, now.reward, last & ~goes_on, last & goes_on)

    def legal(self, inner: Any, seen: Any) -> Array | None:
        return getattr(seen, "action_mask", None)
