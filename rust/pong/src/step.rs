//! The step of a block of games, composed of the modules.

use crate::agent_paddle::agent_paddle;
use crate::ball::ball;
use crate::block::{Block, LANES, Row};
use crate::left_side::left_side;
use crate::observe::observe;
use crate::opponent_paddle::opponent_paddle;
use crate::right_side::right_side;
use crate::rules::Params;
use crate::serve::{Serve, draw, serve_with};

/// Plays `frameskip` frames with one action each, or fewer: a point ends a game's step (lines
/// 107-219). Actions are numbers as the reference's buffer holds them, also discrete ones.
///
/// A terminal state holds the scores as they stood; the reference returns the state after
/// [`restart`] in its place. With a `table` (values of each game) the draws come from there.
pub(crate) fn step(block: &mut Block, actions: &Row<f32>, params: Params, table: Option<&[u32]>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { step_avx2(block, actions, params, table) };
    }
    play(block, actions, params, table);
}

/// The same with vectors of eight. AVX2 does not bring fused multiply-add with it.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn step_avx2(block: &mut Block, actions: &Row<f32>, params: Params, table: Option<&[u32]>) {
    play(block, actions, params, table);
}

#[inline(always)]
fn play(block: &mut Block, actions: &Row<f32>, params: Params, table: Option<&[u32]>) {
    let scores = (block.score_l, block.score_r);
    // u32 and not bool: masks as wide as the values they choose.
    let mut point = [0u32; LANES];
    let mut seen = [0u32; LANES];
    block.reward = [0.0; LANES];
    let mut terminated = [0u32; LANES];
    for tick in &mut block.tick {
        // Counts steps, not frames.
        *tick = tick.wrapping_add(1);
    }
    for _ in 0..params.frameskip {
        for i in 0..LANES {
            frame(
                block,
                i,
                actions[i],
                params,
                &mut point[i],
                &mut seen[i],
                &mut terminated[i],
            );
        }
    }
    for (to, from) in block.terminated.iter_mut().zip(terminated) {
        *to = from != 0;
    }
    // The reference observes at the end of each frame, but not after a point: the buffer keeps
    // the frame before, if need be the one of the step before. The paddles and the ball still
    // stand there (see `frame`); only the scores are already those after the point.
    for i in 0..LANES {
        let new = observed(block, i, scores.0[i], scores.1[i], params);
        for (old, new) in block.last_obs.iter_mut().zip(new) {
            old[i] = if seen[i] != 0 { new } else { old[i] };
        }
    }
    let drawn = next_draws(block, table);
    for i in 0..LANES {
        set(
            block,
            i,
            point[i] != 0,
            serve_with(drawn[i], block.draws[i]),
        );
    }
}

/// Plays one frame of game `i`, unless a point has ended its step (lines 177-185, 208-216).
///
/// At a point, paddles and ball stay where they were before: the serve, which comes once a
/// step, sets them all.
#[inline(always)]
fn frame(
    block: &mut Block,
    i: usize,
    action: f32,
    params: Params,
    point: &mut u32,
    seen: &mut u32,
    terminated: &mut u32,
) {
    let agent = agent_paddle(block.paddle_yr[i], action, params);
    let paddle_yl = opponent_paddle(block.paddle_yl[i], block.ball_y[i]);
    let moved = ball(
        block.ball_x[i],
        block.ball_y[i],
        block.ball_vx[i],
        block.ball_vy[i],
    );
    let left = left_side(
        moved.ball_x,
        moved.ball_y,
        block.ball_vx[i],
        paddle_yl,
        block.score_r[i],
        block.win[i],
        block.n_bounces[i],
        params,
    );
    let right = right_side(
        moved.ball_x,
        moved.ball_y,
        left.ball_vx,
        moved.ball_vy,
        agent.paddle_yr,
        agent.paddle_dir,
        block.score_l[i],
        left.win,
        left.n_bounces,
        params,
    );
    let live = *point == 0;
    let scored = live & (left.point | right.point);
    let moves = live & !scored;
    let choose = |new: f32, old: f32| if moves { new } else { old };
    block.paddle_yl[i] = choose(paddle_yl, block.paddle_yl[i]);
    block.paddle_yr[i] = choose(agent.paddle_yr, block.paddle_yr[i]);
    block.ball_x[i] = choose(right.ball_x, block.ball_x[i]);
    block.ball_y[i] = choose(right.ball_y, block.ball_y[i]);
    block.ball_vx[i] = choose(right.ball_vx, block.ball_vx[i]);
    block.ball_vy[i] = choose(right.ball_vy, block.ball_vy[i]);
    block.paddle_dir[i] = agent.paddle_dir;
    block.n_bounces[i] = if live {
        right.n_bounces
    } else {
        block.n_bounces[i]
    };
    block.score_l[i] = if live {
        right.score_l
    } else {
        block.score_l[i]
    };
    block.score_r[i] = if live { left.score_r } else { block.score_r[i] };
    block.win[i] = if live { right.win } else { block.win[i] };
    // A reward replaces that of an earlier frame (lines 176, 196, 207): bounces do not add up.
    let reward = if left.reward != 0.0 {
        left.reward
    } else {
        right.reward
    };
    block.reward[i] = if live & (reward != 0.0) {
        reward
    } else {
        block.reward[i]
    };
    *terminated |= u32::from(live & (left.terminated | right.terminated));
    *seen |= u32::from(moves);
    *point |= u32::from(scored);
}

