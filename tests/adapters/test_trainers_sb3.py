"""Stable-Baselines3, a trainer that we did not write, trains Pong through Gymnasium's VectorEnv.

torch comes with several GB of CUDA: `make trainers` runs this in an environment of its own, and
fails if it is skipped there.
"""

import numpy as np
import pytest

import twinstep
from twinstep.rollouts import test_adapters

sb3 = pytest.importorskip(
    "stable_baselines3", reason="stable-baselines3 is not installed: make trainers"
)

import torch  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv as Base  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor  # noqa: E402

from twinstep.adapters.sb3 import VecEnv  # noqa: E402

pytestmark = pytest.mark.e2e

LANES, STEPS = 64, 64


def _scores(learner, vec):
    """Return the scores of the first episodes that end, with drawn actions as in training."""
    vec.seed(1)
    obs = vec.reset()
    scores = []
    for _ in range(500):
        actions, _ = learner.predict(obs, deterministic=False)
        obs, _, done, infos = vec.step(actions)
        scores += [infos[k]["episode"]["r"] for k in np.flatnonzero(done)]
    assert len(scores) > 100, f"{len(scores)} episodes ended in {500 * LANES} steps"
    return np.array(scores)


def _trained(backend):
    """Return the scores before and after training."""
    vec = VecMonitor(VecEnv(twinstep.make("pong-v0", backend, max_score=1), LANES))
    learner = sb3.PPO(
        "MlpPolicy", vec, n_steps=STEPS, batch_size=512, n_epochs=4, learning_rate=2e-3,
        gamma=0.97, gae_lambda=0.9, ent_coef=0.005, seed=0, device="cpu",
    )  # fmt: skip
    before = _scores(learner, vec)
    learner.learn(400_000)
    after = _scores(learner, vec)
    vec.close()
    return before, after


@pytest.mark.slow
def test_stable_baselines_learns_pong_and_cannot_tell_the_reference_from_the_fast_ones(fs8):
    """From losing to winning more than it loses, with the same scores to the last bit in C."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums in one order
    scores = {backend: _trained(backend) for backend in ("rust", "jax", "oracle")}
    torch.set_num_threads(threads)
    for backend, (before, after) in scores.items():
        print(f"{backend}: score {before.mean():.3f} before training, {after.mean():.3f} after")
        assert before.mean() < -0.7
        assert after.mean() > 0
        np.testing.assert_array_equal(before, scores["oracle"][0], err_msg=backend)
        np.testing.assert_array_equal(after, scores["oracle"][1], err_msg=backend)
    # A score is 1 or -1, and 0.1 for each bounce.
    tenths = np.concatenate(scores["oracle"]) * 10
    assert np.abs(tenths - tenths.round()).max() < 1e-3
    assert tenths.min() == -10


def test_steps_match_the_oracle_where_stable_baselines_is_installed(fs8):
    """With Stable-Baselines3's own base class."""
    assert issubclass(VecEnv, Base)
    test_adapters.test_stable_baselines_steps_match_the_oracle(fs8)


def test_tensors_match_the_oracle(fs8):
    test_adapters.test_torch_tensors_match_the_oracle(fs8)
