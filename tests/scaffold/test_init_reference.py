"""The reference's side of what `twinstep init` writes: starts, states and their ranges."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from twinstep.frames import Start, flatten, take_lanes
from twinstep.inputs.sampling import sample_actions, some_starts
from twinstep.tests.support import init_projects
from twinstep.tests.support.init_runs import (
    CHECKOUT,
    begin,
    complaints,
    generated,
    gymnax,
    init,
    run,
)  # fmt: skip

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

pytestmark = pytest.mark.e2e

#: Classic control: the state is `unwrapped.state`, seen directly or through a method.
PLACED = ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1")
#: A name for each: two projects of one name cannot be imported into one process.
NAMES = dict(zip(PLACED, ("pole", "car", "engine", "swing", "arms"), strict=True))


@pytest.mark.skipif(not CHECKOUT, reason="ruff and its settings are in the checkout")
@pytest.mark.parametrize("what", [*PLACED, "FrozenLake-v1", "header"])
def test_what_is_written_passes_our_own_lint(what, empty):
    if what == "header":
        (empty / "env.h").write_text(init_projects.HEADER)
        assert init("header:env.h") == 0
    else:
        begin(empty, f"gymnasium:{what}", NAMES.get(what, "mine"))
    assert not complaints(empty)


@pytest.mark.parametrize("id", PLACED)
def test_the_generated_bridge_plays_the_references_own_episodes(id, empty, monkeypatch):
    """Placed at a start of the reference's own, the bridge plays the same episode."""
    name = NAMES[id]
    begin(empty, f"gymnasium:{id}", name)
    contract = generated(empty, name, "contract", monkeypatch).contract({})
    oracle = generated(empty, name, "oracle.bridge", monkeypatch).Reference(contract)
    env = gymnasium.make(id)
    for seed in range(8):
        obs, _ = env.reset(seed=seed)
        frame = oracle.reset(Start(np.array([99, 0], np.uint32), {"state": env.unwrapped.state}))
        env.action_space.seed(seed)
        for _ in range(50):
            assert frame.obs.dtype == contract.observation.dtype
            assert frame.obs[0].tobytes() == obs.tobytes()
            action = env.action_space.sample()
            obs, reward, terminated, truncated, _ = env.step(action)
            frame = oracle.step(np.asarray(action)[None])
            assert frame.reward[0] == np.float32(reward)
            assert (frame.terminated, frame.truncated) == (terminated, truncated)
            if terminated or truncated:
                break
    assert contract.horizon == env.spec.max_episode_steps


