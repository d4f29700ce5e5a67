"""torch tensors through DLPack. Needs torch.

With a JAX backend outputs are not copied. Actions are not copied either if they have the
environment's dtype, are contiguous on its device and are aligned as XLA requires (torch's own
memory is). Tensors from a backend that gives NumPy arrays are copies. Either way they belong to the
caller: a later step neither changes them nor sees what was written into them.
"""
# pyright: reportAttributeAccessIssue=false, reportMissingImports=false

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import torch

from twinstep.env.make import Env
from twinstep.env.timestep import TimeStep


class Torch:
    """An `Env` whose actions and time steps are torch tensors, on the backend's device.

    A state stays the backend's own. Dtypes are the environment's; bool is `torch.bool`.
    """

    def __init__(self, env: Env) -> None:
        self.env = env
        dtype, _ = env.contract.action_layout()
        self._dtype = getattr(torch, str(dtype))
        self.device = torch.device("cpu" if env.platform == "cpu" else "cuda")

    def reset(
        self, seed: int = 0, lanes: int | None = None, *, num_envs: int | None = None
    ) -> tuple[Any, TimeStep]:
        """Begin an episode in every lane: lane k with seed (seed + k, 0); see `Env.reset`."""
        state, now = self.env.reset(seed, lanes, num_envs=num_envs)
        return state, _tensors(now)

    def step(self, state: Any, actions: torch.Tensor) -> tuple[Any, TimeStep]:
        """Apply actions [N, ...] of any real dtype and device; no gradient goes through.

        They may be overwritten as soon as this returns.
        """
        tensor = actions.detach().to(self.device, self._dtype).contiguous()
        if not self.env.traceable:
            state, now = self.env.step(state, tensor.numpy())
            return state, _tensors(now)
        with self.env._precision():  # else float64 would arrive as float32
            array = jax.dlpack.from_dlpack(tensor)
        state, now = self.env.step(state, array)
        # The export of each value waits for it, and so for the step that reads the actions.
        return state, _tensors(now)


def _tensors(now: TimeStep) -> TimeStep:
    return TimeStep(*(None if value is None else _tensor(value) for value in now))


def _tensor(value: Any) -> torch.Tensor:
    if isinstance(value, np.ndarray):
        # Such arrays may be read-only, strided or reused; every tensor must be writable.
        return torch.from_numpy(np.array(value))
    return torch.from_dlpack(value)
