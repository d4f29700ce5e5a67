//! A Game Boy in plain Rust, equal to PyBoy 2.8.1 at every frame boundary.
//!
//! The reference is the emulator, not the console: where PyBoy differs from hardware, this crate
//! does as PyBoy does. `QUIRKS.md` lists those places, each with how it was measured.

mod lcd;

pub use lcd::Lcd;
