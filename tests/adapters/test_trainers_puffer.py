"""PufferLib's own trainer, which we did not write, trains Pong through the puffer adapter.

It asks for one version of torch and its several GB of CUDA: `make trainers ARGS=puffer` runs this
in an environment of its own, and fails if it is skipped there.
"""

import signal
import time

import numpy as np
import pytest

import twinstep
from twinstep.adapters.puffer import Puffer
from twinstep.rollouts import test_adapters

pufferlib = pytest.importorskip(
    "pufferlib", reason="pufferlib is not installed: make trainers ARGS=puffer"
)

pytestmark = pytest.mark.e2e

LANES, STEPS = 256, 32
BATCH = LANES * STEPS


class Counted(Puffer):
    """Record the points of each step and the number of episodes it ended."""

    def __init__(self, *given):
        super().__init__(*given)
        self.points = []

    def step(self, actions):
        out = super().step(actions)
        _, reward, ended, _, _ = out
        self.points.append((reward[ended].sum(), ended.sum()))
        return out


@pytest.fixture
def pufferl():
    """The trainer's module; its import takes over Ctrl-C."""
    handler = signal.getsignal(signal.SIGINT)
    from pufferlib import pufferl

    signal.signal(signal.SIGINT, handler)
    return pufferl


def _config():
    return {
        "batch_size": BATCH, "bptt_horizon": STEPS, "minibatch_size": BATCH // 8,
        "max_minibatch_size": BATCH // 8, "update_epochs": 4, "total_timesteps": 10**12,
        "optimizer": "adam", "learning_rate": 3e-3, "anneal_lr": False, "adam_beta1": 0.9,
        "adam_beta2": 0.999, "adam_eps": 1e-8, "max_grad_norm": 0.5, "gamma": 0.97,
        "gae_lambda": 0.9, "clip_coef": 0.2, "vf_coef": 0.5, "vf_clip_coef": 10.0,
        "ent_coef": 0.02, "prio_alpha": 0.0, "prio_beta0": 1.0, "vtrace_rho_clip": 1.0,
        "vtrace_c_clip": 1.0, "use_rnn": False, "seed": 0, "torch_deterministic": True,
        "device": "cpu", "cpu_offload": False, "precision": "float32", "compile": False,
        "compile_mode": "", "compile_fullgraph": False, "checkpoint_interval": 10**9,
        "data_dir": "", "env": "pong",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In CPU autocast")
def test_pufferlibs_trainer_learns_pong(pufferl, monkeypatch):
    """From losing every point to winning more than it loses, in 1,228,800 steps."""
    import pufferlib.models
    import pufferlib.vector
    import torch

    monkeypatch.setattr(pufferl.PuffeRL, "print_dashboard", lambda *given, **named: None)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pong = twinstep.make("pong-v0", "rust", max_score=1)
    env = pufferlib.vector.make(lambda: Counted(pong, LANES), backend=pufferlib.PufferEnv)
    learner = pufferl.PuffeRL(_config(), env, pufferlib.models.Default(env, hidden_size=64))
    seconds = {"evaluate": 0.0, "train": 0.0}
    try:
        for _ in range(150):
            for part in seconds:
                began = time.perf_counter()
                getattr(learner, part)()
                seconds[part] += time.perf_counter() - began
    finally:
        learner.utilization.stop()
        torch.set_num_threads(threads)
    points, ends = np.array(env.points).T
    before = points[: 5 * STEPS].sum() / ends[: 5 * STEPS].sum()
    after = points[-10 * STEPS :].sum() / ends[-10 * STEPS :].sum()
    played, whole = 150 * STEPS * LANES, sum(seconds.values())
    share = seconds["evaluate"] / whole
    print(f"{played / whole:,.0f} steps/s on one core, {share:.0%} of the time in its evaluate")
    print(f"score {before:.2f} in the first 5 batches, {after:.2f} in the last 10")
    assert before < -0.8
    assert after > 0


def test_steps_match_the_oracle_where_pufferlib_is_installed(fs8):
    """With PufferLib's own base class."""
    assert issubclass(Puffer, pufferlib.PufferEnv)
    test_adapters.test_puffer_buffers_match_the_oracle(fs8)


@pytest.mark.parametrize("continuous", [False, True])
def test_pufferlib_joins_several_of_them_in_its_own_buffers(continuous):
    """Two environments of three lanes, each in its part of one set of arrays."""
    import pufferlib.vector

    envs = [twinstep.make("pong-v0", "rust", max_score=1, continuous=continuous) for _ in range(2)]
    creators = [lambda buf=None, seed=0, one=one: Puffer(one, 3, buf) for one in envs]
    joined = pufferlib.vector.make(
        creators, [[], []], [{}, {}], backend=pufferlib.vector.Serial, num_envs=2
    )
    joined.async_reset(5)
    obs = joined.recv()[0].copy()
    want = [np.asarray(one.reset(5 + k, 3)[1].obs) for k, one in enumerate(envs)]
    np.testing.assert_array_equal(obs, np.concatenate(want))
    states = [one.reset(5 + k, 3)[0] for k, one in enumerate(envs)]
    rng = np.random.default_rng(0)
    for _ in range(30):
        moves = rng.uniform(-1, 1, (6, 1)) if continuous else rng.integers(0, 3, 6)
        moves = moves.astype(np.float32 if continuous else np.int32)
        joined.send(moves)
        obs, reward, *_ = joined.recv()
        for k, one in enumerate(envs):
            states[k], now = one.step(states[k], moves[3 * k : 3 * k + 3])
            np.testing.assert_array_equal(obs[3 * k : 3 * k + 3], now.obs)
            np.testing.assert_array_equal(reward[3 * k : 3 * k + 3], now.reward)
