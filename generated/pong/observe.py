"""The observation."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from twinstep.generated.pong.state import (
    BALL_SPEED_X,
    HEIGHT,
    MAX_PADDLE_Y,
    MAX_SPEED_Y,
    MIN_PADDLE_Y,
    WIDTH,
    Array,
    Observation,
    Params,
)


def _divide(x: Array, divisor: float) -> Array:
    # XLA turns a division by a constant into a product with its rounded inverse, even
    # through a broadcast or a barrier around the scalar. It must not see that every lane's
    # divisor is the same, so each lane's divisor is made of its own value, behind a barrier.
    return x / lax.optimization_barrier(x * 0.0 + divisor)


def observe(
    paddle_yl: Array,
    paddle_yr: Array,
    ball_x: Array,
    ball_y: Array,
    ball_vx: Array,
    ball_vy: Array,
    score_l: Array,
    score_r: Array,
    params: Params,
) -> Observation:
    """Return the agent's observation (lines 94-103); scores are u32[], the rest f32[].

    The scores are divided as whole numbers (lines 101-102): 0 until the episode is over.
    """
    whole = np.uint32(params.max_score)
    return Observation(
        _divide(paddle_yl - MIN_PADDLE_Y, MAX_PADDLE_Y - MIN_PADDLE_Y),
        _divide(paddle_yr - MIN_PADDLE_Y, MAX_PADDLE_Y - MIN_PADDLE_Y),
        _divide(ball_x, WIDTH),
        _divide(ball_y, HEIGHT),
        _divide(ball_vx + BALL_SPEED_X, 2 * BALL_SPEED_X),
        _divide(ball_vy + MAX_SPEED_Y, 2 * MAX_SPEED_Y),
        (score_l // whole).astype(jnp.float32),
        (score_r // whole).astype(jnp.float32),
    )
