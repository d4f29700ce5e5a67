"""gymnax's convention, common among JAX trainers: `reset(key)`, `step(key, state, action)`.

gymnax itself is not needed; where it is installed the spaces are its own, since trainers check
their class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from twinstep.contract import Box, Discrete
from twinstep.env.make import Env
from twinstep.env.single_lane import Lane, seed_of
from twinstep.errors import UserError
from twinstep.frames import Array


class Params(NamedTuple):
    """gymnax's parameters of an environment; ours are fixed by `make`."""

    max_steps_in_episode: int


class Gymnax:
    """One environment with same-step auto-reset, to be vmapped by the trainer.

    values: 5 for gymnax 0.x (obs, state, reward, done, info), 6 for 1.0 (separate terminated and
    truncated). info holds `terminated`, `truncated` and `final_obs`. The key of a reset is the
    episode's seed; the key of a step is unused, since an episode's own draws decide it.
    """

    def __init__(self, env: Env, values: int = 5) -> None:
        if env.auto_reset != "same-step":
            raise UserError(f"gymnax resets in the same step; this one has '{env.auto_reset}'")
        if env.contract.players != 1:
            raise UserError(f"gymnax knows one player; {env.id} has {env.contract.players}")
        if values not in (5, 6):
            raise UserError(f"values={values}: gymnax steps return 5 (0.x) or 6 (1.0)")
        self.env = env
        self._lane = Lane(env)
        self._values = values

    @property
    def name(self) -> str:
        """The environment's id."""
        return self.env.id

    @property
    def default_params(self) -> Params:
        """The contract's horizon; no parameter changes the game."""
        return Params(self.env.contract.horizon)

    @property
    def num_actions(self) -> int:
        """The number of discrete actions, or of real values in an action."""
        action = self.env.action
        return action.n if isinstance(action, Discrete) else max(1, *action.shape, 1)

    def reset(self, key: Array, params: Params | None = None) -> tuple[Array, Any]:
        """Return (obs, state)."""
        state, step = self._lane.init(seed_of(key))
        return step.obs, state

    def step(
        self, key: Array, state: Any, action: Array, params: Params | None = None
    ) -> tuple[Any, ...]:
        """Return (obs, state, reward, done, info), of 6 with terminated, truncated for done."""
        dtype, shape = self.env.contract.action_layout()
        action = jnp.asarray(action, dtype).reshape(shape[1:])
        state, now = self._lane.step(state, action)
        info = {
            "terminated": now.terminated,
            "truncated": now.truncated,
            "final_obs": now.final_obs,
        }
        if self._values == 6:
            return now.obs, state, now.reward, now.terminated, now.truncated, info
        return now.obs, state, now.reward, now.terminated | now.truncated, info

    def observation_space(self, params: Params | None = None) -> Any:
        """Return a Box with the observation's shape."""
        field = self.env.observation
        return _box(field.low, field.high, field.shape, jnp.dtype(field.dtype))

    def action_space(self, params: Params | None = None) -> Any:
        """Return a Discrete or a Box."""
        action = self.env.action
        if isinstance(action, Box):
            return _box(action.low, action.high, action.shape or (1,), jnp.dtype(action.dtype))
        spaces = _spaces()
        return action if spaces is None else spaces.Discrete(action.n)


class PlainBox(NamedTuple):
    """A box where gymnax is not installed."""

    low: Any
    high: Any
    shape: tuple[int, ...]
    dtype: Any


def _box(low: Any, high: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    low, high = (-jnp.inf if low is None else low), (jnp.inf if high is None else high)
    spaces = _spaces()
    kind = PlainBox if spaces is None else spaces.Box
    return kind(low, high, shape, dtype)


def _spaces() -> Any:
    try:
        from gymnax.environments import spaces  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    return spaces
