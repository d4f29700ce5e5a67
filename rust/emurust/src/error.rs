//! Errors about a cartridge or a state.

use std::fmt;

use crate::memory::cartridge::MOST_BANKS;

/// Why a ROM cannot be played here, or a record is not a state of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A file whose length in bytes is not that of a ROM.
    RomSize(usize),
    /// A header whose checksum at 014D is not its own.
    Checksum {
        /// The byte at 014D.
        stored: u8,
        /// The header's checksum.
        computed: u8,
    },
    /// A cartridge type, the byte at 0147, that is not supported.
    Kind(u8),
    /// A cartridge type with a clock, which runs by wall time.
    Clock(u8),
    /// A RAM size, the byte at 0149, that is not known.
    RamSize(u8),
    /// More banks of ROM than a saved state can name.
    Banks(usize),
    /// A record of another length than this cartridge's records.
    StateLength {
        /// The record's bytes.
        found: usize,
        /// The bytes of this cartridge's records.
        expected: usize,
    },
    /// A field of a state with a value that cannot be.
    StateField {
        /// The field.
        name: &'static str,
        /// Its value.
        value: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RomSize(bytes) => write!(
                f,
                "{bytes} bytes; a Game Boy ROM is 32 KB, or more in steps of 16 KB"
            ),
            Self::Checksum { stored, computed } => write!(
                f,
                "the header's checksum at $14D is ${stored:02X}, it should be ${computed:02X}"
            ),
            Self::Kind(kind) => write!(f, "cartridge type ${kind:02X} is not supported"),
            Self::Clock(kind) => write!(
                f,
                "cartridge type ${kind:02X} has a clock, which runs by wall time"
            ),
            Self::RamSize(code) => write!(f, "RAM size ${code:02X} is not known"),
            Self::Banks(banks) => write!(
                f,
                "{banks} banks of 16 KB; at most {MOST_BANKS} are supported"
            ),
            Self::StateLength { found, expected } => {
                write!(f, "a state of {found} bytes, expected {expected}")
            }
            Self::StateField { name, value } => write!(f, "the state's {name} cannot be {value}"),
        }
    }
}

impl std::error::Error for Error {}
