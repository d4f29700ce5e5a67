//! The ball in flight.

use crate::rules::{BALL_SIZE, HEIGHT};

/// The ball after a frame of flight: the result of [`ball`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Left edge of the ball.
    pub ball_x: f32,
    /// Lower edge of the ball.
    pub ball_y: f32,
    /// Vertical speed of the ball, per frame.
    pub ball_vy: f32,
}

/// Moves the ball by one frame (lines 157-163).
///
/// Past the top or the bottom edge vy changes its sign; the ball itself stays outside.
#[inline(always)]
pub fn ball(ball_x: f32, ball_y: f32, ball_vx: f32, ball_vy: f32) -> Ball {
    let x = ball_x + ball_vx;
    let y = ball_y + ball_vy;
    let outside = (y < 0.0) | (y + BALL_SIZE > HEIGHT);
    Ball {
        ball_x: x,
        ball_y: y,
        ball_vy: if outside { -ball_vy } else { ball_vy },
    }
}
