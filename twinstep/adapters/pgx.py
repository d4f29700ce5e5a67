"""pgx's convention for games of several players: `init(key) -> State`, `step(state, action)`.

Decisions are taken in turn; use `twinstep.adapters.players` for a game in which several players
decide at once. There is no auto-reset: a step after the end changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from twinstep.contract import Discrete
from twinstep.env.make import Env
from twinstep.env.single_lane import Lane, seed_of
from twinstep.errors import UserError
from twinstep.frames import Array


class State(NamedTuple):
    """One game. current_player: i32[]. observation: the current player's. rewards: f32[P]."""

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    inner: Any
    seen: Array


class Pgx:
    """A traceable environment with auto-reset off, to be vmapped by the trainer."""

    def __init__(self, env: Env) -> None:
        if env.auto_reset != "off":
            raise UserError(f"pgx games end for good; make it with auto_reset='off': {env!r}")
        if not isinstance(env.action, Discrete):
            raise UserError(f"pgx knows discrete actions; {env.id} has real-valued ones")
        self.env = env
        self.num_players = env.contract.players
        self.num_actions = env.action.n
        self._lane = Lane(env)

    @property
    def id(self) -> str:
        """The environment's id."""
        return self.env.id

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of one player's observation."""
        return self.env.observation.shape

    def init(self, key: Array) -> State:
        """Begin the game with the key as its seed."""
        inner, now = self._lane.init(seed_of(key))
        return self._state(inner, now)

    def step(self, state: State, action: Array, key: Array | None = None) -> State:
        """Apply the current player's action i32[]; after the end nothing changes."""
        action = jnp.asarray(action, jnp.int32)
        if self.num_players > 1:
            action = jnp.zeros(self.num_players, jnp.int32).at[state.current_player].set(action)
        inner, now = self._lane.step(state.inner, action)
        after = self._state(inner, now)
        over: Any = state.terminated | state.truncated
        final = state._replace(rewards=jnp.zeros_like(state.rewards))
        return jax.tree.map(lambda a, b: jnp.where(over, a, b), final, after)

    def observe(self, state: State, player: Array) -> Array:
        """Return a player's observation."""
        return state.seen[player]

    def _state(self, inner: Any, now: Any) -> State:
        one = self.num_players == 1
        seen = now.obs[None] if one else now.obs
        player = jnp.int32(0) if one else jnp.argmax(now.acting).astype(jnp.int32)
        legal = jnp.ones(self.num_actions, bool) if now.legal is None else now.legal
        return State(
            current_player=player,
            observation=seen[player],
            rewards=jnp.atleast_1d(now.reward),
            terminated=now.terminated,
            truncated=now.truncated,
            legal_action_mask=legal if one or now.legal is None else legal[player],
            inner=inner,
            seen=seen,
        )
