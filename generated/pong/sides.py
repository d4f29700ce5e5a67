"""What happens where the ball passes a side: a bounce on the paddle, or a point."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from twinstep.generated.pong.state import (
    BALL_SIZE,
    HEIGHT,
    MAX_SPEED_Y,
    PADDLE_HEIGHT,
    SPEED_Y_INCREMENT,
    WIDTH,
    Array,
    Params,
)

#: The limit below which a ball counts as flat (line 200). The reference compares in double
#: with 0.01, which lies just above this float32; hence <= here where it has <.
FLAT = 0.01


class Left(NamedTuple):
    """After the left side: f32[] ball_vx, reward; i32[] n_bounces, win; u32[]; bool[]."""

    ball_vx: Array
    n_bounces: Array
    score_r: Array
    win: Array
    reward: Array
    point: Array
    terminated: Array


class Right(NamedTuple):
    """After the right side: f32[] ball_*, reward; i32[] n_bounces, win; u32[]; bool[]."""

    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    n_bounces: Array
    score_l: Array
    win: Array
    reward: Array
    point: Array
    terminated: Array


def _meets(ball_y: Array, paddle_y: Array) -> Array:
    return (ball_y + BALL_SIZE > paddle_y) & (ball_y < paddle_y + PADDLE_HEIGHT)


def left_side(
    ball_x: Array,
    ball_y: Array,
    ball_vx: Array,
    paddle_yl: Array,
    score_r: Array,
    win: Array,
    n_bounces: Array,
    params: Params,
) -> Left:
    """Bounce on the opponent's paddle, or the agent's point (lines 166-187).

    Inputs are the values after both paddles and the ball moved. The ball is not clipped
    here, as it is on the right: it stays at a negative x for a frame.
    """
    past = ball_x < 0
    meets = _meets(ball_y, paddle_yl)
    bounce, point = past & meets, past & ~meets
    score_r = score_r + point.astype(jnp.uint32)
    ball_vx = jnp.where(bounce, -ball_vx, ball_vx)
    n_bounces = n_bounces + bounce.astype(jnp.int32)
    return Left(
        ball_vx=jnp.where(point, 0.0, ball_vx),
        n_bounces=jnp.where(point, 0, n_bounces),
        score_r=score_r,
        win=jnp.where(point, 1, win),
        # No reward for the opponent's bounce.
        reward=point.astype(jnp.float32),
        point=point,
        terminated=point & (score_r == params.max_score),
    )


def right_side(
    ball_x: Array,
    ball_y: Array,
    ball_vx: Array,
    ball_vy: Array,
    paddle_yr: Array,
    paddle_dir: Array,
    score_l: Array,
    win: Array,
    n_bounces: Array,
    params: Params,
) -> Right:
    """Bounce on the agent's paddle, which changes vy, or the opponent's point (lines 190-222).

    Inputs are the values after both paddles and the ball moved.
    """
    past = ball_x + BALL_SIZE > WIDTH
    meets = _meets(ball_y, paddle_yr)
    bounce, point = past & meets, past & ~meets
    score_l = score_l + point.astype(jnp.uint32)

    # 3 * dir as a sum: XLA would fuse vy + 3 * dir into one rounding. d + d is exact, so
    # that the sum rounds where the reference's product does.
    push = (paddle_dir + paddle_dir) + paddle_dir
    assert SPEED_Y_INCREMENT == 3.0
    vy = jnp.clip(ball_vy + push, -MAX_SPEED_Y, MAX_SPEED_Y)
    # A flat ball gets a slope (line 200), but only here: a flat serve stays flat
    # until the agent hits it.
    vy = jnp.where(jnp.abs(vy) <= FLAT, SPEED_Y_INCREMENT, vy)

    def choose(at_bounce: Array, otherwise: Array) -> Array:
        return jnp.where(point, 0.0, jnp.where(bounce, at_bounce, otherwise))

    return Right(
        # The clip belongs to the bounce (lines 220-221): after a point the C has returned. In x
        # there is but one end to it, for the ball has passed that.
        ball_x=choose(jnp.float32(WIDTH - BALL_SIZE), ball_x),
        ball_y=choose(jnp.clip(ball_y, 0.0, HEIGHT - BALL_SIZE), ball_y),
        ball_vx=choose(-ball_vx, ball_vx),
        ball_vy=choose(vy, ball_vy),
        n_bounces=jnp.where(point, 0, n_bounces + bounce.astype(jnp.int32)),
        score_l=score_l,
        win=jnp.where(point, 0, win),
        reward=jnp.where(point, -1.0, jnp.where(bounce, 0.1, 0.0)),
        point=point,
        terminated=point & (score_l == params.max_score),
    )
