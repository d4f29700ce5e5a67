//! The rules of Pong, batched, in plain Rust: knows no Python and no reinforcement learning.
//!
//! The reference is `pong.h` of PufferLib 3.0.0; line numbers in this crate are those of that
//! file. Each part of a step is one function on one game's plain values, without branches, so
//! that loops over games compile to vector instructions. Rust never fuses a multiplication with
//! an addition, and the reference is built without that, too: all results are equal to the bit.
//!
//! A batch plays many games at once. Its caller owns the memory that frames are written to:
//!
//! ```
//! use twinstep_pong::{Actions, AutoRestart, Batch, Error, OBSERVATION, Output, Params};
//!
//! let params = Params {
//!     frameskip: 8,
//!     continuous: false,
//!     max_score: 21,
//! };
//! let seeds = [[1, 0], [2, 0], [3, 0]];
//! let mut batch = Batch::reset(params, &seeds, None)?;
//!
//! let steps = 3;
//! let actions = vec![1; steps * batch.games()];
//! let mut obs = vec![0.0; steps * batch.games() * OBSERVATION];
//! let mut reward = vec![0.0; steps * batch.games()];
//! let fields = vec![
//!     ("obs", Output::F32(&mut obs)),
//!     ("reward", Output::F32(&mut reward)),
//! ];
//! batch.rollout(steps, Actions::Discrete(&actions), fields, AutoRestart::SameStep)?;
//!
//! // Nobody has reached a ball yet, and the agent's paddle has gone up.
//! assert!(reward.iter().all(|reward| *reward == 0.0));
//! let (first, last) = (obs[1], obs[obs.len() - OBSERVATION + 1]);
//! assert!(last > first, "{first} {last}");
//! # Ok::<(), Error>(())
//! ```

mod agent_paddle;
mod auto_restart;
mod ball;
mod batch;
mod block;
mod episode;
mod error;
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
mod stream;
mod strips;

pub use agent_paddle::{AgentPaddle, agent_paddle};
pub use auto_restart::AutoRestart;
pub use ball::{Ball, ball};
pub use batch::Batch;
pub use block::state_names;
pub use error::Error;
pub use input::{Actions, Input};
pub use left_side::{LeftSide, left_side};
pub use observe::{OBSERVATION, observe};
pub use opponent_paddle::opponent_paddle;
pub use output::{Fields, Output};
pub use right_side::{RightSide, right_side};
pub use rules::Params;
pub use serve::{Serve, draw, key_of, serve, serve_with};
