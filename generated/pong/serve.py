"""The serve: a round's reset and its one draw."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from twinstep.generated.pong.state import (
    BALL_SIZE,
    BALL_SPEED_X,
    HEIGHT,
    PADDLE_HEIGHT,
    WIDTH,
    Array,
)

_GOLDEN = np.uint32(0x9E3779B9)


class Serve(NamedTuple):
    """The values set by a serve: f32[] paddle_*, ball_*; i32[] tick, n_bounces; u32[] draws."""

    paddle_yl: Array
    paddle_yr: Array
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    tick: Array
    n_bounces: Array
    draws: Array


def h32(x: Array) -> Array:
    """Hash u32[] to u32[]."""
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)


def key_of(seed: Array) -> Array:
    """Return the key u32[] of the draws of an episode with this seed u32[2]."""
    return h32(seed[0] ^ h32(seed[1]))


def draw(rng_key: Array, count: Array) -> Array:
    """Return the draw number `count` (from 0) under this key; u32[] each."""
    return h32(rng_key ^ (count * _GOLDEN)) >> 1


def draw_from(table: Array, count: Array) -> Array:
    """Return the draw number `count`, below K, of a recorded table u32[K]."""
    return table[count]


def serve(rng_key: Array, draws: Array) -> Serve:
    """Reset the round with the next draw under this key (lines 105-114)."""
    return serve_with(draw(rng_key, draws), draws)


def serve_with(drawn: Array, draws: Array) -> Serve:
    """Reset the round with this draw (lines 105-114); u32[] each.

    Both paddles are centred, also the agent's. vy is -1 or 0, never 1 (line 111).
    """
    paddle = jnp.float32(HEIGHT / 2 - PADDLE_HEIGHT / 2)
    return Serve(
        paddle_yl=paddle,
        paddle_yr=paddle,
        ball_x=jnp.float32(WIDTH / 5),
        ball_y=jnp.float32(HEIGHT / 2 - BALL_SIZE / 2),
        ball_vx=jnp.float32(BALL_SPEED_X),
        ball_vy=jnp.where(drawn % 2 == 0, jnp.float32(-1.0), jnp.float32(0.0)),
        tick=jnp.int32(0),
        n_bounces=jnp.int32(0),
        draws=draws + 1,
    )
