//! The observation.

use crate::rules::{BALL_SPEED_X, HEIGHT, MAX_PADDLE_Y, MAX_SPEED_Y, MIN_PADDLE_Y, Params, WIDTH};

/// Length of an observation.
pub const OBSERVATION: usize = 8;

/// A score as the agent sees it (lines 101-102): an integer division, and so 0 until the episode is over.
#[inline(always)]
pub(crate) fn whole_share(score: u32, max_score: u32) -> f32 {
    (score / max_score) as f32
}

/// The agent's view (lines 94-103).
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn observe(
    paddle_yl: f32,
    paddle_yr: f32,
    ball_x: f32,
    ball_y: f32,
    ball_vx: f32,
    ball_vy: f32,
    score_l: u32,
    score_r: u32,
    params: Params,
) -> [f32; OBSERVATION] {
    look(
        paddle_yl,
        paddle_yr,
        ball_x,
        ball_y,
        ball_vx,
        ball_vy,
        whole_share(score_l, params.max_score),
        whole_share(score_r, params.max_score),
    )
}

/// [`observe`] with the scores' shares given.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn look(
    paddle_yl: f32,
    paddle_yr: f32,
    ball_x: f32,
    ball_y: f32,
    ball_vx: f32,
    ball_vy: f32,
    share_l: f32,
    share_r: f32,
) -> [f32; OBSERVATION] {
    [
        (paddle_yl - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
        (paddle_yr - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
        ball_x / WIDTH,
        ball_y / HEIGHT,
        (ball_vx + BALL_SPEED_X) / (2.0 * BALL_SPEED_X),
        (ball_vy + MAX_SPEED_Y) / (2.0 * MAX_SPEED_Y),
        share_l,
        share_r,
    ]
}
