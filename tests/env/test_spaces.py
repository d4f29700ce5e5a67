"""Spaces and `num_envs` as users of Gymnasium, gymnax and envpool expect them."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import twinstep
from twinstep.contract import Box, Discrete, Field
from twinstep.env import spaces
from twinstep.env.make import Env
from twinstep.project.registry import EnvVariant
from twinstep.tests.toys.drift import DRIFT
from twinstep.tests.toys.duel import DUEL

FIELDS = [
    Field("obs", "float32", (3,), low=-0.3, high=2.0),
    Field("obs", "float64", (2, 2)),
    Field("obs", "float32", (), low=0.0),
    Field("obs", "uint8", (4, 4, 1)),
    Field("obs", "int32", (3,), high=7),
    Field("obs", "bool", (8, 8)),
]
ACTIONS = [Discrete(5, ("a", "b", "c", "d", "e")), Box(-1.0, 0.3, (6,)), Box(0, 2, (), "float64")]


@pytest.fixture
def duel():
    return Env(EnvVariant(DUEL, DUEL.variants[0]), "oracle", "off")


def _with(env, **replaced):
    env.contract = dataclasses.replace(env.contract, **replaced)
    return env


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"{field.dtype}{field.shape}")
def test_an_observation_space_is_what_gymnasium_makes_of_the_same_numbers(duel, field):
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    space = _with(duel, observation=field).observation_space
    if field.dtype == "bool":
        want = gymnasium.spaces.Box(0, 1, field.shape, bool)
    else:
        ends = (-np.inf, np.inf)
        if np.dtype(field.dtype).kind != "f":
            ends = np.iinfo(field.dtype).min, np.iinfo(field.dtype).max
        low = ends[0] if field.low is None else field.low
        high = ends[1] if field.high is None else field.high
        want = gymnasium.spaces.Box(low, high, field.shape, field.dtype)
    _require_same(space, want, ("low", "high"))


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_an_action_space_is_what_gymnasium_makes_of_the_same_numbers(duel, action):
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    space = _with(duel, action=action).action_space
    if isinstance(action, Discrete):
        assert (space.n, space.shape) == (5, gymnasium.spaces.Discrete(5).shape)
        assert space.dtype == np.int32
        return
    want = gymnasium.spaces.Box(action.low, action.high, action.shape, action.dtype)
    _require_same(space, want, ("low", "high"))


def _require_same(space, want, ends):
    assert (space.shape, space.dtype) == (want.shape, want.dtype)
    for end in ends:
        ours, theirs = getattr(space, end), getattr(want, end)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)


def test_the_spaces_are_of_one_player_in_one_lane(duel):
    env = twinstep.make("pong-v0")
    _, now = env.reset(num_envs=3)
    assert now.obs.shape == (3, *env.observation_space.shape)
    assert now.obs.dtype == env.observation_space.dtype
    assert env.action_space.n == 3
    assert duel.contract.players == 2
    _, now = duel.reset(num_envs=3)
    assert now.obs.shape == (3, 2, *duel.observation_space.shape)


def test_equal_spaces_are_equal(duel):
    other = Env(EnvVariant(DRIFT, DRIFT.variants[0]), "oracle", "off")
    for kind in ("observation_space", "action_space"):
        assert getattr(duel, kind) == getattr(duel, kind)
        assert getattr(duel, kind) != getattr(other, kind)
    field = FIELDS[0]
    for change in ({"low": -0.2}, {"high": 1.0}, {"dtype": "float64"}, {"shape": (4,)}):
        changed = dataclasses.replace(field, **change)
        assert spaces.observation_space(field) != spaces.observation_space(changed), change


SPACE_BUGS = {
    "ends swapped": lambda low, high, shape, dtype: (high, low, shape, dtype),
    "another dtype": lambda low, high, shape, dtype: (low, high, shape, np.dtype("float16")),
    "one axis less": lambda low, high, shape, dtype: (low, high, shape[1:], dtype),
    "never bounded": lambda low, high, shape, dtype: (-9e9, 9e9, shape, dtype),
}


@pytest.mark.parametrize("name", SPACE_BUGS)
def test_a_space_that_is_not_gymnasiums_is_noticed(duel, name, monkeypatch):
    plain = spaces._box
    monkeypatch.setattr(spaces, "_box", lambda *args: plain(*SPACE_BUGS[name](*args)))
    for test, case in (
        (test_an_observation_space_is_what_gymnasium_makes_of_the_same_numbers, FIELDS[0]),
        (test_an_action_space_is_what_gymnasium_makes_of_the_same_numbers, ACTIONS[1]),
    ):
        with pytest.raises(AssertionError):
            test(duel, case)


def test_spaces_need_no_gymnasium():
    code = (
        "import sys; sys.modules['gymnasium'] = sys.modules['gymnax'] = None\n"
        "import twinstep; env = twinstep.make('pong-v0'); print(env.action_space.n)\n"
        "print(env.observation_space.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3\n(8,)\n", done.stderr


def test_num_envs_begins_as_many_episodes_as_lanes(duel):
    for seed in (0, 7, np.int64(7)):
        _, by_lanes = duel.reset(seed, 4)
        _, by_num_envs = duel.reset(seed, num_envs=4)
        assert by_num_envs.obs.shape[0] == 4
        np.testing.assert_array_equal(by_num_envs.obs, by_lanes.obs)
    seeds = np.zeros((3, 2), np.uint32)
    np.testing.assert_array_equal(duel.reset(seeds, num_envs=3)[1].obs, duel.reset(seeds)[1].obs)
    assert duel.reset(0)[1].obs.shape[0] == 1


def test_two_counts_of_lanes_are_one_clear_error(duel):
    with pytest.raises(ValueError, match="^lanes=4 and num_envs=8 mean the same: give one$"):
        duel.reset(0, 4, num_envs=8)
    with pytest.raises(ValueError, match="^lanes=4 and num_envs=4 mean the same: give one$"):
        duel.reset(0, lanes=4, num_envs=4)
    with pytest.raises(ValueError, match="^num_envs=8, but there are 3 seeds$"):
        duel.reset(np.zeros((3, 2), np.uint32), num_envs=8)


NUM_ENVS_BUGS = {
    "ignored": lambda env, seed, count: env.reset(seed),
    "one too many": lambda env, seed, count: env.reset(seed, count + 1),
    "another seed": lambda env, seed, count: env.reset(seed + 1, count),
}


class _Wrong:
    def __init__(self, env, bug):
        self._env, self._bug = env, bug

    def reset(self, seed, lanes=None, *, num_envs=None):
        if num_envs is None:
            return self._env.reset(seed, lanes)
        return self._bug(self._env, seed, num_envs)


@pytest.mark.parametrize("name", NUM_ENVS_BUGS)
def test_a_num_envs_that_is_not_lanes_is_noticed(duel, name):
    with pytest.raises(AssertionError):
        test_num_envs_begins_as_many_episodes_as_lanes(_Wrong(duel, NUM_ENVS_BUGS[name]))
