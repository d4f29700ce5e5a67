"""A PPO loop as torch users write it trains Pong through tensors of DLPack, JAX's and Rust's.

Nothing of it is twinstep's own trainer. What it has seen is held against Pong's rules, as that of
the loop in plain JAX. Run by `make trainers`.
"""

import numpy as np
import pytest

import twinstep
from twinstep.tests.adapters.test_trainers_scan import (
    Seen,
    require_learned,
    require_pongs_rules,
    score,
)

torch = pytest.importorskip("torch", reason="torch is not installed: make trainers")

from twinstep.adapters.torch import Torch  # noqa: E402

pytestmark = pytest.mark.e2e

UPDATES, ENVS, STEPS, EPOCHS, MINIBATCHES = 80, 256, 32, 2, 8
GAMMA, LAM, CLIP, ENTROPY, RATE = 0.97, 0.9, 0.2, 0.01, 3e-3


def network(inputs, outputs):
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


def advantages(reward, value, following, done):
    """Return GAE's f32[T, N]. Pong to one point ends by termination alone."""
    gains, running = torch.zeros_like(reward), torch.zeros_like(reward[0])
    for t in reversed(range(STEPS)):
        going = 1.0 - done[t].float()
        after = value[t + 1] if t + 1 < STEPS else following
        delta = reward[t] + GAMMA * after * going - value[t]
        running = delta + GAMMA * LAM * going * running
        gains[t] = running
    return gains


def learn(actor, critic, optimizer, batch):
    """Pass over a batch EPOCHS times; its parts are [T * N, ...]."""
    obs, action, log_prob, advantage, target = batch
    for order in (torch.randperm(STEPS * ENVS) for _ in range(EPOCHS)):
        for part in order.reshape(MINIBATCHES, -1):
            policy = torch.distributions.Categorical(logits=actor(obs[part]))
            ratio = (policy.log_prob(action[part]) - log_prob[part]).exp()
            gain = advantage[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = ratio.clip(1 - CLIP, 1 + CLIP)
            loss = (
                0.5 * (critic(obs[part])[:, 0] - target[part]).square().mean()
                - torch.minimum(ratio * gain, clipped * gain).mean()
                - ENTROPY * policy.entropy().mean()
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimizer.step()


def train(env, updates, seed=0):
    """Return all steps of the loop in `updates` batches."""
    torch.manual_seed(seed)
    state, now = env.reset(seed, ENVS)
    width = now.obs.shape[1]
    actor, critic = network(width, env.env.contract.action.n), network(width, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=RATE)
    batches = []
    for _ in range(updates):
        rows = []
        with torch.no_grad():
            for _ in range(STEPS):
                obs = now.obs
                policy = torch.distributions.Categorical(logits=actor(obs))
                action = policy.sample()
                state, now = env.step(state, action)
                value, done = critic(obs)[:, 0], now.terminated | now.truncated
                rows.append(
                    (obs, action, policy.log_prob(action), value, now.reward, done, now.obs)
                )
            seen = Seen(*(torch.stack(part) for part in zip(*rows, strict=True)))
            gain = advantages(seen.reward, seen.value, critic(now.obs)[:, 0], seen.done)
        parts = seen.obs, seen.action, seen.log_prob, gain, gain + seen.value
        learn(actor, critic, optimizer, [part.flatten(0, 1) for part in parts])
        batches.append(seen)
    return Seen(*(torch.stack(part).numpy() for part in zip(*batches, strict=True)))


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Sum in one order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def seen():
    """All steps of the loop, by backend."""
    return {
        backend: train(Torch(twinstep.make("pong-v0", backend, max_score=1)), UPDATES)
        for backend in ("jax", "rust")
    }


@pytest.mark.parametrize("backend", ["jax", "rust"])
def test_pong_is_learned_by_a_loop_of_plain_torch(seen, backend):
    """From losing nearly every point to winning more than it loses, in 655,360 steps."""
    require_learned(seen[backend])
    first, last = (
        score(Seen(*(part[updates] for part in seen[backend])))
        for updates in (slice(5), slice(-10, None))
    )
    print(f"PPO in torch, pong in {backend}: {first:.2f} -> {last:.2f}")


class Shared:
    """Tensors that each step overwrites, as an adapter without DLPack's rules would give."""

    def __init__(self, env):
        self.env, self._inner, self._held = env.env, env, None

    def reset(self, seed, lanes):
        state, now = self._inner.reset(seed, lanes)
        self._held = now
        return state, now

    def step(self, state, action):
        state, now = self._inner.step(state, action)
        for tensor, new in zip(self._held, now, strict=True):
            if tensor is not None:
                tensor.copy_(new)
        return state, self._held


@pytest.fixture(scope="module")
def firsts():
    _, now = twinstep.make("pong-v0", "rust", max_score=1).reset(0, 64)
    return np.unique(now.obs, axis=0)


def test_what_the_loop_saw_is_pong_and_the_same_in_both_backends(seen, firsts):
    require_pongs_rules(seen["jax"], firsts)
    for name, mine, other in zip(Seen._fields, seen["jax"], seen["rust"], strict=True):
        np.testing.assert_array_equal(mine, other, err_msg=name)


def test_tensors_that_a_later_step_overwrites_are_noticed(firsts):
    env = Torch(twinstep.make("pong-v0", "rust", max_score=1))
    require_pongs_rules(train(env, 4), firsts)
    with pytest.raises(AssertionError):
        require_pongs_rules(train(Shared(env), 4), firsts)
