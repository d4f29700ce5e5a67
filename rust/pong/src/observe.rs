//! The observation.

use crate::rules::{BALL_SPEED_X, HEIGHT, MAX_PADDLE_Y, MAX_SPEED_Y, MIN_PADDLE_Y, Params, WIDTH};

/// Length of an observation.
pub const OBSERVATION: usize = 8;

/// `score / max_score` in whole numbers. Made of doubles, which hold any u32 and whose
/// rounding never reaches the next whole number: vectors cannot divide integers.
#[inline(always)]
fn whole_share(score: u32, max_score: u32) -> f32 {
    (f64::from(score) / f64::from(max_score)).trunc() as f32
}

/// What the agent sees (lines 94-103). The scores are divided as whole numbers (lines 101-102):
/// 0 until the episode is over.
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
    [
        (paddle_yl - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
        (paddle_yr - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
        ball_x / WIDTH,
        ball_y / HEIGHT,
        (ball_vx + BALL_SPEED_X) / (2.0 * BALL_SPEED_X),
        (ball_vy + MAX_SPEED_Y) / (2.0 * MAX_SPEED_Y),
        whole_share(score_l, params.max_score),
        whole_share(score_r, params.max_score),
    ]
}

#[cfg(test)]
mod tests {
    use super::whole_share;

    #[test]
    fn whole_share_is_the_division_of_integers() {
        for max_score in [1, 2, 3, 7, 21, 1_000_003, u32::MAX - 1, u32::MAX] {
            for times in [0, 1, 2, 3, 1000, u32::MAX / max_score] {
                let edge = max_score.wrapping_mul(times);
                for score in [edge.wrapping_sub(1), edge, edge.wrapping_add(1)] {
                    assert_eq!(whole_share(score, max_score), (score / max_score) as f32);
                }
            }
        }
    }
}
