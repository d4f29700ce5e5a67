"""PPO's loss: the clipped objective on whole lanes, and its GAE advantages."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from twinstep.frames import Array
from twinstep.plans import PPO
from twinstep.rl.policies import Params, Policy


def advantages(
    reward: Array,
    value: Array,
    following: Array,
    terminated: Array,
    truncated: Array,
    gamma: float,
    lam: float,
) -> Array:
    """Return GAE advantages f32[T, N].

    All are [T, N]. value: value of the observation before the step. following: value of the next
    observation of the same episode, `final_obs`; it counts after a truncation, but not after a
    termination. Nothing is carried across the end of an episode.
    """
    delta = reward + gamma * jnp.where(terminated, 0.0, following) - value
    ended: Array = terminated | truncated
    decay = gamma * lam * jnp.where(ended, 0.0, jnp.ones_like(delta))

    def back(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        delta, decay = now
        here = delta + decay * later
        return here, here

    return lax.scan(back, jnp.zeros_like(delta[0]), (delta, decay), reverse=True)[1]


def loss(
    policy: Policy, ppo: PPO, params: Params, data: Any, before: Array
) -> tuple[Array, dict[str, Array]]:
    """Return PPO's loss on whole lanes [n, T, ...]; before: hidden state f32[n, M]."""
    obs, legal, is_first, choice, old, advantage, target = jax.tree.map(
        lambda x: x.swapaxes(0, 1), data
    )
    out, value = unroll(policy, params, before, obs, is_first)
    outputs = [None if x is None else flat(x) for x in (out, choice, legal)]
    log_prob, entropy = policy.log_prob_and_entropy(params, *outputs)
    ratio = jnp.exp(log_prob - old.ravel())
    gain = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = gain.ravel()
    clipped = jnp.clip(ratio, 1 - ppo.clip, 1 + ppo.clip)
    actor = -jnp.minimum(ratio * gain, clipped * gain).mean()
    critic = 0.5 * ((value - target) ** 2).mean()
    stats = {
        "entropy": entropy.mean(),
        "value_loss": critic,
        "ratio_kl": (ratio - 1 - jnp.log(ratio)).mean(),
    }
    return actor + ppo.value * critic - ppo.entropy * entropy.mean(), stats


def unroll(
    policy: Policy, params: Params, hidden: Array, obs: Array, is_first: Array
) -> tuple[Array, Array]:
    """Return outputs [T, n, A] and values [T, n] of observations [T, n, K] in order."""
    if not policy.memory:
        steps, lanes, _ = obs.shape
        blank = jnp.zeros((steps * lanes, 0), jnp.float32)
        _, out, value = policy.apply(params, blank, flat(obs), is_first.ravel())
        return out.reshape(steps, lanes, -1), value.reshape(steps, lanes)

    def step(hidden: Array, now: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        hidden, out, value = policy.apply(params, hidden, *now)
        return hidden, (out, value)

    return lax.scan(step, hidden, (obs, is_first))[1]


def flat(x: Array) -> Array:
    """Join the two leading axes; another may have no elements."""
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])
