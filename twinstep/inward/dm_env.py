"""dm_env's environments as oracles, through Gymnasium's interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np

from twinstep.errors import UserError
from twinstep.inward._checks import required
from twinstep.inward._gym_episode import GymEpisode, GymHooks
from twinstep.inward.gym_objects import oracle_from_gym


def oracle_from_dm_env(make: Callable[..., Any], **hooks: Unpack[GymHooks]) -> type[GymEpisode]:
    """Return an oracle's class made of a dm_env environment, one episode.

    make() -> environment; where it has an argument `seed`, one is made for each episode: dm_env's
    `reset` takes none. hooks: see `GymHooks`; their `env` is a `DmEnv`, with the environment itself
    in `unwrapped`. An observation with parts is compared as one flat array in the parts' order. A
    last step with a discount of 0 is terminated, another truncated. UserError if `make` returns
    something else.
    """
    return oracle_from_gym(lambda: DmEnv(make), **hooks)


class DmEnv:
    """A dm_env environment with Gymnasium's interface. unwrapped: the environment itself."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make, self._seeded = make, "seed" in inspect.signature(make).parameters
        self.unwrapped = self._made(0)
        self.action_space = Actions(self.unwrapped.action_spec())

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, Any]:
        """Begin the episode of a seed; return (obs, {})."""
        if self._seeded and seed is not None:
            # Some libraries' generators take no more bits.
            self.unwrapped = self._made(seed & 0xFFFFFFFF)
        return _joined(self.unwrapped.reset().observation), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Apply an action; return (obs, reward, terminated, truncated, {})."""
        now = self.unwrapped.step(action)
        last, over = bool(now.last()), not np.any(np.asarray(now.discount))
        reward = 0.0 if now.reward is None else now.reward
        return _joined(now.observation), reward, last and over, last and not over, {}

    def close(self) -> None:
        """Free the environment."""
        self.unwrapped.close()

    def _made(self, seed: int) -> Any:
        env = self._make(seed=seed) if self._seeded else self._make()
        methods = ("reset", "step", "action_spec")
        required(env, "oracle_from_dm_env", methods, "a dm_env.Environment")
        return env


class Actions:
    """An action spec as a space of Gymnasium's, which need not be there. n: of a discrete one."""

    def __init__(self, spec: Any) -> None:
        self.shape, self.dtype = tuple(getattr(spec, "shape", ())), np.dtype(spec.dtype)
        self.low, self.high = getattr(spec, "minimum", np.nan), getattr(spec, "maximum", np.nan)
        if not self.shape and self.dtype.kind in "iu":
            if np.any(self.low != 0):
                raise UserError("oracle_from_dm_env: actions are counted from 0: wrap it")
            self.n = int(self.high) + 1
        self._rng = np.random.default_rng()

    def __str__(self) -> str:
        return f"of shape {list(self.shape)} from {self.low} to {self.high}"

    def seed(self, seed: int) -> None:
        """Begin the draws of a seed."""
        self._rng = np.random.default_rng(seed)

    def sample(self) -> Any:
        """Return an action."""
        if hasattr(self, "n"):
            return int(self._rng.integers(self.n))
        return self._rng.uniform(self.low, self.high, self.shape).astype(self.dtype)


def _joined(observation: Any) -> np.ndarray:
    """Return an observation as one array, its parts flat and one after the other."""
    if not isinstance(observation, Mapping):
        return np.asarray(observation)
    return np.concatenate([np.ravel(np.asarray(part)) for part in observation.values()])
