//! The step of a block of games, composed of the modules.
//!
//! In most frames nothing happens but flight: a loop over all games without branches, which
//! compiles to vector instructions. The few games whose ball is past a side, and those that
//! scored, are then visited one by one.

use crate::agent_paddle::{direction, moved};
use crate::ball::ball;
use crate::block::{Block, LANES, Row};
use crate::episode::next_serve;
use crate::left_side::{left_side, past_left};
use crate::observe::look;
use crate::opponent_paddle::opponent_paddle;
use crate::right_side::{past_right, right_side};
use crate::rules::Params;
use crate::set::Set;

/// Plays `frameskip` frames with one action each, or fewer: a point ends a game's step (lines
/// 107-219). Actions are numbers, as in the reference's buffer, even discrete ones.
///
/// Returns the games that ended. Their states hold the final scores; the reference returns those
/// after [`restart`](crate::episode::restart) instead. With a `table` (values of each game) the draws
/// come from there.
pub(crate) fn step(
    block: &mut Block,
    actions: &Row<f32>,
    params: Params,
    table: Option<&[u32]>,
) -> Set {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as was just checked.
        return unsafe { step_avx2(block, actions, params, table) };
    }
    play(block, actions, params, table)
}

/// [`step`] with vectors of eight. AVX2 does not bring fused multiply-add with it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn step_avx2(block: &mut Block, actions: &Row<f32>, params: Params, table: Option<&[u32]>) -> Set {
    play(block, actions, params, table)
}

#[inline(always)]
fn play(block: &mut Block, actions: &Row<f32>, params: Params, table: Option<&[u32]>) -> Set {
    block.reward = [0.0; LANES];
    block.terminated = [false; LANES];
    for (i, action) in actions.iter().enumerate() {
        // Counts steps, not frames.
        block.tick[i] = block.tick[i].wrapping_add(1);
        block.paddle_dir[i] = direction(*action, params);
    }
    let (mut scored, mut ended) = (Set::NONE, Set::NONE);
    let mut before = Flight::new();
    for i in fly(block, None) {
        // The observation stays that of the last step.
        sides(block, i, params, &mut scored, &mut ended);
    }
    for _ in 1..params.frameskip {
        let past = fly(block, Some(&mut before));
        for i in past.without(scored) {
            let vx = block.ball_vx[i];
            sides(block, i, params, &mut scored, &mut ended);
            if scored.has(i) {
                block.last_obs[i] = before.look(block, i, vx);
            }
        }
    }
    // The reference observes at the end of each frame, but not after a point: then the buffer keeps the
    // frame before, which may belong to the step before.
    block.observe_all_but(scored);
    for i in scored {
        // A game flew on in the frames after its point; the serve sets everything that this changed.
        next_serve(block, i, table);
        block.share(i, params);
    }
    ended
}

/// Paddles and balls a frame ago.
struct Flight {
    paddle_yl: Row<f32>,
    paddle_yr: Row<f32>,
    ball_x: Row<f32>,
    ball_y: Row<f32>,
    ball_vy: Row<f32>,
}

impl Flight {
    #[inline(always)]
    fn new() -> Self {
        let zeros = [0.0; LANES];
        Self {
            paddle_yl: zeros,
            paddle_yr: zeros,
            ball_x: zeros,
            ball_y: zeros,
            ball_vy: zeros,
        }
    }

    /// The observation of game `i` a frame ago. The scores' shares have not changed since.
    #[inline(always)]
    fn look(&self, block: &Block, i: usize, ball_vx: f32) -> [f32; crate::OBSERVATION] {
        look(
            self.paddle_yl[i],
            self.paddle_yr[i],
            self.ball_x[i],
            self.ball_y[i],
            ball_vx,
            self.ball_vy[i],
            block.share_l[i],
            block.share_r[i],
        )
    }
}

/// Moves the paddles and the ball of all games by one frame. Returns the games whose ball is past a
/// side; nothing more happens in the others.
#[inline(always)]
fn fly(block: &mut Block, mut before: Option<&mut Flight>) -> Set {
    let mut past = Set::NONE;
    for first in (0..LANES).step_by(8) {
        let mut flags = [0; 8];
        for (k, flag) in flags.iter_mut().enumerate() {
            let i = first + k;
            let (yl, yr) = (block.paddle_yl[i], block.paddle_yr[i]);
            let (x, y, vy) = (block.ball_x[i], block.ball_y[i], block.ball_vy[i]);
            if let Some(before) = &mut before {
                before.paddle_yl[i] = yl;
                before.paddle_yr[i] = yr;
                before.ball_x[i] = x;
                before.ball_y[i] = y;
                before.ball_vy[i] = vy;
            }
            let flown = ball(x, y, block.ball_vx[i], vy);
            block.paddle_yl[i] = opponent_paddle(yl, y);
            block.paddle_yr[i] = moved(yr, block.paddle_dir[i]);
            block.ball_x[i] = flown.ball_x;
            block.ball_y[i] = flown.ball_y;
            block.ball_vy[i] = flown.ball_vy;
            *flag = u8::from(past_left(flown.ball_x) | past_right(flown.ball_x));
        }
        past.add_eight(first, flags);
    }
    past
}

/// Plays the sides in game `i`, whose ball is past one of them.
#[inline(always)]
fn sides(block: &mut Block, i: usize, params: Params, scored: &mut Set, ended: &mut Set) {
    let left = left_side(
        block.ball_x[i],
        block.ball_y[i],
        block.ball_vx[i],
        block.paddle_yl[i],
        block.score_r[i],
        block.win[i],
        block.n_bounces[i],
        params,
    );
    let right = right_side(
        block.ball_x[i],
        block.ball_y[i],
        left.ball_vx,
        block.ball_vy[i],
        block.paddle_yr[i],
        block.paddle_dir[i],
        block.score_l[i],
        left.win,
        left.n_bounces,
        params,
    );
    block.ball_x[i] = right.ball_x;
    block.ball_y[i] = right.ball_y;
    block.ball_vx[i] = right.ball_vx;
    block.ball_vy[i] = right.ball_vy;
    block.n_bounces[i] = right.n_bounces;
    block.score_l[i] = right.score_l;
    block.score_r[i] = left.score_r;
    block.win[i] = right.win;
    // A reward replaces that of an earlier frame (lines 176, 196, 207): bounces do not add up.
    let reward = if left.reward != 0.0 {
        left.reward
    } else {
        right.reward
    };
    if reward != 0.0 {
        block.reward[i] = reward;
    }
    if left.point | right.point {
        scored.add(i);
    }
    if left.terminated | right.terminated {
        ended.add(i);
        block.terminated[i] = true;
    }
}
