"""A PPO loop as JAX users write it trains Pong through the gymnax adapter, in one compiled call.

Nothing of it is twinstep's own trainer: it sees `reset`, `step` and the spaces only. Learning alone
would forgive a wrong adapter, so that what the loop has seen is also held against Pong's rules.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import twinstep
from twinstep.adapters.gymnax import Gymnax

pytestmark = pytest.mark.e2e

UPDATES, ENVS, STEPS, EPOCHS, MINIBATCHES = 80, 256, 32, 2, 8
GAMMA, LAM, CLIP, ENTROPY, RATE = 0.97, 0.9, 0.2, 0.01, 3e-3


class Seen(NamedTuple):
    """One step of the loop; stacked [updates, STEPS, ENVS, ...]."""

    obs: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array
    next_obs: jax.Array


def layers(key, *sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [(jax.random.normal(k, (a, b)) * (a**-0.5), jnp.zeros(b)) for k, a, b in pairs]


def network(params, obs):
    """Return log-probabilities [..., A] and values [...]."""
    out = []
    for part in params:
        x = obs
        for place, (weight, bias) in enumerate(part):
            x = x @ weight + jnp.broadcast_to(bias, (*x.shape[:-1], len(bias)))
            x = jnp.tanh(x) if place + 1 < len(part) else x
        out.append(x)
    return jax.nn.log_softmax(out[0]), out[1][..., 0]


def chosen(logs, action):
    return jnp.take_along_axis(logs, action[..., None], -1)[..., 0]


def train(env, updates, seed=0):
    """Return all steps of the loop in `updates` batches."""
    setting = env.default_params
    width = env.observation_space(setting).shape[0]
    choices = env.action_space(setting).n
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(RATE))
    reset = jax.vmap(env.reset, in_axes=(0, None))
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def loss(params, part):
        seen, advantage, target = part
        logs, value = network(params, seen.obs)
        ratio = jnp.exp(chosen(logs, seen.action) - seen.log_prob)
        gain = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        actor = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gain).mean()
        entropy = -(jnp.exp(logs) * logs).sum(-1).mean()
        return 0.5 * jnp.square(value - target).mean() - actor - ENTROPY * entropy

    def play(carry, key):
        params, state, obs = carry
        logs, value = network(params, obs)
        act, *keys = jax.random.split(key, 1 + ENVS)
        action = jax.random.categorical(act, logs)
        seen, state, reward, done, _ = step(jnp.stack(keys), state, action, setting)
        row = Seen(obs, action, chosen(logs, action), value, reward, done, seen)
        return (params, state, seen), row

    def back(carry, row):
        advantage, following = carry
        going = 1.0 - row.done.astype(jnp.float32)
        delta = row.reward + GAMMA * following * going - row.value
        advantage = delta + GAMMA * LAM * going * advantage
        return (advantage, row.value), advantage

    def learn(carry, part):
        params, memory = carry
        slope, memory = optimizer.update(jax.grad(loss)(params, part), memory, params)
        return (optax.apply_updates(params, slope), memory), None

    def update(carry, key):
        params, memory, state, obs = carry
        playing, *shuffles = jax.random.split(key, 1 + EPOCHS)
        (_, state, obs), rows = jax.lax.scan(
            play, (params, state, obs), jax.random.split(playing, STEPS)
        )
        last = network(params, obs)[1]
        _, advantage = jax.lax.scan(back, (jnp.zeros_like(last), last), rows, reverse=True)
        batch = rows, advantage, advantage + rows.value
        for shuffle in shuffles:
            order = jax.random.permutation(shuffle, STEPS * ENVS).reshape(MINIBATCHES, -1)
            parts = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[order], batch)  # noqa: B023
            (params, memory), _ = jax.lax.scan(learn, (params, memory), parts)
        return (params, memory, state, obs), rows

    def everything(key):
        actor, critic, begin, run = jax.random.split(key, 4)
        params = layers(actor, width, 64, 64, choices), layers(critic, width, 64, 64, 1)
        obs, state = reset(jax.random.split(begin, ENVS), setting)
        carry = params, optimizer.init(params), state, obs
        return jax.lax.scan(update, carry, jax.random.split(run, updates))[1]

    with jax.numpy_dtype_promotion("standard"):
        return jax.tree.map(np.asarray, jax.jit(everything)(jax.random.key(seed)))


def score(seen):
    """Return the mean score of the episodes that ended; Pong is played to one point."""
    return seen.reward[seen.done].sum() / max(1, seen.done.sum())


def require_pongs_rules(seen, firsts):
    """Check the loop's steps against the rules: a point ends the episode, and the next begins.

    firsts: f32[K, 8], the observations that an episode may begin with.
    """
    assert seen.done.any(), "no episode ended"
    scored = np.abs(seen.reward) == 1
    assert (scored == seen.done).all(), "a point and the end of an episode are not one step"
    begins = (seen.next_obs[..., None, :] == firsts).all(-1).any(-1)
    assert (begins == seen.done).all(), "the step that ends an episode does not show the next one"


def require_learned(seen, updates=10):
    before = score(jax.tree.map(lambda x: x[: updates // 2], seen))
    after = score(jax.tree.map(lambda x: x[-updates:], seen))
    assert before < -0.8, before
    assert after > 0, after


@pytest.fixture(scope="module")
def seen():
    return train(Gymnax(twinstep.make("pong-v0", "jax", max_score=1)), UPDATES)


@pytest.fixture(scope="module")
def firsts():
    """Pong's first observations, from another backend: the serve goes one of two ways."""
    _, now = twinstep.make("pong-v0", "rust", max_score=1).reset(0, 64)
    serves = np.unique(now.obs, axis=0)
    assert len(serves) == 2
    return serves


def test_pong_is_learned_by_a_loop_of_jit_scan_and_vmap(seen):
    """From losing nearly every point to winning more than it loses, in 655,360 steps."""
    require_learned(seen)


def test_what_the_loop_saw_is_pong(seen, firsts):
    require_pongs_rules(seen, firsts)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("reward", lambda seen: np.roll(seen.reward, 1, 1)),
        ("done", lambda seen: np.roll(seen.done, 1, 1)),
        ("done", lambda seen: np.zeros_like(seen.done)),
        ("next_obs", lambda seen: np.where(seen.done[..., None], seen.obs, seen.next_obs)),
        ("next_obs", lambda seen: np.roll(seen.next_obs, 1, 1)),
    ],
    ids=["reward late", "end late", "no ends", "last obs at an end", "obs late"],
)
def test_what_a_wrong_adapter_would_show_is_noticed(seen, firsts, field, change):
    wrong = seen._replace(**{field: change(seen)})
    with pytest.raises(AssertionError):
        require_pongs_rules(wrong, firsts)
