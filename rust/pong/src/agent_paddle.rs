//! The agent's paddle, on the right.

use crate::rules::{MAX_PADDLE_Y, MIN_PADDLE_Y, PADDLE_SPEED, Params, hold};

/// The agent's paddle after a frame: the result of [`agent_paddle`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentPaddle {
    /// Lower edge of the agent's paddle.
    pub paddle_yr: f32,
    /// Direction of the agent's paddle: 1 is up (+y), -1 down.
    pub paddle_dir: f32,
}

/// Moves the agent's paddle by one frame (lines 128-140, 143, 151-152).
///
/// A continuous action is not clipped (line 129): only the Python class around the C does that. A
/// direction of 1.5 is a paddle of speed 12. A discrete action other than 0, 1 and 2 stays.
#[inline(always)]
pub fn agent_paddle(paddle_yr: f32, action: f32, params: Params) -> AgentPaddle {
    let paddle_dir = direction(action, params);
    AgentPaddle {
        paddle_yr: moved(paddle_yr, paddle_dir),
        paddle_dir,
    }
}

/// The direction of an action; the same in all frames of a step.
#[inline(always)]
pub(crate) fn direction(action: f32, params: Params) -> f32 {
    let direction = if action == 1.0 {
        1.0
    } else if action == 2.0 {
        -1.0
    } else {
        0.0
    };
    if params.continuous { action } else { direction }
}

/// The paddle one frame later.
#[inline(always)]
pub(crate) fn moved(paddle_yr: f32, paddle_dir: f32) -> f32 {
    hold(
        paddle_yr + PADDLE_SPEED * paddle_dir,
        MIN_PADDLE_Y,
        MAX_PADDLE_Y,
    )
}
