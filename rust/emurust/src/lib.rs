//! A Game Boy in plain Rust, equal to PyBoy 2.8.1 at every frame boundary.
//!
//! The reference is the emulator, not the console: where PyBoy differs from hardware, this crate
//! does as PyBoy does. `QUIRKS.md` lists those places, each with how it was measured.

mod alu;
mod bus;
mod cartridge;
mod code;
mod control;
mod dma;
mod dma_wait;
mod elsewhere;
mod error;
mod execute;
mod fused;
mod handlers;
mod idle;
mod idle_hopes;
mod idle_lines;
mod idle_tries;
mod interrupts;
mod joypad;
mod lazy_flags;
mod lcd;
mod leap;
mod machine;
mod mapper;
mod moves;
mod prefixed;
mod quick;
mod registers;
mod serial;
mod state;
mod stretch;
mod threaded;
mod timer;

pub use cartridge::{Cartridge, MapperKind};
pub use error::{CartridgeError, StateError};
pub use lcd::Lcd;
pub use machine::Machine;

#[cfg(test)]
mod tests {
    mod arithmetic;
    mod flags;
    mod fused;
    mod interrupted;
    mod leap;
    mod lines;
    mod waiting;
}
