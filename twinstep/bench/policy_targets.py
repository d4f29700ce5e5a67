"""Rollouts with a policy in the loop, compiled whole, and the same without the network."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from twinstep.bench.jax_targets import CompiledPlay, wide
from twinstep.bench.targets import AUTO_RESET, Job, NamedTarget
from twinstep.env.make import Env
from twinstep.frames import Array, Fields
from twinstep.project.registry import EnvVariant
from twinstep.rl.policies import Policy

#: name -> units of the tanh layers, units of the GRU after them (2 million parameters).
POLICIES = {"mlp": ((64, 64), 0), "gru": ((64, 64), 784)}


def policy_entries(subject: EnvVariant, job: Job) -> list[NamedTarget]:
    """Return the rollout with the network, and the one that draws its actions without it."""
    env = Env(subject, job.backend, AUTO_RESET)
    policy = Policy.of(subject.contract, *POLICIES[job.how])
    return [
        NamedTarget(f"{job.backend}, {job.how}", PolicyTarget(env, policy, job, True)),
        NamedTarget(f"{job.backend}, drawn", PolicyTarget(env, policy, job, False)),
    ]


class PolicyTarget:
    """N lanes that act on their observations; see targets.Target, whose actions it does not use.

    network: False draws the actions from the same noise without the network. The outputs are those
    that a trainer keeps: observations, choices, values, rewards and ends.
    """

    def __init__(self, env: Env, policy: Policy, job: Job, network: bool) -> None:
        self._env, self._policy, self._network = env, policy, network
        self._lanes, self._steps = job.played, job.steps
        self.dtype, self.platform = env.dtype, env.platform
        self._params = jax.device_put(policy.init(jax.random.key(0)))
        self._compiled = CompiledPlay(self._roll)
        self.about = self._compiled.about
        weights = [v for name, v in self._params.items() if name.endswith("_w")]
        self.about |= {
            "parameters": sum(v.size for v in self._params.values()),
            "network_dtype": "float32",
            "flops_per_step": 2 * sum(v.size for v in weights) if network else 0,
        }
        self._carry: Any = None
        self._rows: Any = None
        self._key: Any = None

    def begin(self, seeds: np.ndarray, actions: np.ndarray) -> None:
        """See Target."""
        state, first = self._env.reset(seeds)
        memory = jnp.asarray(self._policy.blank(self._lanes))
        fresh = jnp.ones(self._lanes, bool)
        self._carry = (state, self._features(first.obs), first.legal, fresh, memory)
        self._key = jax.random.key(1)

    def play(self) -> None:
        """See Target."""
        self._rows = None
        with wide(self._env):
            carry, self._rows = self._compiled(self._carry, self._params, self._key)
        self._carry, self._key = carry[:-1], carry[-1]

    def shown(self) -> Fields:
        """See Target; the observations are those that the network saw."""
        rows, self._rows = self._rows, None
        return {name: np.asarray(value) for name, value in rows.items()}

    def state(self) -> Fields:
        """See Target."""
        return {}

    def _features(self, obs: Array) -> Array:
        return obs.reshape(self._lanes, -1).astype(jnp.float32)

    def _roll(self, carry: Any, params: Any, key: Array) -> Any:
        key, here = jax.random.split(key)

        def one(carry: Any, key: Array) -> tuple[Any, dict[str, Array]]:
            state, obs, legal, fresh, memory = carry
            noise = self._policy.noise(key, self._lanes)
            rows = {"obs": obs}
            out = jnp.zeros_like(noise)
            if self._network:
                memory, out, rows["value"] = self._policy.apply(params, memory, obs, fresh)
            choice = rows["choice"] = self._policy.sample(params, out, noise, legal)
            state, now = self._env.step(state, self._policy.actions(choice))
            rows |= {n: getattr(now, n) for n in ("reward", "terminated", "truncated")}
            ended = now.terminated | now.truncated
            return (state, self._features(now.obs), now.legal, ended, memory), rows

        carry, rows = lax.scan(one, tuple(carry), jax.random.split(here, self._steps))
        return (*carry, key), rows
