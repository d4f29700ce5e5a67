"""Stable-Baselines3's convention: ends, their kind and their observation, without it installed."""

import numpy as np
import pytest

import twinstep
from twinstep.errors import UserError
from twinstep.tests.toys import tasks

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from twinstep.adapters.sb3 import VecEnv  # noqa: E402


def test_a_cut_episode_is_told_from_one_that_is_over():
    """`aim` is truncated after each fourth step and `cue` terminated, in every lane."""
    for task, cut in (("aim", True), ("cue", False)):
        vec = VecEnv(tasks.make(task), 5)
        vec.reset()
        for t in range(1, 10):
            actions = np.zeros((5, 1), np.float32) if task == "aim" else np.zeros(5, np.int64)
            _, _, done, infos = vec.step(actions)
            assert (done == (t % tasks.LENGTH == 0)).all()
            for info in infos:
                assert info.get("TimeLimit.truncated") == (cut if done[0] else None)
                assert ("terminal_observation" in info) == done[0]


def test_a_terminal_observation_is_the_old_episodes_own():
    """`endless` shows 0 at a start and 1 later."""
    vec = VecEnv(tasks.make("endless"), 3)
    assert (vec.reset()[:, 0] == 0).all()
    ends = []
    for t in range(1, 2 * tasks.LENGTH + 1):
        obs, _, done, infos = vec.step(np.zeros(3, np.int64))
        assert (obs[:, 0] == (0 if done[0] else 1)).all()
        ends += [(info["terminal_observation"], t) for info in infos if done[0]]
    assert len(ends) == 6
    assert all((last == [1, 1]).all() for last, _ in ends)


def test_seeds_are_those_of_the_lanes_and_count_once():
    env = twinstep.make("pong-v0", "rust", max_score=1)
    vec = VecEnv(env, 4)
    assert vec.seed(7) == [7, 8, 9, 10]
    first = vec.reset()
    np.testing.assert_array_equal(first, env.reset(7, 4)[1].obs)
    np.testing.assert_array_equal(vec.reset(), env.reset(11, 4)[1].obs)


def test_action_masks_come_with_each_observation():
    vec = VecEnv(tasks.make("cue"), 2)
    vec.reset()
    infos = [vec.reset_infos, vec.step(np.zeros(2, np.int64))[3]]
    for info in sum(infos, []):
        assert info["action_mask"].tolist() == [True, True, False]


def test_what_lanes_cannot_do_is_one_clear_line():
    env = twinstep.make("pong-v0", "rust", max_score=1)
    vec = VecEnv(env, 4)
    assert vec.get_attr("render_mode") == [None] * 4
    assert vec.get_attr("num_envs", [0, 2]) == [4, 4]
    assert vec.env_is_wrapped(object, 1) == [False]
    with pytest.raises(UserError, match="cannot set 'speed'"):
        vec.set_attr("speed", 2)
    with pytest.raises(AttributeError, match="no 'jump'"):
        vec.env_method("jump")
    with pytest.raises(UserError, match="resets in the same step; this has 'off'"):
        VecEnv(twinstep.make("pong-v0", "rust", auto_reset="off"), 4)
