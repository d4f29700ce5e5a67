//! The opponent's paddle, on the left.

use crate::rules::{MAX_PADDLE_Y, MIN_PADDLE_Y, PADDLE_HEIGHT, PADDLE_SPEED, hold};

/// Moves the opponent's paddle by one frame (lines 146-148, 153-154). Returns `paddle_yl`.
///
/// Its centre follows the ball's edge, not the ball's centre, and the place of the ball before this
/// frame.
#[inline(always)]
pub fn opponent_paddle(paddle_yl: f32, ball_y: f32) -> f32 {
    let delta = ball_y - (paddle_yl + PADDLE_HEIGHT / 2.0);
    let moved = paddle_yl + hold(delta, -PADDLE_SPEED, PADDLE_SPEED);
    hold(moved, MIN_PADDLE_Y, MAX_PADDLE_Y)
}
