//! HalfCheetah's physics, batched, in plain Rust: knows no Python and no reinforcement learning.
//!
//! The reference is Gymnasium's HalfCheetah-v5 on MuJoCo 3.14.0. The formulas are not written
//! here: `generated` holds them, traced from the description in `generated/halfcheetah` of the
//! repository, as straight lines over vectors of lanes. The decisions are written by hand: which
//! contacts are looked at (`constraints`), when the search for the accelerations is over
//! (`newton`), and where episodes begin (`begin`).
//!
//! A batch runs many cheetahs at once. Its caller owns the memory that frames are written to:
//!
//! ```
//! use twinstep_halfcheetah::{AutoReset, Batch, Error, Fields, Isa, MOTORS, OBSERVATION};
//!
//! let seeds = [[1, 0], [2, 0], [3, 0]];
//! let mut batch = Batch::<f32>::reset(Isa::choose()?, 1000, &seeds)?;
//!
//! let (steps, lanes) = (5, batch.lanes());
//! let actions = vec![0.1; steps * lanes * MOTORS];
//! let mut obs = vec![0.0; steps * lanes * OBSERVATION];
//! let mut reward = vec![0.0; steps * lanes];
//! let fields = Fields {
//!     obs: Some(&mut obs),
//!     reward: Some(&mut reward),
//!     ..Fields::default()
//! };
//! batch.rollout(steps, &actions, fields, AutoReset::SameStep)?;
//!
//! assert!(obs.iter().all(|value| value.is_finite()));
//! assert!(reward.iter().all(|reward| reward.abs() < 10.0));
//! # Ok::<(), Error>(())
//! ```

mod batch;
mod begin;
mod block;
mod constraints;
mod error;
mod modules;
mod newton;
mod output;
mod random;
mod real;
mod search;
mod strips;
mod substep;
mod trigonometry;
mod vector;

/// Written by tools/halfcheetah/rust.
mod generated {
    #[rustfmt::skip]
    pub(crate) mod contact;
    #[rustfmt::skip]
    #[allow(clippy::type_complexity)]
    pub(crate) mod prepare;
    #[rustfmt::skip]
    pub(crate) mod solve;
    #[rustfmt::skip]
    pub(crate) mod structures;
    #[rustfmt::skip]
    pub(crate) mod tables;
    #[rustfmt::skip]
    #[allow(clippy::approx_constant)]
    pub(crate) mod trigonometry;
    #[rustfmt::skip]
    pub(crate) mod ziggurat;
}

#[cfg(test)]
mod tests;

pub use batch::{AutoReset, Batch};
pub use block::{JOINTS, MOTORS, OBSERVATION};
pub use error::Error;
pub use modules::{MODULES, Module, Port, call};
pub use output::Fields;
pub use random::start;
pub use real::{Isa, Real};
