//! Errors about the arguments of a batch.

use std::fmt;

/// An argument that a batch refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No games, no points, or no frames in a step.
    Empty,
    /// Recorded draws that cannot be shared out equally.
    Draws {
        /// How many there are.
        draws: usize,
        /// The games that need them.
        games: usize,
    },
    /// A state without this field.
    Missing(String),
    /// A name that no field has.
    Unknown(String),
    /// A field of another length.
    Length {
        /// The field's name.
        name: String,
        /// Its elements.
        found: usize,
        /// The elements that it should have.
        expected: usize,
    },
    /// A field of another dtype.
    Dtype(String),
    /// More or fewer actions than the steps take.
    Actions {
        /// The actions.
        found: usize,
        /// How many the steps take.
        expected: usize,
    },
    /// Discrete actions where [`Params::continuous`](crate::Params::continuous) is set, or
    /// continuous ones where it is not.
    ActionKind,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "there must be at least one game, point and frame"),
            Self::Draws { draws, games } => write!(
                f,
                "{draws} draws for {games} games: expected the same number for each"
            ),
            Self::Missing(name) => write!(f, "the state lacks {name}"),
            Self::Unknown(name) => write!(f, "unknown field: {name}"),
            Self::Length {
                name,
                found,
                expected,
            } => write!(f, "field {name} has {found} elements, expected {expected}"),
            Self::Dtype(name) => write!(f, "field {name} has the wrong dtype"),
            Self::Actions { found, expected } => write!(f, "{found} actions, expected {expected}"),
            Self::ActionKind => write!(
                f,
                "actions of the wrong kind: discrete are i32, continuous f32"
            ),
        }
    }
}

impl std::error::Error for Error {}
