"""PufferLib 3's convention: five values in buffers that the caller shares, flat NumPy arrays.

PufferLib itself is not needed; where it is installed this is a `PufferEnv`, which its trainer and
its vectorization require.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinstep.contract import Box
from twinstep.env.make import Env
from twinstep.errors import UserError

_Base: Any
try:
    from pufferlib import PufferEnv as _Base  # pyright: ignore[reportMissingImports]
except ImportError:
    _Base = object


class Puffer(_Base):
    """`num_agents` lanes with same-step auto-reset, as PufferLib's own C environments have.

    Each step writes observations [N, ...], rewards f32[N], terminals and truncations bool[N], masks
    bool[N] and actions in place and returns them without a copy; pass `buffers` (name -> array)
    to share them. Infos are empty.
    """

    def __init__(
        self, env: Env, num_agents: int, buffers: dict[str, np.ndarray] | None = None
    ) -> None:
        if env.contract.players != 1:
            raise UserError(f"one player a lane is expected; {env.id} has {env.contract.players}")
        if env.auto_reset != "same-step":
            raise UserError(f"PufferLib resets in the same step; this has '{env.auto_reset}'")
        self.env = env
        self.num_agents = num_agents
        action, shape = env.contract.action_layout()
        field = env.observation
        inner = (1,) if isinstance(env.action, Box) and not shape[1:] else shape[1:]
        layout = {
            "observations": (field.dtype, (num_agents, *field.shape)),
            "rewards": ("float32", (num_agents,)),
            "terminals": ("bool", (num_agents,)),
            "truncations": ("bool", (num_agents,)),
            "masks": ("bool", (num_agents,)),
            "actions": (action, (num_agents, *inner)),
        }
        shared = buffers or {}
        self.buffers = {n: shared.get(n, np.zeros(s, d)) for n, (d, s) in layout.items()}
        for name, (dtype, expected) in layout.items():
            buffer = self.buffers[name]
            if buffer.dtype != np.dtype(dtype) or buffer.shape != expected:
                raise UserError(
                    f"buffer {name} is {buffer.dtype}{list(buffer.shape)}, expected "
                    f"{np.dtype(dtype)}{list(expected)}"
                )
        self._state: Any = None
        if _Base is not object:
            from twinstep.adapters import gymnasium

            self.single_observation_space = gymnasium.observation_space(env)
            self.single_action_space = gymnasium.action_space(env)
            # Newer versions have one more buffer, for the actions of another policy.
            others = {"teacher_actions": np.zeros_like(self.buffers["actions"])}
            super().__init__(others | shared | self.buffers)

    def reset(self, seed: int | None = 0) -> tuple[np.ndarray, list[dict[str, Any]]]:
        """Begin an episode in every lane; return (observations, infos)."""
        self._state, now = self.env.reset(seed or 0, self.num_agents)
        self._write(now)
        self.buffers["masks"][:] = True
        return self.buffers["observations"], []

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        """Apply actions [N, ...]; return the five values, the same arrays each time."""
        self.buffers["actions"][:] = np.asarray(actions).reshape(self.buffers["actions"].shape)
        self._state, now = self.env.step(self._state, self.buffers["actions"])
        self._write(now)
        now = self.buffers
        return (now["observations"], now["rewards"], now["terminals"], now["truncations"], [])

    def close(self) -> None:
        """Free the backend's resources."""
        self.env.close()

    def _write(self, now: Any) -> None:
        self.buffers["observations"][:] = now.obs
        self.buffers["rewards"][:] = now.reward
        self.buffers["terminals"][:] = now.terminated
        self.buffers["truncations"][:] = now.truncated
