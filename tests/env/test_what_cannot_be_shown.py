"""`make` says in a line what a backend cannot show or save: a port without `frame` or state."""

import dataclasses

import pytest

from twinstep.env.make import Env
from twinstep.errors import UserError
from twinstep.project.registry import EnvVariant
from twinstep.tests.toys import glide


def _env(env, backend):
    return Env(EnvVariant(env, env.variants[0]), backend, "off")


def test_a_backend_without_frame_shows_and_saves_nothing():
    env = _env(glide.GLIDE, "fast")
    state, _ = env.reset(3, lanes=2)
    for asked in (env.frame, env.save):
        with pytest.raises(UserError, match="^backend 'fast' of glide-v0 has no `frame`$"):
            asked(state)


def test_a_contract_without_state_saves_nothing():
    def bare(params):
        return dataclasses.replace(
            glide.contract(params), state=(), randomness=glide.Randomness("")
        )

    env = _env(dataclasses.replace(glide.GLIDE, contract=bare), "fast")
    state, _ = env.reset(3, lanes=2)
    with pytest.raises(UserError, match="names no state: there is nothing to save"):
        env.save(state)
