//! Games side by side: one array per field, so that a loop over games is a loop over memory.

use std::array::from_fn;

use crate::observe::{OBSERVATION, look, whole_share};
use crate::rules::Params;
use crate::set::Set;

/// Games in a block: small enough to stay in the nearest cache, whole vectors wide.
pub(crate) const LANES: usize = 64;

pub(crate) type Row<T> = [T; LANES];

/// The state of [`LANES`] games. The last block of a batch may be filled up with idle ones.
#[derive(Clone)]
pub(crate) struct Block {
    pub paddle_yl: Row<f32>,
    pub paddle_yr: Row<f32>,
    pub ball_x: Row<f32>,
    pub ball_y: Row<f32>,
    pub ball_vx: Row<f32>,
    pub ball_vy: Row<f32>,
    pub paddle_dir: Row<f32>,
    pub score_l: Row<u32>,
    pub score_r: Row<u32>,
    /// Steps since the last serve, not of the episode (line 112).
    pub tick: Row<i32>,
    /// Both sides' bounces since the last serve (lines 113, 171, 195).
    pub n_bounces: Row<i32>,
    /// 1 if the agent won the last point; survives resets.
    pub win: Row<i32>,
    /// The observation; part of the state because a point leaves it stale.
    pub last_obs: [[f32; OBSERVATION]; LANES],
    /// The scores as an observation shows them; they follow from the scores.
    pub share_l: Row<f32>,
    pub share_r: Row<f32>,
    pub rng_key: Row<u32>,
    pub draws: Row<u32>,
    /// The last step's reward and end.
    pub reward: Row<f32>,
    pub terminated: Row<bool>,
}

impl Block {
    /// Games of zeros, not yet reset.
    pub(crate) fn new() -> Self {
        Self {
            paddle_yl: [0.0; LANES],
            paddle_yr: [0.0; LANES],
            ball_x: [0.0; LANES],
            ball_y: [0.0; LANES],
            ball_vx: [0.0; LANES],
            ball_vy: [0.0; LANES],
            paddle_dir: [0.0; LANES],
            score_l: [0; LANES],
            score_r: [0; LANES],
            tick: [0; LANES],
            n_bounces: [0; LANES],
            win: [0; LANES],
            last_obs: [[0.0; OBSERVATION]; LANES],
            share_l: [0.0; LANES],
            share_r: [0.0; LANES],
            rng_key: [0; LANES],
            draws: [0; LANES],
            reward: [0.0; LANES],
            terminated: [false; LANES],
        }
    }

    /// The games that the last step ended.
    #[inline]
    pub(crate) fn over(&self) -> Set {
        let mut over = Set::NONE;
        for first in (0..LANES).step_by(8) {
            over.add_eight(first, from_fn(|k| u8::from(self.terminated[first + k])));
        }
        over
    }

    /// Copies the state of game `i` from another block, except for the scores' shares: see
    /// [`share`](Self::share).
    pub(crate) fn copy_game(&mut self, i: usize, from: &mut Self) {
        for (_, column) in STATE {
            match column {
                Column::F32(row) => row(self)[i] = row(from)[i],
                Column::I32(row) => row(self)[i] = row(from)[i],
                Column::U32(row) => row(self)[i] = row(from)[i],
                Column::Bool(row) => row(self)[i] = row(from)[i],
                Column::Observation => self.last_obs[i] = from.last_obs[i],
            }
        }
    }

    /// Computes the shares after a change of the scores, or of `max_score` of [`Params`].
    #[inline(always)]
    pub(crate) fn share(&mut self, i: usize, params: Params) {
        self.share_l[i] = whole_share(self.score_l[i], params.max_score);
        self.share_r[i] = whole_share(self.score_r[i], params.max_score);
    }

    /// The observation of game `i` now.
    #[inline(always)]
    pub(crate) fn look(&self, i: usize) -> [f32; OBSERVATION] {
        look(
            self.paddle_yl[i],
            self.paddle_yr[i],
            self.ball_x[i],
            self.ball_y[i],
            self.ball_vx[i],
            self.ball_vy[i],
            self.share_l[i],
            self.share_r[i],
        )
    }

    /// Observes all games except these.
    #[inline(always)]
    pub(crate) fn observe_all_but(&mut self, these: Set) {
        for first in (0..LANES).step_by(8) {
            // Eight games make a square, which is transposed in registers.
            let mut columns = [[0.0; 8]; OBSERVATION];
            for i in 0..8 {
                let seen = self.look(first + i);
                for (column, value) in columns.iter_mut().zip(seen) {
                    column[i] = value;
                }
            }
            let rows = from_fn(|i| columns.map(|column| column[i]));
            let now: &mut [_; 8] = self.last_obs[first..].first_chunk_mut().unwrap();
            let before = *now;
            *now = rows;
            for i in these.within(first) {
                self.last_obs[i] = before[i - first];
            }
        }
    }
}

/// The place of a field in a block, for fields that can be read from outside.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    F32(fn(&mut Block) -> &mut Row<f32>),
    I32(fn(&mut Block) -> &mut Row<i32>),
    U32(fn(&mut Block) -> &mut Row<u32>),
    Bool(fn(&mut Block) -> &mut Row<bool>),
    Observation,
}

impl Column {
    /// Elements of one game.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Observation => OBSERVATION,
            _ => 1,
        }
    }
}

/// The fields of the state; `load` takes them all.
pub(crate) const STATE: [(&str, Column); 15] = [
    ("paddle_yl", Column::F32(|b| &mut b.paddle_yl)),
    ("paddle_yr", Column::F32(|b| &mut b.paddle_yr)),
    ("ball_x", Column::F32(|b| &mut b.ball_x)),
    ("ball_y", Column::F32(|b| &mut b.ball_y)),
    ("ball_vx", Column::F32(|b| &mut b.ball_vx)),
    ("ball_vy", Column::F32(|b| &mut b.ball_vy)),
    ("paddle_dir", Column::F32(|b| &mut b.paddle_dir)),
    ("score_l", Column::U32(|b| &mut b.score_l)),
    ("score_r", Column::U32(|b| &mut b.score_r)),
    ("tick", Column::I32(|b| &mut b.tick)),
    ("n_bounces", Column::I32(|b| &mut b.n_bounces)),
    ("win", Column::I32(|b| &mut b.win)),
    ("last_obs", Column::Observation),
    ("rng_key", Column::U32(|b| &mut b.rng_key)),
    ("draws", Column::U32(|b| &mut b.draws)),
];

/// Names of the fields of the state.
pub fn state_names() -> impl Iterator<Item = &'static str> {
    STATE.iter().map(|(name, _)| *name)
}

/// The observation before a restart in the same step; otherwise the same as `obs`.
pub(crate) const FINAL_OBS: &str = "final_obs";

/// The fields of a frame besides the state.
const FRAME: [(&str, Column); 4] = [
    ("obs", Column::Observation),
    (FINAL_OBS, Column::Observation),
    ("reward", Column::F32(|b| &mut b.reward)),
    ("terminated", Column::Bool(|b| &mut b.terminated)),
];

/// The column of this name, if there is one.
pub(crate) fn column(name: &str) -> Option<Column> {
    let mut all = STATE.iter().chain(&FRAME);
    all.find(|(known, _)| *known == name)
        .map(|(_, column)| *column)
}
