"""Other projects' HalfCheetahs, whole environments with models of their own. See peers.PEERS."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from twinstep.bench.targets import Job
from twinstep.contract import Contract
from twinstep.frames import Fields


class EnvPool:
    """EnvPool's HalfCheetah-v4, all environments in each call; see targets.Target."""

    dtype, platform = "float32", "cpu"  # its rewards; observations are float64

    def __init__(self, contract: Contract, job: Job) -> None:
        self._limit, self._threads = contract.params["max_episode_steps"], job.threads
        self._envs: Any = None
        self._written: Fields = {}

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See targets.Target; its generators take one seed for all."""
        steps, lanes = actions.shape[:2]
        self._actions = np.ascontiguousarray(actions[:, :, 0], np.float64)
        if self._envs is None:
            self._envs = importlib.import_module("envpool").make(
                "HalfCheetah-v4",
                env_type="gymnasium",
                num_envs=lanes,
                batch_size=lanes,
                num_threads=self._threads,
                seed=int(seeds[0, 0]) & 0x7FFF_FFFF,
                max_episode_steps=self._limit,
            )
        self._envs.reset()
        self._written = {
            "obs": np.zeros((steps, lanes, 17)),
            "reward": np.zeros((steps, lanes), np.float32),
            "terminated": np.zeros((steps, lanes), bool),
            "truncated": np.zeros((steps, lanes), bool),
        }

    def play(self) -> None:
        """See targets.Target."""
        rows = list(self._written.values())
        for t, actions in enumerate(self._actions):
            for row, value in zip(rows, self._envs.step(actions)[:4], strict=True):
                row[t] = value

    def shown(self) -> Fields:
        """See targets.Target; the next `play` writes over it."""
        return self._written

    def state(self) -> Fields:
        """Return nothing: EnvPool does not expose it."""
        return {}


class Brax:
    """Brax's halfcheetah with its own wrappers, compiled for all steps; see targets.Target."""

    dtype = "float32"

    def __init__(self, contract: Contract, job: Job, backend: str) -> None:
        import jax
        from brax import envs

        from twinstep.bench.jax_targets import CompiledPlay

        self.platform = jax.default_backend()
        self._env = envs.create(
            "halfcheetah",
            episode_length=contract.params["max_episode_steps"],
            auto_reset=True,
            batch_size=job.played,
            backend=backend,
        )
        self._reset, self._compiled = jax.jit(self._env.reset), CompiledPlay(self._all)
        self.about = self._compiled.about
        self._state: Any = None
        self._given: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See targets.Target; Brax splits one key for all lanes."""
        import jax

        state = self._reset(jax.random.PRNGKey(int(seeds[0, 0])))
        # The first state occurs twice in it. `play` consumes it, and no array can go twice.
        self._state = jax.tree.map(lambda leaf: leaf.copy(), state)
        self._actions = jax.device_put(np.ascontiguousarray(actions[:, :, 0]))

    def play(self) -> None:
        """See targets.Target."""
        self._given = None
        self._state, self._given = self._compiled(self._state, self._actions)

    def shown(self) -> Fields:
        """See targets.Target."""
        obs, reward, done, truncated = map(np.asarray, self._given)
        ended = {"terminated": (done > truncated), "truncated": truncated > 0}
        return {"obs": obs, "reward": reward, **ended}

    def state(self) -> Fields:
        """Return nothing: its state has other fields."""
        return {}

    def _all(self, state: Any, actions: Any) -> Any:
        import jax

        def step(state: Any, action: Any) -> Any:
            state = self._env.step(state, action)
            return state, (state.obs, state.reward, state.done, state.info["truncation"])

        return jax.lax.scan(step, state, actions)
