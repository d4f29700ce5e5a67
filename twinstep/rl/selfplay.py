"""Self-play: one policy plays both sides of a two-player game, as 2 N single-player lanes."""

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
    """inner: the environment's. acting: bool[N, 2], who decides. potential: f32[2 N]."""

    inner: Any
    acting: Array
    potential: Array


class SelfPlay(Game):
    """A two-player environment both of whose players are lanes; otherwise like env.Env.

    Lanes 2 k and 2 k + 1 are the first and the second player of game k. A player who does not act
    has an empty legal action mask: the action drawn there is not played and gives no gradient.
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
        return SelfPlayState(inner, _acting(now), self._worth(shown.obs, np)), shown

    def step(self, state: SelfPlayState, actions: Array) -> tuple[SelfPlayState, TimeStep]:
        """Apply actions i32[2 N] or [2 N, 1]."""
        xp: Any = jnp if isinstance(actions, Tracer) else np
        joint = actions.reshape(-1, 2).astype(np.int32)
        joint = xp.where(state.acting, joint, xp.zeros_like(joint))
        inner, now = self._env.step(state.inner, joint)
        now = now if xp is jnp else on_host(now)
        shown = _lanes(now, xp)
        here = self._worth(shown.obs, xp)
        ended = shown.terminated | shown.truncated
        reward = self._paid(shown.reward, ended, state.potential, here, xp)
        return SelfPlayState(inner, _acting(now), here), shown._replace(reward=reward)


def _acting(now: TimeStep) -> Array:
    assert now.legal is not None, "asked of masked games only"
    return now.legal.any(-1)


def _lanes(now: TimeStep, xp: Any) -> TimeStep:
    """Return the step of N games as a step of 2 N lanes."""

    def own(values: Array) -> Array:
        return values.reshape(len(values) * 2, *values.shape[2:])

    def both(values: Array) -> Array:
        return xp.repeat(values, 2)

    assert now.legal is not None
    return TimeStep(
        own(now.obs), own(now.reward).astype(np.float32), both(now.terminated), both(now.truncated),
        own(now.final_obs), None, own(now.legal),
    )  # fmt: skip
