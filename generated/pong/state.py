"""The state of one game, the parameters, and the constants of the field.

Line numbers in this package are those of `pong.h`, PufferLib 3.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax

Array = jax.Array

WIDTH = 500.0
HEIGHT = 640.0
PADDLE_HEIGHT = 70.0
PADDLE_SPEED = 8.0
MIN_PADDLE_Y = -35.0
MAX_PADDLE_Y = 605.0
BALL_SIZE = 32.0
BALL_SPEED_X = 10.0
MAX_SPEED_Y = 13.0
SPEED_Y_INCREMENT = 3.0


@dataclass(frozen=True)
class Params:
    """The parameters of a game; static under jit.

    frameskip: frames played per step. continuous: the action is the paddle's direction
    itself instead of one of 0 (stay), 1 (up, +), 2 (down, -). max_score: points that end an
    episode.
    """

    frameskip: int
    continuous: bool
    max_score: int


class Observation(NamedTuple):
    """The agent's observation, f32[] each.

    Eight arrays and not one: under vmap a stack into [N, 8] at every step costs more than
    the game.
    """

    paddle_left: Array
    paddle_right: Array
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    score_left: Array
    score_right: Array


class State(NamedTuple):
    """One game. f32[] unless stated otherwise.

    score_l, score_r: u32[]. tick (steps), n_bounces (both sides' bounces): i32[], counted
        since the last serve, not of the episode (quirks of lines 112-113 and 171, 195).
    win: i32[], 1 if the agent won the last point.
    last_obs: part of the state because a point leaves it stale.
    draws: u32[], draws made in this episode. rng_key: u32[], their key, or None where they
        come from draw_table: u32[K], or None.
    reward, terminated (bool[]): of the last step.
    """

    paddle_yl: Array
    paddle_yr: Array
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array
    paddle_dir: Array
    score_l: Array
    score_r: Array
    tick: Array
    n_bounces: Array
    win: Array
    last_obs: Observation
    draws: Array
    rng_key: Array | None
    draw_table: Array | None
    reward: Array
    terminated: Array
