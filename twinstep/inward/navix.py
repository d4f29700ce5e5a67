"""navix: time steps that hold the state, without the auto-reset of `step`."""

from __future__ import annotations

from typing import Any, Unpack

from twinstep.frames import Array
from twinstep.inward._checks import imported, required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port


def from_navix(env: Any, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a navix environment.

    env: what `navix.make` returns, or its ID. hooks: see `Hooks`; their state is navix's
    `Timestep`, with the grid in `state`, as in `state.entities.player.position[0]`. UserError if
    `env` is none, or navix is missing.
    """
    return port("from_navix", lambda: _Navix(env), hooks)


class _Navix(Library):
    name = "from_navix"

    def __init__(self, env: Any) -> None:
        if isinstance(env, str):
            env = imported("navix", self.name).make(env)
        required(env, self.name, ("reset", "_step"), "what navix.make returns")
        super().__init__(env)
        self.action_shape = tuple(env.action_space.shape)

    def reset(self, key: Array) -> tuple[Any, Any]:
        inner = self.env.reset(key)
        return inner, inner.observation

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        # `step` begins the next episode where this one has ended.
        inner = self.env._step(inner, action)
        ends = inner.is_termination(), inner.is_truncation()
        return Moved(inner, inner.observation, inner.reward, *ends)

    def observe(self, inner: Any, key: Array) -> Any:
        return self.env.observation_fn(inner.state)
