"""A game of two in which one policy plays both sides: 2 N lanes of one player each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from twinstep.contract import Contract
from twinstep.env import Env
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.timestep import TimeStep


class SelfPlayState(NamedTuple):
    """inner: the environment's. asked: bool[N, 2], who decides. potential: f32[2 N]."""

    inner: Any
    asked: Array
    potential: Array


class SelfPlay:
    """An environment of two, both of whose players are lanes; see env.Env for what is alike.

    Lanes 2 k and 2 k + 1 are the first and the second player of game k. Each is paid as in
    versus.Versus: 1 for a win, 1/2 for a tie, 0 else, with the game's last step, and the increase
    of the potential where there is one. Who is not asked has an empty legal action mask: what the
    policy draws there is not played, and teaches it nothing.
    """

    def __init__(
        self,
        env: Env,
        potential: Callable[[Array, Any], Array] | None = None,
        gamma: float = 1.0,
    ) -> None:
        if env.contract.players != 2 or not env.contract.masked:
            raise UserError(f"{env.id} is no game of two players with legal action masks")
        self._env = env
        self._potential, self._gamma = potential, np.float32(gamma)
        self.contract: Contract = dataclasses.replace(env.contract, players=1)
        self.backend, self.auto_reset, self.traceable = env.backend, env.auto_reset, env.traceable
        self.dtype, self.platform = env.dtype, env.platform

    def reset(self, seeds: Array) -> tuple[SelfPlayState, TimeStep]:
        """Begin a game for each pair of seeds u32[2 N, 2], from the first of the two."""
        if len(seeds) % 2:
            raise UserError(f"self-play needs an even number of lanes, not {len(seeds)}")
        inner, now = self._env.reset(np.asarray(seeds, np.uint32)[::2])
        now = jax.tree.map(np.asarray, now)
        shown = _lanes(now, now.reward, np)
        return SelfPlayState(inner, _asked(now), self._worth(shown.obs, np)), shown

    def step(self, state: SelfPlayState, actions: Array) -> tuple[SelfPlayState, TimeStep]:
        """Apply actions i32[2 N] or [2 N, 1]."""
        xp: Any = jnp if isinstance(actions, Tracer) else np
        played = actions.reshape(-1, 2).astype(np.int32)
        played = xp.where(state.asked, played, xp.zeros_like(played))
        inner, now = self._env.step(state.inner, played)
        now = now if xp is jnp else jax.tree.map(np.asarray, now)
        ended = (now.terminated | now.truncated)[:, None]
        won = (now.reward + np.float32(1)) * np.float32(0.5)
        shown = _lanes(now, xp.where(ended, won, xp.zeros_like(won)), xp)
        here = self._worth(shown.obs, xp)
        if self._potential is not None:
            over = shown.terminated | shown.truncated
            paid = self._gamma * xp.where(over, xp.zeros_like(here), here) - state.potential
            shown = shown._replace(reward=shown.reward + paid)
        return SelfPlayState(inner, _asked(now), here), shown

    def close(self) -> None:
        """Free what the environment holds."""
        self._env.close()

    def _worth(self, obs: Array, xp: Any) -> Array:
        if self._potential is None:
            return xp.zeros(len(obs), np.float32)
        return self._potential(obs, xp)


def _asked(now: TimeStep) -> Array:
    assert now.legal is not None, "asked of masked games only"
    return now.legal.any(-1)


def _lanes(now: TimeStep, reward: Array, xp: Any) -> TimeStep:
    """Return the step of N games as that of 2 N lanes."""

    def own(values: Array) -> Array:
        return values.reshape(len(values) * 2, *values.shape[2:])

    def both(values: Array) -> Array:
        return xp.repeat(values, 2)

    assert now.legal is not None
    return TimeStep(
        own(now.obs), own(reward).astype(np.float32), both(now.terminated), both(now.truncated),
        own(now.final_obs), None, own(now.legal),
    )  # fmt: skip
