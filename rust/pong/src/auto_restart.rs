//! Automatic restarts: episodes that begin where others ended.

use crate::block::{Block, Row};
use crate::episode::{clear, restart};
use crate::rules::Params;
use crate::set::Set;
use crate::step::step;

/// When an ended game begins its next episode, as [`Batch::restart`](crate::Batch::restart) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoRestart {
    /// Never by itself: it plays on.
    Off,
    /// In the step that ended it. The frame is that of the new episode, except for `reward`, `terminated`
    /// and `final_obs`, which belong to the step.
    SameStep,
    /// In the step after, which it does not play: the frame is the new episode's first one, without
    /// reward. In a loaded or restarted batch no game waits for it.
    NextStep,
}

/// Plays a step in all games, except that it restarts those that the last step ended.
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
