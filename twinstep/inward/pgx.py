"""pgx: games of one player or several, whose states say who decides."""

from __future__ import annotations

from typing import Any, Unpack

import jax.numpy as jnp

from twinstep.frames import Array
from twinstep.inward._checks import imported, no_auto_reset, required
from twinstep.inward._library import Hooks, Library, Moved
from twinstep.inward._port import Port, port


def from_pgx(env: Any, **hooks: Unpack[Hooks]) -> type[Port]:
    """Return a candidate's class made of a pgx game.

    env: what `pgx.make` returns, or its ID. hooks: see `Hooks`; their state is pgx's `State`.
    Row 0 of observations, rewards and masks is the player who moves first, whom pgx draws; others
    follow in pgx's order. With several players nobody decides after the end. The mask of a
    terminated game, all true in pgx, is all false. UserError if `env` is none, or pgx is missing.
    """
    return port("from_pgx", lambda: _Pgx(env), hooks)


class _Pgx(Library):
    name = "from_pgx"
    action_shape = ()

    def __init__(self, env: Any) -> None:
        if isinstance(env, str):
            env = imported("pgx", self.name).make(env)
        required(env, self.name, ("init", "step", "_observe"), "what pgx.make returns")
        no_auto_reset(env, self.name, "env")
        super().__init__(env)
        self.players = env.num_players

    def reset(self, key: Array) -> tuple[Any, Any]:
        inner = self.env.init(key)
        return inner, inner.observation

    def step(self, inner: Any, action: Array, key: Array) -> Moved:
        inner = self.env.step(inner, action, key)
        ends = inner.terminated, inner.truncated
        return Moved(inner, inner.observation, inner.rewards, *ends)

    def observe(self, inner: Any, key: Array) -> Any:
        return self.env.observe(inner)

    def first_player(self, inner: Any) -> Array:
        return inner.current_player

    def observations(self, inner: Any, seen: Any, first: Array) -> tuple[Any, ...]:
        if self.players == 1:
            return (seen,)
        # `observe` deprecates its argument, and knows the present player alone.
        players = ((first + row) % self.players for row in range(self.players))
        return tuple(self.env._observe(inner, player) for player in players)

    def acting(self, inner: Any, first: Array) -> Array:
        if self.players == 1:
            return jnp.ones(1, bool)
        row = (inner.current_player - first) % self.players
        return (jnp.arange(self.players) == row) & ~(inner.terminated | inner.truncated)

    def legal(self, inner: Any, seen: Any) -> Array | None:
        return inner.legal_action_mask & ~inner.terminated
