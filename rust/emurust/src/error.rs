//! What can be wrong with a cartridge or a state.

use std::fmt;

/// Why a ROM cannot be played here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CartridgeError {
    /// The file's length in bytes is not that of a ROM.
    Size(usize),
    /// The header's checksum at 014D is not that of the header.
    Checksum { stored: u8, computed: u8 },
    /// A cartridge type, the byte at 0147, that is not supported.
    Kind(u8),
    /// A cartridge with a clock, which runs by wall time.
    Clock(u8),
    /// A RAM size, the byte at 0149, that is not known.
    RamSize(u8),
    /// More banks of ROM than a saved state can name.
    Banks(usize),
}

impl fmt::Display for CartridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(bytes) => write!(
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
                "{banks} banks of 16 KB; at most {} are supported",
                crate::cartridge::MOST_BANKS
            ),
        }
    }
}

impl std::error::Error for CartridgeError {}

/// Why a record is not a state of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The record's length is not that of this cartridge's records.
    Length { given: usize, expected: usize },
    /// A field's value that cannot be.
    Field { name: &'static str, value: u64 },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { given, expected } => {
                write!(f, "a state of {given} bytes, expected {expected}")
            }
            Self::Field { name, value } => write!(f, "the state's {name} cannot be {value}"),
        }
    }
}

impl std::error::Error for StateError {}
