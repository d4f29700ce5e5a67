"""Self-play: both players are lanes, each with its own observations, rewards and turns."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import twinstep
from twinstep.errors import UserError
from twinstep.plans import PPO
from twinstep.rl.ppo import train
from twinstep.rl.selfplay import SelfPlay
from twinstep.tests.toys import match

SEEDS = np.stack([np.arange(12, dtype=np.uint32), np.zeros(12, np.uint32)], -1)
SETTINGS = PPO(lanes=64, steps=8, minibatches=4, hidden=(16,), learning_rate=1e-2)


def _right(obs):
    """Return the action that names what is seen."""
    return np.asarray(obs)[:, :3].argmax(-1).astype(np.int32)


def test_each_lane_sees_what_its_player_sees_and_is_paid_for_its_own_game():
    game, joint = SelfPlay(match.make()), match.make()
    state, now = game.reset(SEEDS)
    alone, seen = joint.reset(SEEDS[::2])
    np.testing.assert_array_equal(now.obs, np.asarray(seen.obs).reshape(12, 4))
    state, now = game.step(state, np.zeros(12, np.int32))
    np.testing.assert_array_equal(now.legal.any(-1), np.ones(12, bool))
    # The first players are right, every third one too late; the second are right in half.
    actions = _right(now.obs)
    actions[0::6] = (actions[0::6] + 1) % 3
    actions[1::4] = (actions[1::4] + 1) % 3
    state, now = game.step(state, actions)
    right = np.ones(12, bool)
    right[0::6] = right[1::4] = False
    pairs = right.reshape(6, 2)
    worth = (1 + pairs.astype(int) - pairs[:, ::-1].astype(int)) / 2
    np.testing.assert_array_equal(now.reward, worth.ravel().astype(np.float32))
    assert sorted(set(now.reward)) == [0, 0.5, 1]
    assert now.terminated.all()
    np.testing.assert_array_equal(now.obs[:, 3], np.zeros(12))
    np.testing.assert_array_equal(now.final_obs[:, 3], np.full(12, 2))


def test_what_is_drawn_for_a_player_who_is_not_asked_is_not_played():
    game = SelfPlay(match.make())
    state, now = game.reset(SEEDS)
    np.testing.assert_array_equal(now.legal.any(-1), np.tile([True, False], 6))
    state, now = game.step(state, np.full(12, 2, np.int32))
    state, now = game.step(state, _right(now.obs))
    np.testing.assert_array_equal(now.reward, np.full(12, 0.5))


def test_a_traced_step_is_the_step():
    game = SelfPlay(match.make(), lambda obs, xp: obs[:, 3] * np.float32(2), 0.5)
    state, now = game.reset(SEEDS)
    actions = np.arange(12, dtype=np.int32) % 3
    traced = jax.jit(game.step)(jax.tree.map(jnp.asarray, state), jnp.asarray(actions))
    _, now = game.step(state, actions)
    for one, other in zip(jax.tree.leaves(traced[1]), jax.tree.leaves(now), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_the_potentials_increase_is_paid_and_none_is_left_at_the_end():
    """The potential is 1, then 3; where the game is over it is 0, and not the next game's 1."""
    game = SelfPlay(match.make(), lambda obs, xp: 1 + obs[:, 3] * np.float32(2), 0.5)
    state, now = game.reset(SEEDS)
    state, now = game.step(state, np.zeros(12, np.int32))
    np.testing.assert_array_equal(now.reward, np.full(12, 0.5 * 3 - 1))
    state, now = game.step(state, _right(now.obs))
    np.testing.assert_array_equal(now.reward, np.full(12, 0.5 + 0.5 * 0 - 3))
    state, now = game.step(state, np.zeros(12, np.int32))
    np.testing.assert_array_equal(now.reward, np.full(12, 0.5 * 3 - 1))


def test_a_policy_learns_to_win_by_playing_itself():
    made = train(SelfPlay(match.make()), SETTINGS, [0], 40_000)
    game = SelfPlay(match.make())
    state, now = game.reset(SEEDS)
    state, now = game.step(state, np.zeros(12, np.int32))
    params = {name: values[0] for name, values in made.params.items()}
    _, out, _ = made.policy.apply(params, made.policy.blank(12), now.obs, np.zeros(12, bool), np)
    np.testing.assert_array_equal(out.argmax(-1), _right(now.obs))


def test_what_cannot_be_played_by_both_is_one_clear_line():
    with pytest.raises(UserError, match="no game of two players"):
        SelfPlay(twinstep.make("pong-v0"))
    with pytest.raises(UserError, match="even number of lanes, not 3"):
        SelfPlay(match.make()).reset(SEEDS[:3])
