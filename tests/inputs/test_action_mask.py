"""The mapping of drawn actions to legal ones under a legal action mask."""

import jax.numpy as jnp
import numpy as np
import pytest

from twinstep.action_mask import legalise, nth_legal
from twinstep.bench.jax_targets import MadeTarget
from twinstep.env.make import Env
from twinstep.frames import Start
from twinstep.project.registry import EnvVariant
from twinstep.tests.toys.duel import DUEL, Oracle

#: Numbers of actions below and above the bits of one word.
WIDTHS = pytest.mark.parametrize("width", [1, 10, 32, 33, 128])


def drawn_of(width):
    """Return actions i32[64, 2] and masks bool[64, 2, width], some empty, some full."""
    rng = np.random.default_rng(width)
    legal = rng.random((64, 2, width)) < rng.choice([0, 0.05, 0.5, 1], (64, 1, 1))
    return rng.integers(0, width, (64, 2)).astype(np.int32), legal


@WIDTHS
def test_a_legal_action_stands_for_itself_and_another_for_one_by_its_rank(width):
    drawn, mask = drawn_of(width)
    chosen = legalise(drawn, mask)
    assert chosen.dtype == drawn.dtype
    for lane in np.ndindex(drawn.shape):
        (legal,) = np.nonzero(mask[lane])
        ranked = legal[drawn[lane] % len(legal)] if len(legal) else 0
        assert chosen[lane] == (drawn[lane] if drawn[lane] in legal else ranked)
    assert not mask.any(-1).all()
    assert mask.all(-1).any()
    assert legalise(drawn, None) is drawn


@WIDTHS
def test_numpy_and_jax_choose_the_same(width):
    drawn, mask = drawn_of(width)
    traced = legalise(jnp.asarray(drawn), jnp.asarray(mask), jnp)
    assert np.asarray(traced).tobytes() == legalise(drawn, mask).tobytes()


def test_the_nth_legal_action_counts_from_0_and_around():
    legal = np.array([[False, True, True, False, True]] * 5 + [[False] * 5])
    number = np.array([0, 1, 2, 3, 2**32 - 1, 7], np.uint32)
    chosen = nth_legal(number, legal)
    assert chosen.tolist() == [1, 2, 4, 1, 1, 0]
    assert chosen.dtype == np.int32


def test_steps_outside_jax_play_what_the_drawn_actions_stand_for():
    """Compare with a loop: one game after the other, each action mapped by the mask before it."""
    player = MadeTarget(Env(EnvVariant(DUEL, DUEL.variants[0]), "oracle", "same-step"))
    seeds = np.stack([np.arange(3), np.zeros(3)], -1).astype(np.uint32)
    drawn = np.random.default_rng(2).integers(0, 4, (20, 3, 2)).astype(np.int32)
    player.begin(seeds, drawn)
    parts = []
    for _ in range(2):  # a second call goes on where the first ended
        player.play()
        parts.append(player.shown())
    shown = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    ended = 0
    for lane, seed in enumerate(seeds):
        oracle = Oracle(DUEL.contract({}))
        frame = oracle.reset(Start(seed, {}))
        for t, actions in enumerate(np.concatenate([drawn, drawn])[:, lane]):
            frame = oracle.step(legalise(actions, frame.legal))
            np.testing.assert_array_equal(shown["reward"][t, lane], frame.reward)
            over = frame.terminated or frame.truncated
            assert (shown["terminated"] | shown["truncated"])[t, lane] == over
            if over:
                seed = seed + np.array([0, 1], np.uint32)
                frame = oracle.reset(Start(seed, {}))
                ended += 1
            np.testing.assert_array_equal(shown["obs"][t, lane], frame.obs)
    assert ended > 6
