"""The ball in flight."""

from __future__ import annotations

import jax.numpy as jnp

from twinstep.generated.pong.state import BALL_SIZE, HEIGHT, Array


def move(
    ball_x: Array, ball_y: Array, ball_vx: Array, ball_vy: Array
) -> tuple[Array, Array, Array]:
    """Move the ball by one frame (lines 157-163). Returns (ball_x, ball_y, ball_vy), f32[].

    Past the top or the bottom edge vy changes its sign; the ball itself stays outside.
    """
    x = ball_x + ball_vx
    y = ball_y + ball_vy
    outside = (y < 0) | (y + BALL_SIZE > HEIGHT)
    return x, y, jnp.where(outside, -ball_vy, ball_vy)
