//! HalfCheetah's physics, batched, in plain Rust: knows no Python and no reinforcement learning.
//!
//! The reference is Gymnasium's HalfCheetah-v5 on MuJoCo 3.14.0. The formulas are not written
//! here: `generated` holds them, traced from the description in `generated/halfcheetah` of the
//! repository, as straight lines over vectors of lanes. Written by hand is what decides: which
//! contacts are looked at ([`constraints`]), when the search for the accelerations is over
//! ([`newton`]), and where episodes begin.

mod batch;
mod begin;
mod block;
mod constraints;
mod modules;
mod newton;
mod output;
mod random;
mod real;
mod search;
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
pub use modules::{MODULES, Module, Port, call};
pub use output::Fields;
pub use random::start;
pub use real::{Isa, Real};