@pytest.mark.parametrize("id", PLACED)
def test_starts_vary_and_stay_in_the_range_of_the_references_own(id, empty, monkeypatch):
    name = NAMES[id]
    begin(empty, f"gymnasium:{id}", name)
    make_start = generated(empty, name, "contract", monkeypatch).make_start
    drawn = np.stack([make_start(np.array([n, n // 7], np.uint32))["state"] for n in range(500)])
    env = gymnasium.make(id)
    own = np.stack([(env.reset(seed=seed), env.unwrapped.state)[1] for seed in range(5000)])
    assert drawn.dtype == np.float32
    assert (drawn >= own.min(0) - 1e-6).all()
    assert (drawn <= own.max(0) + 1e-6).all()
    spread, whole = np.ptp(drawn, 0), np.ptp(own, 0)
    assert (spread >= 0.95 * whole).all()


def test_a_state_that_does_not_hold_everything_is_not_placed(empty):
    """Hidden's wind is drawn at reset and in no attribute that holds numbers."""
    gymnax(empty)
    code, text = run(empty, "twinstep.cli", "init", "--oracle", "gymnasium:slides:Hidden-v0")
    assert code == 0
    assert "NOT matched (placing the reference's attributes does not give the same" in text


@pytest.mark.parametrize("id", PLACED)
def test_the_references_state_in_the_middle_of_an_episode_is_loaded_to_the_last_bit(
    id, empty, monkeypatch
):
    begin(empty, f"gymnasium:{id}", NAMES[id])
    contract = generated(empty, NAMES[id], "contract", monkeypatch).contract({})
    bridge = generated(empty, NAMES[id], "oracle.bridge", monkeypatch)
    one, other = (bridge.Reference(contract) for _ in range(2))
    start = some_starts(contract, 2)
    one.reset(take_lanes(start, 0))
    other.reset(take_lanes(start, 1))
    rng = np.random.default_rng(0)
    actions = sample_actions(contract, 8 + contract.horizon, rng)
    for action in actions[:8]:
        frame = one.step(action)
    assert frame.state["time"] == 8
    other.load(frame.state)
    for action in actions[8:]:
        ours, theirs = one.step(action), other.step(action)
        for path, value in flatten(ours).items():
            assert np.array_equal(value, flatten(theirs)[path]), path
        if ours.terminated or ours.truncated:
            break


@pytest.mark.parametrize(
    ("id", "obs", "state"),
    [
        ("CartPole-v1", ("x", "x_dot", "theta", "theta_dot"), ("x", "x_dot", "theta", "theta_dot")),
        ("Pendulum-v1", ("cos_theta", "sin_theta", "theta_dot"), ("theta", "theta_dot")),
    ],
)
def test_elements_have_the_names_that_gymnasium_documents(id, obs, state, empty, monkeypatch):
    begin(empty, f"gymnasium:{id}", NAMES[id])
    contract = generated(empty, NAMES[id], "contract", monkeypatch).contract({})
    assert contract.observation.names == obs
    assert tuple(field.name for field in contract.state) == (*state, "time")


def test_states_are_placed_where_a_step_is_taken_and_not_where_an_episode_has_ended(
    empty, monkeypatch
):
    """CartPole declares twice the ends of an episode; the car goes on beyond its goal."""
    ranges = {}
    for id in ("CartPole-v1", "MountainCarContinuous-v0"):
        begin(empty, f"gymnasium:{id}", NAMES[id])
        contract = generated(empty, NAMES[id], "contract", monkeypatch).contract({})
        ranges[id] = {field.name: (field.low, field.high) for field in contract.state}
        shutil.rmtree(empty / f"twinstep_{NAMES[id]}")
    pole, car = ranges.values()
    for low, high, end in ((*pole["x"], 2.4), (*pole["theta"], np.radians(12))):
        assert 0.85 * end < min(-low, high) <= max(-low, high) <= end
    assert pole["time"] == (0, 499)
    assert car["position"] == (-1.2, 0.6)
    assert car["velocity"] == (-0.07, 0.07)


DEALER = """
import gymnasium
import numpy as np


class Dealer(gymnasium.Env):
    def __init__(self, refuses=False):
        self.action_space = gymnasium.spaces.Box(-1, 1, (), np.float32)
        self.observation_space = gymnasium.spaces.Box(-99, 99, (2,), np.float32)
        self.refuses = refuses

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.array([self.np_random.integers(1, 7), self.np_random.random()], np.float32)
        return self.state.copy(), {}

    def step(self, action):
        if self.refuses and abs(action) > 1:
            raise ValueError(action)
        self.state = self.state + np.float32(1)
        return self.state.copy(), 0.0, False, False, {}


gymnasium.register("Dealer-v0", Dealer, max_episode_steps=27_000)
gymnasium.register("Strict-v0", lambda: Dealer(True))
"""


def test_starts_are_dealt_a_long_limit_is_cut_and_actions_go_beyond_where_they_may(empty):
    """F13, F19: whole numbers of the reference stay whole."""
    (empty / "dealer.py").write_text(DEALER)
    code, text = run(empty, "twinstep.cli", "init", "--oracle", "gymnasium:dealer:Dealer-v0")
    assert code == 0, text
    assert "Episodes are cut after 2,000 steps, the reference's limit is 27,000" in text
    assert "actions beyond its range: they are drawn up to 1.5 times as far" in text
    ask = (
        "from twinstep_dealer.contract import contract, make_start; import numpy as np\n"
        "made = np.stack([make_start(np.array([n, 0], np.uint32))['state'] for n in range(300)])\n"
        "print(sorted(set(made[:, 0].tolist())), len(set(made[:, 1].tolist())) > 290)\n"
        "print(contract({}).horizon, contract({}).action.beyond, contract({}).state[2].high)"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask], cwd=empty, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] True\n2000 1.5 26999\n"
    strict = ("init", "--oracle", "gymnasium:dealer:Strict-v0", "strict")
    code, text = run(empty, "twinstep.cli", *strict)
    assert code == 0, text
    assert "beyond its range" not in text
    assert '"float32")' in (empty / "strict/twinstep_strict/contract.py").read_text()


def test_mujocos_state_is_placed_through_set_state(empty, monkeypatch):
    """Where its solver's warm start matters in the middle of an episode, no `load` is written."""
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    for id, loads in (("InvertedDoublePendulum-v5", True), ("Hopper-v5", False)):
        name = "joints_" + str(loads).lower()
        begin(empty, f"gymnasium:{id}", name)
        contract = generated(empty, name, "contract", monkeypatch).contract({})
        oracle = generated(empty, name, "oracle.bridge", monkeypatch).Reference(contract)
        env = gymnasium.make(id)
        env.reset(seed=3)
        start = np.float32(env.unwrapped.state_vector())
        env.unwrapped.set_state(*np.split(start.astype(np.float64), [env.unwrapped.model.nq]))
        frame = oracle.reset(Start(np.array([99, 0], np.uint32), {"state": start}))
        assert frame.obs[0].tobytes() == env.unwrapped._get_obs().tobytes()
        assert hasattr(oracle, "load") is loads
        assert contract.placed == 0
        shutil.rmtree(empty / f"twinstep_{name}")
