//! Errors about the arguments of a batch, or of a module.

use std::fmt;

use crate::real::Isa;

/// An argument that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No lanes, or episodes without a step.
    Empty,
    /// Instructions that this processor lacks.
    Isa(Isa),
    /// TWINSTEP_ISA names instructions that this processor lacks.
    WantedIsa(Isa),
    /// TWINSTEP_ISA names no known instructions.
    UnknownIsa(String),
    /// The fields of a state do not all belong to this many lanes.
    State(usize),
    /// More or fewer seeds than lanes.
    Seeds {
        /// The seeds.
        seeds: usize,
        /// The lanes.
        lanes: usize,
    },
    /// A field of another length.
    Length {
        /// The field's name.
        name: &'static str,
        /// Its elements.
        found: usize,
        /// The elements that it should have.
        expected: usize,
    },
    /// More or fewer actions than the steps take.
    Actions {
        /// The actions.
        found: usize,
        /// How many the steps take.
        expected: usize,
    },
    /// A module of no such name.
    Module(String),
    /// More or fewer inputs than a module takes.
    Inputs {
        /// The module.
        module: &'static str,
        /// How many it takes.
        expected: usize,
    },
    /// An input of another length than its lanes need.
    Input {
        /// The input's name.
        name: &'static str,
        /// Its elements.
        found: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(
                f,
                "there must be at least one lane and one step of an episode"
            ),
            Self::Isa(isa) => write!(f, "this processor has no {}", isa.name()),
            Self::WantedIsa(isa) => {
                let name = isa.name();
                write!(f, "TWINSTEP_ISA={name}: this processor has no {name}")
            }
            Self::UnknownIsa(name) => write!(
                f,
                "TWINSTEP_ISA={name}: portable, avx2 and avx512 are known"
            ),
            Self::State(lanes) => write!(f, "the fields of {lanes} lanes have other lengths"),
            Self::Seeds { seeds, lanes } => write!(f, "{seeds} seeds for {lanes} lanes"),
            Self::Length {
                name,
                found,
                expected,
            } => write!(f, "field {name} has {found} elements, expected {expected}"),
            Self::Actions { found, expected } => write!(f, "{found} actions, expected {expected}"),
            Self::Module(name) => write!(f, "unknown module: {name}"),
            Self::Inputs { module, expected } => write!(f, "{module} takes {expected} inputs"),
            Self::Input { name, found } => write!(f, "{name} has {found} elements"),
        }
    }
}

impl std::error::Error for Error {}
