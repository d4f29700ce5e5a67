//! The left side: the opponent's bounce, or the agent's point.

use crate::rules::{Params, meets};

/// The game after the left side: the result of [`left_side`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftSide {
    /// Horizontal speed of the ball, per frame.
    pub ball_vx: f32,
    /// Both sides' bounces since the last serve.
    pub n_bounces: i32,
    /// Points of the agent.
    pub score_r: u32,
    /// 1 if the agent won the last point.
    pub win: i32,
    /// Reward of this frame, 0 if nothing happened here.
    pub reward: f32,
    /// Whether a point was scored here.
    pub point: bool,
    /// Whether that point ended the episode.
    pub terminated: bool,
}

/// Whether the ball is beyond the left side, where [`left_side`] changes something.
#[inline(always)]
pub(crate) fn past_left(ball_x: f32) -> bool {
    ball_x < 0.0
}

/// Bounce on the opponent's paddle, or the agent's point (lines 166-187).
///
/// Inputs are the values after both paddles and the ball moved. The ball is not clipped here,
/// as it is on the right: it stays at a negative x for a frame. The opponent's bounce counts
/// in `n_bounces`, but gives no reward. After a point `ball_vx` and `n_bounces` are 0.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn left_side(
    ball_x: f32,
    ball_y: f32,
    ball_vx: f32,
    paddle_yl: f32,
    score_r: u32,
    win: i32,
    n_bounces: i32,
    params: Params,
) -> LeftSide {
    let past = past_left(ball_x);
    let meets = meets(ball_y, paddle_yl);
    let bounce = past & meets;
    let point = past & !meets;
    let score_r = score_r.wrapping_add(u32::from(point));
    let vx = if bounce { -ball_vx } else { ball_vx };
    let bounces = n_bounces.wrapping_add(i32::from(bounce));
    LeftSide {
        ball_vx: if point { 0.0 } else { vx },
        n_bounces: if point { 0 } else { bounces },
        score_r,
        win: if point { 1 } else { win },
        reward: if point { 1.0 } else { 0.0 },
        point,
        terminated: point & (score_r == params.max_score),
    }
}
