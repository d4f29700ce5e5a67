"""Gymnasium's `VectorEnv` over any backend: NumPy in, NumPy out. Needs gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium  # pyright: ignore[reportMissingImports]
import numpy as np
from gymnasium.vector import AutoresetMode  # pyright: ignore[reportMissingImports]

from twinstep.contract import Box
from twinstep.env.make import Env
from twinstep.errors import UserError

_MODES = {
    "off": AutoresetMode.DISABLED,
    "same-step": AutoresetMode.SAME_STEP,
    "next-step": AutoresetMode.NEXT_STEP,
}


class VectorEnv(gymnasium.vector.VectorEnv):
    """`num_envs` lanes. reset(seed=...) -> (obs, info); step(actions) -> the five values.

    Arrays belong to the caller. With same-step auto-reset `info["final_obs"]` holds the last
    observations [N, ...] and `info["_final_obs"]` bool[N] the lanes that ended. A legal action
    mask is in `info["action_mask"]`. With auto-reset off, `reset(options=...)` has no mask: reset
    all lanes together.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, env: Env, num_envs: int) -> None:
        if env.contract.players != 1:
            raise UserError(f"a VectorEnv has one player; {env.id} has {env.contract.players}")
        if num_envs < 1:
            raise UserError(f"num_envs={num_envs}: at least 1 is needed")
        self.env = env
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": _MODES[env.auto_reset]}
        self.single_observation_space = observation_space(env)
        self.single_action_space = action_space(env)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._state: Any = None
        self._seed = 0
        self._dtype, shape = env.contract.action_layout()
        self._action_shape = (num_envs, *shape[1:])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in every lane, lane k with seed + k; by default with the next seeds."""
        self._seed = self._seed + self.num_envs if seed is None else seed
        super().reset(seed=seed)
        self._state, now = self.env.reset(self._seed % 2**32, self.num_envs)
        return np.array(now.obs), self._info(now)

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Apply actions [N, ...]."""
        if self._state is None:
            raise UserError("step before reset: call reset first")
        batch = np.asarray(actions, self._dtype).reshape(self._action_shape)
        self._state, now = self.env.step(self._state, batch)
        info = self._info(now)
        ended = np.asarray(now.terminated) | np.asarray(now.truncated)
        if self.env.auto_reset == "same-step" and ended.any():
            info |= {"final_obs": np.array(now.final_obs), "_final_obs": ended}
        values = (now.obs, now.reward, now.terminated, now.truncated)
        return (*(np.array(value) for value in values), info)

    def close(self, **kwargs: Any) -> None:
        """Free the backend's resources."""
        self.env.close()

    def _info(self, now: Any) -> dict[str, Any]:
        return {} if now.legal is None else {"action_mask": np.array(now.legal)}


def observation_space(env: Env) -> gymnasium.spaces.Box:
    """Return one player's observation space."""
    space = env.observation_space
    dtype: Any = space.dtype
    return gymnasium.spaces.Box(space.low, space.high, space.shape, dtype)


def action_space(env: Env) -> gymnasium.spaces.Space[Any]:
    """Return one player's action space; a real-valued action without axes gets one."""
    action = env.action
    if isinstance(action, Box):
        dtype: Any = np.dtype(action.dtype)
        return gymnasium.spaces.Box(action.low, action.high, action.shape or (1,), dtype)
    return gymnasium.spaces.Discrete(action.n)
