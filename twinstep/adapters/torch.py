"""torch tensors through DLPack: no copy where device and layout allow it. Needs torch."""
# pyright: reportAttributeAccessIssue=false, reportMissingImports=false

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import torch

from twinstep.env import Env
from twinstep.timestep import TimeStep


class Torch:
    """An `Env` whose actions and time steps are torch tensors, on the backend's device."""

    def __init__(self, env: Env) -> None:
        self.env = env

    def reset(self, seed: int = 0, lanes: int | None = None) -> tuple[Any, TimeStep]:
        """Begin an episode in every lane."""
        state, now = self.env.reset(seed, lanes)
        return state, _tensors(now)

    def step(self, state: Any, actions: torch.Tensor) -> tuple[Any, TimeStep]:
        """Apply actions [N, ...]."""
        dtype, _ = self.env.contract.action_layout()
        wanted = actions.to(getattr(torch, str(dtype))).contiguous()
        given = jax.dlpack.from_dlpack(wanted) if self.env.traceable else wanted.numpy()
        state, now = self.env.step(state, given)
        return state, _tensors(now)


def _tensors(now: TimeStep) -> TimeStep:
    return TimeStep(*(None if value is None else _tensor(value) for value in now))


def _tensor(value: Any) -> torch.Tensor:
    if isinstance(value, np.ndarray):
        # Tensors of read-only or strided arrays are copies; torch can write to every tensor.
        return torch.from_numpy(np.array(value))
    return torch.from_dlpack(value)
