"""Policies train alike in a candidate of this process and in one behind walls (level 4)."""

import numpy as np
import pytest

from twinstep.env.make import Env
from twinstep.env.remote import RemoteEnv
from twinstep.plans import PPO
from twinstep.project import registry
from twinstep.rl.ppo import train
from twinstep.rl.versus import OpponentWrapper

SMALL = PPO(lanes=8, steps=16, minibatches=2, epochs=1)


@pytest.mark.parametrize("variant", ["fs8", "fs8-cont"])
def test_a_policy_is_the_same_to_the_bit(variant):
    subject = registry.variant_of("pong", variant)
    (pair,) = registry.pairs(subject, ["rust"])
    apart = RemoteEnv(pair, "same-step")
    envs = (Env(subject, "rust", "same-step"), apart)
    here, there = (train(env, SMALL, [3, 4], 1024).params for env in envs)
    apart.close()
    assert here.keys() == there.keys()
    for name, values in here.items():
        np.testing.assert_array_equal(values, there[name])


def test_a_game_of_two_is_met_through_it_as_one_player_sees_it():
    subject = registry.variant_of("tcgjax", "apex")
    (pair,) = registry.pairs(subject, ["jax"])
    apart = RemoteEnv(pair, "same-step")
    game = OpponentWrapper(apart, lambda obs, legal, word, xp: legal.argmax(-1).astype(np.int32))
    assert (game.backend, game.dtype, game.independent) == ("jax", "float32", True)
    game.close()
