"""Stable-Baselines3's `VecEnv` over any backend. Needs gymnasium.

Stable-Baselines3 itself is not needed; where it is installed this is one of its own classes, which
its algorithms require.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.adapters.gymnasium import VectorEnv
from twinstep.env.make import Env
from twinstep.errors import UserError

_Base: Any
try:
    from stable_baselines3.common.vec_env import (  # pyright: ignore[reportMissingImports]
        VecEnv as _Base,
    )
except ImportError:
    _Base = object


class VecEnv(_Base):
    """`num_envs` lanes with same-step auto-reset: PPO("MlpPolicy", VecEnv(env, 64)).

    step(actions) -> (obs, rewards, dones, infos); arrays belong to the caller. Only in lanes that
    ended, infos[k] holds `terminal_observation`, the episode's last observation, and
    `TimeLimit.truncated`, whether it was truncated and not terminated. A legal action mask is in
    infos[k]["action_mask"]. Stable-Baselines3's `VecMonitor` logs scores.
    """

    def __init__(self, env: Env, num_envs: int) -> None:
        if env.auto_reset != "same-step":
            raise UserError(
                f"Stable-Baselines3 resets in the same step; this has '{env.auto_reset}'"
            )
        self.vector = VectorEnv(env, num_envs)
        self._actions: Any = None
        self._seed: int | None = None
        spaces = (self.vector.single_observation_space, self.vector.single_action_space)
        if _Base is object:
            self.num_envs = num_envs
            self.observation_space, self.action_space = spaces
            self.render_mode = None
        else:
            super().__init__(num_envs, *spaces)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seed of the next reset: seed + k for lane k, None for the seeds that follow."""
        self._seed = seed
        return [None if seed is None else seed + k for k in range(self.num_envs)]

    def reset(self) -> np.ndarray:
        """Begin an episode in every lane; return the observations [N, ...]."""
        obs, info = self.vector.reset(seed=self._seed)
        self._seed = None
        self.reset_infos = self._by_lane(info)
        return obs

    def step_async(self, actions: Any) -> None:
        """Take the actions [N, ...] of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the step; return (obs [N, ...], rewards [N], dones bool[N], infos)."""
        obs, reward, terminated, truncated, info = self.vector.step(self._actions)
        infos = self._by_lane(info)
        done = terminated | truncated
        for k in np.flatnonzero(done):
            infos[k]["terminal_observation"] = info["final_obs"][k]
            infos[k]["TimeLimit.truncated"] = bool(truncated[k] and not terminated[k])
        return obs, reward, done, infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Apply actions [N, ...]; return the values of `step_wait`."""
        self.step_async(actions)
        return self.step_wait()

    def close(self) -> None:
        """Free the backend's resources."""
        self.vector.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the Gymnasium environment, the same for each lane."""
        return [getattr(self.vector, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise UserError: the lanes are one environment."""
        raise UserError(f"cannot set '{attr_name}': the lanes are one environment, as it was made")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **named: Any) -> Any:
        """Raise AttributeError: no lane has methods of its own."""
        raise AttributeError(f"no '{method_name}': the lanes are one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each lane: none is wrapped."""
        return [False] * self._count(indices)

    def _by_lane(self, info: dict[str, Any]) -> list[dict[str, Any]]:
        masks = info.get("action_mask")
        if masks is None:
            return [{} for _ in range(self.num_envs)]
        return [{"action_mask": mask} for mask in masks]

    def _count(self, indices: Any) -> int:
        return self.num_envs if indices is None else np.size(indices)
