//! The serve: a round's reset and its one draw.

use crate::rules::{BALL_SIZE, BALL_SPEED_X, HEIGHT, PADDLE_HEIGHT, WIDTH};

/// The fields that a serve sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Serve {
    /// Lower edge of the opponent's paddle.
    pub paddle_yl: f32,
    /// Lower edge of the agent's paddle.
    pub paddle_yr: f32,
    /// Left edge of the ball.
    pub ball_x: f32,
    /// Lower edge of the ball.
    pub ball_y: f32,
    /// Horizontal speed of the ball, per frame.
    pub ball_vx: f32,
    /// Vertical speed of the ball, per frame.
    pub ball_vy: f32,
    /// Steps since the last serve.
    pub tick: i32,
    /// Both sides' bounces since the last serve.
    pub n_bounces: i32,
    /// Draws used so far, this one included.
    pub draws: u32,
}

#[inline(always)]
fn h32(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// The key of the draws of an episode with this seed.
pub fn key_of(seed: [u32; 2]) -> u32 {
    h32(seed[0] ^ h32(seed[1]))
}

/// The draw number `count` (from 0) under this key.
#[inline(always)]
pub fn draw(rng_key: u32, count: u32) -> u32 {
    h32(rng_key ^ count.wrapping_mul(0x9e37_79b9)) >> 1
}

/// Resets the round with the next draw under this key (lines 105-114).
#[inline(always)]
pub fn serve(rng_key: u32, draws: u32) -> Serve {
    serve_with(draw(rng_key, draws), draws)
}

/// Resets the round with this draw (lines 105-114).
///
/// Both paddles are centred, even the agent's. vy is -1 or 0, never 1 (line 111).
#[inline(always)]
pub fn serve_with(drawn: u32, draws: u32) -> Serve {
    let paddle = HEIGHT / 2.0 - PADDLE_HEIGHT / 2.0;
    Serve {
        paddle_yl: paddle,
        paddle_yr: paddle,
        ball_x: WIDTH / 5.0,
        ball_y: HEIGHT / 2.0 - BALL_SIZE / 2.0,
        ball_vx: BALL_SPEED_X,
        ball_vy: if drawn.is_multiple_of(2) { -1.0 } else { 0.0 },
        tick: 0,
        n_bounces: 0,
        draws: draws.wrapping_add(1),
    }
}
