//! Episodes that begin by themselves where others ended.

use crate::block::{Block, Row};
use crate::episode::{clear, restart};
use crate::rules::Params;
use crate::set::Set;
use crate::step::step;

/// When a game that ended begins its next episode, as [`Batch::restart`](crate::Batch::restart)
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoRestart {
    /// Not by itself: it plays on.
    Off,
    /// In the step that ended it. The frame is that of the new episode, but for `reward`,
    /// `terminated` and `final_obs`, which are the step's own.
    SameStep,
    /// In the step after, which it does not play: the frame is the new episode's first, without
    /// reward. A batch that was loaded or restarted has no game that waits for it.
    NextStep,
}

/// Plays a step in all games but those that the step before ended: these are restarted.
pub(crate) fn step_or_restart(
    block: &mut Block,
    actions: &Row<f32>,
    params: Params,
    table: Option<&[u32]>,
) {
    let waiting = block.over();
    if waiting == Set::NONE {
        step(block, actions, params, table);
        return;
    }
    let mut before = block.clone();
    step(block, actions, params, table);
    for i in waiting {
        block.copy_game(i, &mut before);
    }
    restart(block, waiting, params);
    clear(block, waiting);
}
