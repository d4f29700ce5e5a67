//! Parameters, constants of the field, and two functions that games share.

/// Parameters of the games of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Frames played per step.
    pub frameskip: u32,
    /// The action is the paddle's direction itself, not one of 0 (stay), 1 (up, +), 2 (down, -).
    pub continuous: bool,
    /// Points that end an episode; at least 1.
    pub max_score: u32,
}

pub(crate) const WIDTH: f32 = 500.0;
pub(crate) const HEIGHT: f32 = 640.0;
pub(crate) const PADDLE_HEIGHT: f32 = 70.0;
pub(crate) const PADDLE_SPEED: f32 = 8.0;
pub(crate) const MIN_PADDLE_Y: f32 = -35.0;
pub(crate) const MAX_PADDLE_Y: f32 = 605.0;
pub(crate) const BALL_SIZE: f32 = 32.0;
pub(crate) const BALL_SPEED_X: f32 = 10.0;
pub(crate) const MAX_SPEED_Y: f32 = 13.0;
pub(crate) const SPEED_Y_INCREMENT: f32 = 3.0;

/// `fminf(fmaxf(value, low), high)` as the reference's C library computes it.
///
/// Equal operands give the second one: -0.0 held at 0 becomes 0.0. `f32::clamp` would keep it.
/// A NaN becomes `low`. Each comparison is one instruction.
#[inline(always)]
#[allow(clippy::manual_clamp)]
pub(crate) fn hold(value: f32, low: f32, high: f32) -> f32 {
    let raised = if value > low { value } else { low };
    if raised < high { raised } else { high }
}

/// Whether the ball's y range touches the paddle's (lines 167-168, 191-192).
#[inline(always)]
pub(crate) fn meets(ball_y: f32, paddle_y: f32) -> bool {
    (ball_y + BALL_SIZE > paddle_y) & (ball_y < paddle_y + PADDLE_HEIGHT)
}

#[cfg(test)]
mod tests {
    use super::hold;

    #[test]
    fn hold_gives_the_bound_for_a_zero_of_the_other_sign() {
        assert_eq!(hold(-0.0, 0.0, 9.0).to_bits(), 0.0f32.to_bits());
        assert_eq!(hold(10.0, 0.0, 9.0), 9.0);
        assert_eq!(hold(-1.0, 0.0, 9.0), 0.0);
        assert_eq!(hold(f32::NAN, -1.0, 9.0), -1.0);
    }
}
