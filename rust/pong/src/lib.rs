//! The rules of Pong, batched, in plain Rust: knows no Python and no reinforcement learning.
//!
//! The reference is `pong.h` of PufferLib 3.0.0; line numbers in this crate are those of that
//! file. Each part of a step is one function on one game's plain values, without branches, so
//! that loops over games in [`step`](mod@step) compile to vector instructions. Rust never
//! fuses a multiplication with an addition, and the reference is built so that it does not
//! either: all results are equal to the bit.

mod agent_paddle;
mod auto_restart;
mod ball;
mod batch;
mod block;
mod episode;
mod input;
mod left_side;
mod observe;
mod opponent_paddle;
mod output;
mod right_side;
mod rules;
mod serve;
mod set;
mod step;

pub use agent_paddle::{AgentPaddle, agent_paddle};
pub use auto_restart::AutoRestart;
pub use ball::{Ball, ball};
pub use batch::Batch;
pub use block::state_names;
pub use input::{Actions, Input};
pub use left_side::{LeftSide, left_side};
pub use observe::{OBSERVATION, observe};
pub use opponent_paddle::opponent_paddle;
pub use output::{Fields, Output};
pub use right_side::{RightSide, right_side};
pub use rules::Params;
pub use serve::{Serve, draw, key_of, serve, serve_with};