#[inline(always)]
fn observed(
    block: &Block,
    i: usize,
    score_l: u32,
    score_r: u32,
    params: Params,
) -> [f32; crate::OBSERVATION] {
    observe(
        block.paddle_yl[i],
        block.paddle_yr[i],
        block.ball_x[i],
        block.ball_y[i],
        block.ball_vx[i],
        block.ball_vy[i],
        score_l,
        score_r,
        params,
    )
}

/// The draw that each game's next serve makes; past a table's end its last one.
#[inline(always)]
fn next_draws(block: &Block, table: Option<&[u32]>) -> Row<u32> {
    let mut drawn = [0; LANES];
    if let Some(table) = table {
        let length = table.len() / LANES;
        for (i, value) in drawn.iter_mut().enumerate() {
            *value = table[i * length + (block.draws[i] as usize).min(length - 1)];
        }
    } else {
        for (i, value) in drawn.iter_mut().enumerate() {
            *value = draw(block.rng_key[i], block.draws[i]);
        }
    }
    drawn
}

#[inline(always)]
fn set(block: &mut Block, i: usize, serves: bool, served: Serve) {
    let choose = |new: f32, old: f32| if serves { new } else { old };
    block.paddle_yl[i] = choose(served.paddle_yl, block.paddle_yl[i]);
    block.paddle_yr[i] = choose(served.paddle_yr, block.paddle_yr[i]);
    block.ball_x[i] = choose(served.ball_x, block.ball_x[i]);
    block.ball_y[i] = choose(served.ball_y, block.ball_y[i]);
    block.ball_vx[i] = choose(served.ball_vx, block.ball_vx[i]);
    block.ball_vy[i] = choose(served.ball_vy, block.ball_vy[i]);
    block.tick[i] = if serves { served.tick } else { block.tick[i] };
    block.n_bounces[i] = if serves {
        served.n_bounces
    } else {
        block.n_bounces[i]
    };
    block.draws[i] = if serves { served.draws } else { block.draws[i] };
}

/// Begins an episode in games of zeros: a serve, then as [`restart`] (lines 116-121).
pub(crate) fn reset(block: &mut Block, params: Params, table: Option<&[u32]>) {
    let drawn = next_draws(block, table);
    for (i, drawn) in drawn.into_iter().enumerate() {
        set(block, i, true, serve_with(drawn, block.draws[i]));
    }
    restart(block, params);
}

/// Begins the next episode as the reference's step does by itself (lines 180, 211).
///
/// After a terminal step the round is served already. `win` and `paddle_dir` stay.
pub(crate) fn restart(block: &mut Block, params: Params) {
    block.score_l = [0; LANES];
    block.score_r = [0; LANES];
    block.reward = [0.0; LANES];
    block.terminated = [false; LANES];
    for i in 0..LANES {
        let new = observed(block, i, 0, 0, params);
        for (row, value) in block.last_obs.iter_mut().zip(new) {
            row[i] = value;
        }
    }
}
