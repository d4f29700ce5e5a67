"""The two paddles. y is the paddle's edge nearer to 0; both may leave the field by half."""

from __future__ import annotations

import jax.numpy as jnp

from twinstep.generated.pong.state import (
    MAX_PADDLE_Y,
    MIN_PADDLE_Y,
    PADDLE_HEIGHT,
    PADDLE_SPEED,
    Array,
    Params,
)


def agent_paddle(paddle_yr: Array, action: Array, params: Params) -> tuple[Array, Array]:
    """Move the agent's paddle by one frame (lines 128-140, 143, 151-152).

    action: i32[], or f32[] if continuous. Returns (paddle_yr, paddle_dir), f32[] each.
    """
    if params.continuous:
        # Not clipped (line 129): only the Python class around the C does that. A direction
        # of 1.5 is a paddle of speed 12.
        paddle_dir = action
    else:
        up, down = (action == code for code in (1, 2))
        paddle_dir = up.astype(jnp.float32) - down.astype(jnp.float32)
    # 8 * dir is exact, so a fused multiply-add rounds as the two operations do.
    moved = paddle_yr + PADDLE_SPEED * paddle_dir
    return jnp.clip(moved, MIN_PADDLE_Y, MAX_PADDLE_Y), paddle_dir


def opponent_paddle(paddle_yl: Array, ball_y: Array) -> Array:
    """Move the opponent's paddle by one frame (lines 146-148, 153-154); f32[] each.

    Its centre follows the ball's edge, not the ball's centre, at the ball's place before
    this frame.
    """
    delta = ball_y - (paddle_yl + PADDLE_HEIGHT / 2)
    moved = paddle_yl + jnp.clip(delta, -PADDLE_SPEED, PADDLE_SPEED)
    return jnp.clip(moved, MIN_PADDLE_Y, MAX_PADDLE_Y)
