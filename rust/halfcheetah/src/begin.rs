//! The beginnings of episodes.

use crate::block::{Block, places};
use crate::random::start;
use crate::real::Real;

/// Begins the episodes of the seeds in these lanes. MuJoCo's reset zeroes `qacc_warmstart`, and
/// Gymnasium's forward pass after it leaves it so.
pub(crate) fn begin<T: Real>(block: &mut Block<T>, lanes: u32) {
    for lane in places(lanes) {
        let (qpos, qvel) = start(block.seed[lane]);
        for k in 0..qpos.len() {
            block.qpos[k][lane] = T::of(qpos[k]);
            block.qvel[k][lane] = T::of(qvel[k]);
            block.qacc_warmstart[k][lane] = T::of(0.0);
        }
        block.elapsed[lane] = 0;
    }
}

/// Begins the next episodes in these lanes: seed (a, b) is followed by (a, b + 1).
pub(crate) fn begin_next<T: Real>(block: &mut Block<T>, lanes: u32) {
    for lane in places(lanes) {
        block.seed[lane][1] = block.seed[lane][1].wrapping_add(1);
    }
    begin(block, lanes);
}
