"""PPO: GAE by its definition, hidden states that end with an episode, masks, learning."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import twinstep
from twinstep.contract import Box, Discrete
from twinstep.errors import UserError
from twinstep.plans import PPO
from twinstep.rl import ppo as trainer
from twinstep.rl.policies import Policy
from twinstep.rl.ppo import Trainer, train
from twinstep.rl.ppo_loss import advantages, unroll
from twinstep.tests.toys import tasks

SMALL = PPO(lanes=64, steps=8, minibatches=4, hidden=(16,), learning_rate=1e-2)
GAMMA, LAM = 0.9, 0.7


def by_definition(reward, value, following, terminated, truncated):
    """Return the advantages in float64: for each step, the sum to the end of its episode."""
    steps, lanes = reward.shape
    found = np.zeros((steps, lanes))
    for lane in range(lanes):
        for t in range(steps):
            weight = 1.0
            for later in range(t, steps):
                after = 0.0 if terminated[later, lane] else float(following[later, lane])
                delta = float(reward[later, lane]) + GAMMA * after - float(value[later, lane])
                found[t, lane] += weight * delta
                if terminated[later, lane] or truncated[later, lane]:
                    break
                weight *= GAMMA * LAM
    return found


def _batch():
    """Return a batch whose lanes end in every way: at its edges, twice in a row, both at once."""
    rng = np.random.default_rng(0)
    real = [rng.normal(size=(12, 40)).astype(np.float32) for _ in range(3)]
    ends = [rng.random((12, 40)) < 0.15 for _ in range(2)]
    assert (ends[0] & ends[1]).any()
    assert (ends[0] & ~ends[1])[-1].any()
    assert (ends[1] & ~ends[0])[-1].any()
    return *real, *ends


def _require_definition(found):
    np.testing.assert_allclose(found, by_definition(*_batch()), rtol=1e-4, atol=1e-5)


def test_advantages_are_those_of_the_definition():
    _require_definition(advantages(*_batch(), GAMMA, LAM))


@pytest.mark.parametrize("wrong", ["truncation ends like termination", "nothing ends", "no lambda"])
def test_wrong_advantages_are_noticed(wrong):
    reward, value, following, terminated, truncated = _batch()
    lam = LAM
    if wrong == "truncation ends like termination":
        terminated = terminated | truncated
    elif wrong == "nothing ends":
        terminated = truncated = np.zeros_like(terminated)
    else:
        lam = 1.0
    found = advantages(reward, value, following, terminated, truncated, GAMMA, lam)
    with pytest.raises(AssertionError):
        _require_definition(found)


def test_the_value_of_an_endless_task_is_not_cut_by_its_time_limit():
    """Reward 1 forever is worth 1 / (1 - gamma), however often an episode is truncated.

    The last step is followed by the episode's own last observation, not by the next episode's
    first, whose value is lower.
    """
    settings = dataclasses.replace(SMALL, gamma=0.8, learning_rate=5e-3)
    made = train(tasks.make("endless"), settings, [0], 80_000)
    params = {name: values[0] for name, values in made.params.items()}
    seen = np.array([[0, 1], [1, 1]], np.float32)
    _, _, value = made.policy.apply(params, made.policy.blank(2), seen, np.zeros(2, bool), np)
    np.testing.assert_allclose(value, [0.8 / (1 - 0.8), 1 / (1 - 0.8)], rtol=0.03)


def _policy(memory=5, action=None):
    policy = Policy(3, action or Discrete(4), (8,), memory)
    return policy, policy.init(jax.random.key(1))


@pytest.mark.parametrize("hidden", [(8,), (2, 16)])
def test_fresh_weights_are_orthogonal_scaled_and_differ_by_key(hidden):
    """Narrow and wide layers alike; without jaxlib's batched QR, which hangs on two cores."""
    policy = Policy(3, Discrete(4), hidden)
    params = policy.init(jax.random.key(1))
    for name, gain in {"layer0": 2**0.5, "actor": 0.01, "critic": 1.0}.items():
        weights = np.asarray(params[f"{name}_w"])
        product = weights @ weights.T if len(weights) < len(weights.T) else weights.T @ weights
        np.testing.assert_allclose(product, gain**2 * np.eye(len(product)), atol=1e-6)
        assert weights.dtype == np.float32
        assert (weights != policy.init(jax.random.key(2))[f"{name}_w"]).any()
        assert not params[f"{name}_b"].any()


