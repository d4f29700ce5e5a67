"""Targets that train PPO: the same policy network and the same steps in each backend."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import jax
import numpy as np

from twinstep.bench.targets import Job, NamedTarget
from twinstep.env.make import ORACLE
from twinstep.env.timestep import TimeStep
from twinstep.frames import Array, Fields
from twinstep.plans import CHUNK, PPO
from twinstep.project.registry import EnvVariant
from twinstep.rl.flops import of_an_iteration, parameters
from twinstep.rl.ppo import Trainer
from twinstep.rl.training.arenas import arena_of
from twinstep.rl.training.settings import settle
from twinstep.rl.versus import Arena


def training_entries(subject: EnvVariant, job: Job) -> list[NamedTarget]:
    """Return the trainer on the job's backend, or on the reference itself."""
    name = job.backend or ORACLE
    chosen = {"variant": subject.variant.name, "backend": name}
    settings = settle(subject.env.name, None, chosen)
    return [NamedTarget(f"{name}, PPO", TrainingTarget(arena_of(settings), settings.ppo, job))]


class TrainingTarget:
    """Train one policy; a `play` is some batches of it. See targets.Target.

    The job's actions are not used: the policy acts. Its lanes are the PPO's own.
    """

    def __init__(self, env: Any, ppo: PPO, job: Job) -> None:
        self.dtype, self.platform = env.dtype, env.platform
        self._env = Clocked(env)
        self._chunk = env.traceable
        own: Any = env if env.traceable else self._env
        self._trainer = Trainer(own, ppo)
        self._batches = max(1, job.steps // ppo.steps)
        policy = self._trainer.policy
        #: The network's operations per environment step.
        flops = of_an_iteration(policy, ppo) / (ppo.lanes * ppo.steps)
        self.about = {"parameters": parameters(policy), "flops": flops}
        self._carry: Any = None
        self._rounds: list[float] = []

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """Restart training from training seed 0."""
        self._carry = self._trainer.begin([0])
        self._rounds = []

    def play(self) -> None:
        """Train some more batches."""
        learner, player = self._carry
        self._env.seconds = 0.0
        if self._chunk:
            for _ in range(self._batches // CHUNK):
                learner, player, _ = self._trainer.chunk(learner, player)
        else:
            for _ in range(self._batches):
                learner, player, _ = self._trainer.batch_on_host(learner, player)
        jax.block_until_ready(learner.params)
        self._carry = (learner, player)
        self._rounds.append(self._env.seconds)

    def shown(self) -> Fields:
        """Return nothing: `after` returns the policy's hash."""
        return {}

    def state(self) -> Fields:
        """Return nothing."""
        return {}

    def after(self) -> dict[str, Any]:
        """Return the hash of the policy, and each round's seconds in the environment.

        Both are left out where environment and network are one compiled program: its floats may be
        rounded differently, and its time cannot be split.
        """
        if self._chunk:
            return {}
        total = hashlib.sha256()
        for name, values in sorted(self._carry[0].params.items()):
            total.update(name.encode() + np.asarray(values).tobytes())
        return {"policy": total.hexdigest()[:16], "environment_seconds": self._rounds}


class Clocked:
    """An environment that counts the seconds of its steps."""

    def __init__(self, env: Arena) -> None:
        self._inner = env
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def step(self, state: Any, actions: Array) -> tuple[Any, TimeStep]:
        """Step it."""
        begun = time.perf_counter()
        made = self._inner.step(state, actions)
        self.seconds += time.perf_counter() - begun
        return made
