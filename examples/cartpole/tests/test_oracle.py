"""The bridge shows Gymnasium as it is, or gives the reason in one line."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import gymnasium
import numpy as np
import pytest

from twinstep import Start
from twinstep_cartpole.contract import EVENTS, contract
from twinstep_cartpole.oracle import upstream
from twinstep_cartpole.oracle.bridge import CartPoleOracle


@pytest.fixture
def oracle():
    bridge = CartPoleOracle(contract({}))
    yield bridge
    bridge.close()


def test_the_seeds_words_make_gymnasiums_seed(oracle):
    env = gymnasium.make("CartPole-v1")
    for seed in (0, 7, 2**32 - 1, 2**32, 123 << 40 | 5):
        obs, _ = env.reset(seed=seed)
        words = np.array([seed & 2**32 - 1, seed >> 32], np.uint32)
        assert (oracle.reset(Start(words)).obs == obs).all()
    env.close()


def _events(oracle, **fields):
    state = {"x": 0.0, "x_dot": 0.0, "theta": 0.0, "theta_dot": 0.0, "elapsed": 0, "beyond": -1}
    oracle.load(state | {"rng": np.zeros(8, np.uint32)} | fields)
    frame = oracle.step(np.array([1]))
    return {name for name, happened in zip(EVENTS, oracle.events(), strict=True) if happened}, frame


def test_the_limit_itself_is_inside(oracle):
    limit = 12 * 2 * np.pi / 360
    for name, top, (below, above) in (
        ("x", 2.4, ("cart_left", "cart_right")),
        ("theta", limit, ("pole_left", "pole_right")),
    ):
        for value, event in ((-top, below), (top, above)):
            happened, frame = _events(oracle, **{name: value})
            assert event not in happened
            assert not frame.terminated
            happened, frame = _events(oracle, **{name: np.nextafter(value, 3 * value)})
            assert event in happened
            assert frame.terminated
            assert frame.reward == 1


def test_a_step_may_be_both_the_end_and_the_last(oracle):
    happened, frame = _events(oracle, x=2.5, elapsed=499)
    assert {"time_limit", "time_limit_at_the_end"} <= happened
    assert frame.terminated
    assert frame.truncated
    happened, frame = _events(oracle, x=2.5, elapsed=498)
    assert not {"time_limit", "time_limit_at_the_end"} & happened
    assert not frame.truncated


def test_steps_after_the_end_earn_nothing(oracle):
    happened, frame = _events(oracle, x=2.5, beyond=0)
    assert frame.reward == 0
    assert frame.state["beyond"] == 1


def test_turns_and_crossings_are_seen(oracle):
    happened, _ = _events(oracle, x_dot=-0.1, theta=-0.001, theta_dot=0.1)
    assert happened == {"cart_turned", "pole_turned", "pole_crossed"}


def test_without_gymnasium_the_mend_is_named(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(upstream, "distribution", missing)
    answer = upstream.probe({})
    assert answer.problem == "gymnasium is not installed"
    assert answer.mend == f"pip install gymnasium=={upstream.VERSION}"


def test_another_version_or_an_edited_file_is_refused(monkeypatch):
    assert upstream.probe({}).problem == ""
    monkeypatch.setitem(upstream.FILES, "core.py", "0" * 64)
    assert "core.py is not as published" in upstream.probe({}).problem
    monkeypatch.setattr(upstream, "VERSION", "1.3.9")
    assert "the proof is against 1.3.9" in upstream.probe({}).problem


def test_the_declaration_needs_neither_gymnasium_nor_jax():
    code = (
        "import sys; sys.modules['gymnasium'] = sys.modules['jax'] = None\n"
        "from twinstep_cartpole.declared import CARTPOLE\n"
        "print(CARTPOLE.contract({}).version)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "cartpole-v0\n", done.stderr