def test_a_memory_ends_with_its_episode():
    """A lane's second episode has the same outputs as without a first one."""
    policy, params = _policy()
    rng = np.random.default_rng(1)
    obs = rng.normal(size=(9, 2, 3)).astype(np.float32)
    fresh = np.zeros((9, 2), bool)
    fresh[4, 0] = True
    before = jnp.asarray(rng.normal(size=(2, 5)).astype(np.float32))
    out, value = unroll(policy, params, before, obs, fresh)
    alone = unroll(policy, params, jnp.zeros((2, 5), jnp.float32), obs[4:], fresh[4:])
    np.testing.assert_allclose(out[4:, 0], alone[0][:, 0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(value[4:, 0], alone[1][:, 0], rtol=1e-5, atol=1e-6)
    # The other lane goes on, and does remember.
    assert np.abs(np.asarray(out[4:, 1] - alone[0][:, 1])).max() > 1e-5


def test_the_trainer_says_which_observations_begin_an_episode():
    """Episodes of the task take 4 steps: exactly every fourth observation is an episode's first."""
    host = tasks.OnHost(tasks.make("cue"))
    played = trainer.Trainer(host, dataclasses.replace(SMALL, memory=3))
    act, seen = played._act, []
    played._act = lambda *given, part: seen.append(given[1]) or act(*given, part=part)
    learner, player = played.begin([0, 1])
    played.batch_on_host(*played.batch_on_host(learner, player)[:2])
    for t, (memory, obs, fresh, _) in enumerate(seen):
        assert (np.asarray(fresh) == (t % tasks.LENGTH == 0)).all()
        assert (np.asarray(obs[..., 0] != 0) == fresh).all()
        assert t == 0 or np.abs(memory).max() > 0
    assert len(seen) == 2 * SMALL.steps


@pytest.mark.parametrize("memory", [0, 5])
@pytest.mark.parametrize("action", [Discrete(4), Box(-2.0, 1.0, (2,))])
def test_a_policy_is_the_same_in_numpy_and_stacked(memory, action):
    """One function serves JAX and NumPy, one policy and many."""
    policy, first = _policy(memory, action)
    second = policy.init(jax.random.key(2))
    rng = np.random.default_rng(2)
    obs = rng.normal(size=(2, 7, 3)).astype(np.float32)
    held = rng.normal(size=(2, 7, memory)).astype(np.float32)
    fresh = rng.random((2, 7)) < 0.5
    noise = policy.numpy_noise(rng, 2, 7)
    stacked = {name: np.stack([first[name], second[name]]) for name in first}
    kept, out, value = policy.apply(stacked, held, obs, fresh, np)
    choice = policy.sample(stacked, out, noise, None, np)
    for place, params in enumerate((first, second)):
        k, o, v = policy.apply(params, held[place], obs[place], fresh[place])
        np.testing.assert_allclose(kept[place], k, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(out[place], o, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(value[place], v, rtol=1e-4, atol=1e-5)
        drawn = policy.sample(params, jnp.asarray(out[place]), noise[place], None)
        np.testing.assert_allclose(choice[place], drawn, rtol=1e-5)
    assert kept.dtype == out.dtype == np.float32


def test_choices_follow_the_masked_softmax():
    """Illegal actions are never drawn; the others as often as their probabilities say."""
    policy, params = _policy()
    out = np.tile(np.array([[1.0, 3.0, 0.0, 2.0]], np.float32), (20_000, 1))
    legal = np.tile(np.array([[True, False, True, True]]), (20_000, 1))
    noise = policy.numpy_noise(np.random.default_rng(3), 20_000)
    choice = policy.sample({}, out, noise, legal, np)
    weights = np.exp([1.0, -np.inf, 0.0, 2.0])
    share = np.bincount(choice, minlength=4) / 20_000
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.015)
    assert share[1] == 0
    logs, entropy = policy.log_prob_and_entropy(params, out, jnp.asarray(choice), legal)
    np.testing.assert_allclose(np.exp(logs), (weights / weights.sum())[choice], rtol=1e-5)
    probable = (weights / weights.sum())[[0, 2, 3]]
    np.testing.assert_allclose(entropy, -(probable * np.log(probable)).sum(), rtol=1e-5)


def test_log_probabilities_of_real_actions_are_those_of_the_gaussian():
    from scipy.stats import norm

    policy, params = _policy(action=Box(-2.0, 1.0, (2,)))
    rng = np.random.default_rng(4)
    out, choice = (rng.normal(size=(6, 2)).astype(np.float32) for _ in range(2))
    logs, entropy = policy.log_prob_and_entropy(params, out, choice, None)
    wide = np.exp(-0.5)
    np.testing.assert_allclose(logs, norm.logpdf(choice, out, wide).sum(-1), rtol=1e-5)
    np.testing.assert_allclose(entropy, 2 * norm.entropy(0, wide), rtol=1e-5)
    played = policy.actions(np.array([[0.0, 1.0], [-1.0, 9.0]], np.float32), np)
    np.testing.assert_array_equal(played, np.array([[-0.5, 1.0], [-2.0, 1.0]], np.float32))


@pytest.mark.slow
def test_a_cue_is_learned_by_a_memory_and_only_by_one():
    """The cue is gone when it is needed: a GRU reaches 1, a feed-forward policy one half."""
    scores = {}
    for memory in (0, 8):
        env = tasks.make("cue")
        made = train(env, dataclasses.replace(SMALL, memory=memory), [0, 1], 100_000)
        assert made.params["actor_w"].shape[0] == 2
        scores[memory] = made.curves["return"][-5:].mean(0)
        # The illegal action costs 100 each time: it was never played.
        assert made.curves["reward"].min() >= 0
    assert (scores[8] > 0.95).all(), scores
    assert (scores[0] < 0.65).all(), scores


def test_real_actions_are_learned():
    made = train(tasks.make("aim"), SMALL, [0], 100_000)
    curve = made.curves["return"][:, 0]
    assert curve[0] < -4
    assert curve[-5:].mean() > -0.5


def test_a_seed_gives_its_result_again_and_no_other():
    runs = [train(tasks.make("cue"), SMALL, seeds, 8_000) for seeds in ([3, 4], [3, 4], [5, 6])]
    for name, values in runs[0].params.items():
        np.testing.assert_array_equal(values, runs[1].params[name])
    for other in (runs[0].params["actor_w"][1], runs[2].params["actor_w"][0]):
        assert np.abs(runs[0].params["actor_w"][0] - other).max() > 1e-3


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("backend", ["oracle", "rust"])
def test_compiled_and_host_training_see_the_same_batches(backend, continuous):
    """The traced scan and the host loop differ only by rounding, in several batches' statistics."""
    settings = dataclasses.replace(SMALL, lanes=32, learning_rate=1e-4)
    curves = []
    for name in ("jax", backend):
        env = twinstep.make("pong-v0", name, max_score=1, continuous=continuous)
        curves.append(train(env, settings, [0, 1], 8 * 8 * 32).curves)
        env.close()
    assert curves[0].keys() == curves[1].keys()
    for name, values in curves[0].items():
        np.testing.assert_allclose(values, curves[1][name], rtol=1e-3, atol=1e-5, err_msg=name)
    assert np.isfinite(curves[0]["return"]).any()


def test_pong_to_one_point_is_learned():
    env = twinstep.make("pong-v0", "jax", max_score=1)
    made = train(env, PPO(lanes=256), [0], 700_000)
    assert made.curves["return"][0] < -0.5
    assert made.curves["return"][-5:].mean() > 0.5


def test_what_cannot_be_trained_is_one_clear_line():
    env = twinstep.make("pong-v0", "jax", auto_reset="off")
    with pytest.raises(UserError, match="auto_reset='same-step'"):
        train(env, SMALL, [0], 1)
    two = dataclasses.replace(env.contract, players=2)
    with pytest.raises(UserError, match="2 players"):
        Policy.of(two, (8,), 0)
    with pytest.raises(ValueError, match="minibatches = 3: do not divide"):
        PPO(minibatches=3)


def test_an_annealed_learning_rate_falls_to_zero_and_stays_there():
    """Batches come in chunks of eight. Adam's first steps are as long as its rate."""

    def trained(chunks, anneal):
        settings = dataclasses.replace(SMALL, anneal=anneal, epochs=1, minibatches=1)
        steps = 8 * chunks * settings.lanes * settings.steps
        return train(tasks.make("cue"), settings, [0], steps).params["actor_w"]

    constant, falling = trained(1, 0), trained(1, 8)
    assert (constant != falling).any()
    np.testing.assert_array_equal(falling, trained(2, 8))
    assert (falling != trained(2, 16)).any()
    begun = np.asarray(Trainer(tasks.make("cue"), SMALL).begin([0])[0].params["actor_w"])
    # The sum of the falling rates is 4.5 of 8.
    assert np.abs(falling - begun).sum() < 0.8 * np.abs(constant - begun).sum()


def test_a_negative_annealing_is_refused():
    with pytest.raises(ValueError, match="anneal = -1"):
        dataclasses.replace(SMALL, anneal=-1)
