//! The right side: the agent's bounce, or the opponent's point.

use crate::rules::{BALL_SIZE, HEIGHT, MAX_SPEED_Y, Params, SPEED_Y_INCREMENT, WIDTH, hold, meets};

/// The limit up to which a ball counts as flat (line 200). The reference compares in double
/// with 0.01, which lies between this f32 and the next; hence `<=` here where it has `<`.
const FLAT: f32 = 0.01;

/// The game after the right side: the result of [`right_side`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RightSide {
    /// Left edge of the ball.
    pub ball_x: f32,
    /// Lower edge of the ball.
    pub ball_y: f32,
    /// Horizontal speed of the ball, per frame.
    pub ball_vx: f32,
    /// Vertical speed of the ball, per frame.
    pub ball_vy: f32,
    /// Both sides' bounces since the last serve.
    pub n_bounces: i32,
    /// Points of the opponent.
    pub score_l: u32,
    /// 1 if the agent won the last point.
    pub win: i32,
    /// Reward of this frame, 0 if nothing happened here.
    pub reward: f32,
    /// Whether a point was scored here.
    pub point: bool,
    /// Whether that point ended the episode.
    pub terminated: bool,
}

/// Whether the ball is beyond the right side, where [`right_side`] changes something.
#[inline(always)]
pub(crate) fn past_right(ball_x: f32) -> bool {
    ball_x + BALL_SIZE > WIDTH
}

/// Bounce on the agent's paddle, which changes vy, or the opponent's point (lines 190-222).
///
/// Inputs are the values after both paddles and the ball moved. A flat ball is lifted here
/// only: a flat serve stays flat until the agent hits it. The clip belongs to the bounce
/// (lines 220-221). After a point the ball's four fields and `n_bounces` are 0.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn right_side(
    ball_x: f32,
    ball_y: f32,
    ball_vx: f32,
    ball_vy: f32,
    paddle_yr: f32,
    paddle_dir: f32,
    score_l: u32,
    win: i32,
    n_bounces: i32,
    params: Params,
) -> RightSide {
    let past = past_right(ball_x);
    let meets = meets(ball_y, paddle_yr);
    let bounce = past & meets;
    let point = past & !meets;
    let score_l = score_l.wrapping_add(u32::from(point));
    // The product is rounded before the sum, as in the reference.
    let pushed = ball_vy + SPEED_Y_INCREMENT * paddle_dir;
    let held = hold(pushed, -MAX_SPEED_Y, MAX_SPEED_Y);
    let vy = if held.abs() <= FLAT {
        SPEED_Y_INCREMENT
    } else {
        held
    };
    let choose = |at_bounce: f32, otherwise: f32| {
        let value = if bounce { at_bounce } else { otherwise };
        if point { 0.0 } else { value }
    };
    let bounces = n_bounces.wrapping_add(i32::from(bounce));
    let loss_or_none = if point { -1.0 } else { 0.0 };
    RightSide {
        ball_x: choose(hold(ball_x, 0.0, WIDTH - BALL_SIZE), ball_x),
        ball_y: choose(hold(ball_y, 0.0, HEIGHT - BALL_SIZE), ball_y),
        ball_vx: choose(-ball_vx, ball_vx),
        ball_vy: choose(vy, ball_vy),
        n_bounces: if point { 0 } else { bounces },
        score_l,
        win: if point { 0 } else { win },
        reward: if bounce { 0.1 } else { loss_or_none },
        point,
        terminated: point & (score_l == params.max_score),
    }
}

#[cfg(test)]
mod tests {
    use super::FLAT;

    #[test]
    fn the_limit_of_a_flat_ball_is_that_of_the_double_comparison() {
        for value in [FLAT.next_down(), FLAT, FLAT.next_up()] {
            assert_eq!(value <= FLAT, f64::from(value) < 0.01);
        }
    }
}
