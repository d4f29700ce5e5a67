//! The beginnings of episodes and rounds.

use crate::block::{Block, LANES};
use crate::rules::Params;
use crate::serve::{draw, serve_with};
use crate::set::Set;

/// Resets the round of game `i` with its next draw. Past a table's end that is the last one.
#[inline(always)]
pub(crate) fn next_serve(block: &mut Block, i: usize, table: Option<&[u32]>) {
    let count = block.draws[i];
    let drawn = match table {
        Some(table) => {
            let length = table.len() / LANES;
            table[i * length + (count as usize).min(length - 1)]
        }
        None => draw(block.rng_key[i], count),
    };
    let served = serve_with(drawn, count);
    block.paddle_yl[i] = served.paddle_yl;
    block.paddle_yr[i] = served.paddle_yr;
    block.ball_x[i] = served.ball_x;
    block.ball_y[i] = served.ball_y;
    block.ball_vx[i] = served.ball_vx;
    block.ball_vy[i] = served.ball_vy;
    block.tick[i] = served.tick;
    block.n_bounces[i] = served.n_bounces;
    block.draws[i] = served.draws;
}

/// Begins an episode in games of zeros: a serve, then as [`restart`] (lines 116-121).
pub(crate) fn reset(block: &mut Block, params: Params, table: Option<&[u32]>) {
    for i in 0..LANES {
        next_serve(block, i, table);
    }
    restart(block, Set::ALL, params);
}

/// Begins the next episode of these games, as the reference's step does by itself (lines 180, 211).
/// Reward and terminated stay: see [`clear`].
///
/// After a terminal step the round is served already. `win` and `paddle_dir` stay.
#[inline]
pub(crate) fn restart(block: &mut Block, games: Set, params: Params) {
    for i in games {
        block.score_l[i] = 0;
        block.score_r[i] = 0;
        block.share(i, params);
        block.last_obs[i] = block.look(i);
    }
}

/// Clears the last step's reward and end, which do not belong to a new episode.
#[inline]
pub(crate) fn clear(block: &mut Block, games: Set) {
    for i in games {
        block.reward[i] = 0.0;
        block.terminated[i] = false;
    }
}
