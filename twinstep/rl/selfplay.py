"""A game of two in which one policy plays both sides: 2 N lanes of one player each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from twinstep.env.make import Env
from twinstep.env.timestep import TimeStep
from twinstep.errors import UserError
from twinstep.frames import Array
from twinstep.rl.versus import Game, on_host


class SelfPlayState(NamedTuple):
    """inner: the environment's. asked: bool[N, 2], who decides. potential: f32[2 N]."""

    inner: Any
    asked: Array
    potential: Array


class SelfPlay(Game):
    """An environment of two, both of whose players are lanes; see env.Env for what is alike.

    Lanes 2 k and 2 k + 1 are the first and the second player of game k. Who is not asked has an
    empty legal action mask: what the policy draws there is not played, and teaches it nothing.
    """

    def __init__(
        self,
        env: Env,
        potential: Callable[[Array, Any], Array] | None = None,
        gamma: float = 1.0,
    ) -> None:
        super().__init__(env, potential, gamma)

    def reset(self, seeds: Array) -> tuple[SelfPlayState, TimeStep]:
        """Begin a game for each pair of seeds u32[2 N, 2], from the first of the two."""
        if len(seeds) % 2:
            raise UserError(f"self-play needs an even number of lanes, not {len(seeds)}")
        inner, now = self._env.reset(np.asarray(seeds, np.uint32)[::2])
        now = on_host(now)
        shown = _lanes(now, np)
        return SelfPlayState(inner, _asked(now), self._worth(shown.obs, np)), shown

    def step(self, state: SelfPlayState, actions: Array) -> tuple[SelfPlayState, TimeStep]:
        """Apply actions i32[2 N] or [2 N, 1]."""
        xp: Any = jnp if isinstance(actions, Tracer) else np
        played = actions.reshape(-1, 2).astype(np.int32)
        played = xp.where(state.asked, played, xp.zeros_like(played))
        inner, now = self._env.step(state.inner, played)
        now = now if xp is jnp else on_host(now)
        shown = _lanes(now, xp)
        here = self._worth(shown.obs, xp)
        ended = shown.terminated | shown.truncated
        reward = self._paid(shown.reward, ended, state.potential, here, xp)
        return SelfPlayState(inner, _asked(now), here), shown._replace(reward=reward)


def _asked(now: TimeStep) -> Array:
    assert now.legal is not None, "asked of masked games only"
    return now.legal.any(-1)


def _lanes(now: TimeStep, xp: Any) -> TimeStep:
    """Return the step of N games as that of 2 N lanes."""

    def own(values: Array) -> Array:
        return values.reshape(len(values) * 2, *values.shape[2:])

    def both(values: Array) -> Array:
        return xp.repeat(values, 2)

    assert now.legal is not None
    return TimeStep(
        own(now.obs), own(now.reward).astype(np.float32), both(now.terminated), both(now.truncated),
        own(now.final_obs), None, own(now.legal),
    )  # fmt: skip
