"""What a drawn action stands for where not all are legal."""

import jax.numpy as jnp
import numpy as np

from twinstep.masked import legalise

RNG = np.random.default_rng(0)
LEGAL = RNG.random((64, 2, 10)) < RNG.random((64, 1, 1))
DRAWN = RNG.integers(0, 10, (64, 2)).astype(np.int32)


def test_a_legal_action_stands_for_itself_and_another_for_one_by_its_rank():
    chosen = legalise(DRAWN, LEGAL)
    assert chosen.dtype == DRAWN.dtype
    for lane in np.ndindex(DRAWN.shape):
        (legal,) = np.nonzero(LEGAL[lane])
        drawn = DRAWN[lane]
        ranked = legal[drawn % len(legal)] if len(legal) else 0
        assert chosen[lane] == (drawn if drawn in legal else ranked)
    assert not LEGAL.any(-1).all()
    assert legalise(DRAWN, None) is DRAWN


def test_numpy_and_jax_choose_the_same():
    traced = legalise(jnp.asarray(DRAWN), jnp.asarray(LEGAL), jnp)
    assert np.asarray(traced).tobytes() == legalise(DRAWN, LEGAL).tobytes()
