//! A Game Boy in plain Rust, equal to PyBoy 2.8.1 at every frame boundary.
//!
//! The reference is the emulator, not the console: where PyBoy differs from hardware, this crate
//! does as PyBoy does. `QUIRKS.md` lists those places, each with how it was measured.
//!
//! A cartridge is shared by all machines that play it. Here its program counts in a loop:
//!
//! ```
//! use twinstep_emurust::{Cartridge, Error, Machine};
//!
//! let mut rom = vec![0; 0x8000];
//! rom[0x100..0x106].copy_from_slice(&[
//!     0x21, 0x00, 0xC0, // ld hl, $C000
//!     0x34, // inc [hl]
//!     0x18, 0xFD, // jr to it
//! ]);
//! rom[0x14D] = 0xE7; // the header's checksum
//!
//! let cartridge = Cartridge::new(rom)?;
//! let mut machine = Machine::new(cartridge.clone());
//! machine.frames(9, false);
//! let mut state = Vec::new();
//! machine.save(&mut state);
//!
//! let mut other = Machine::new(cartridge);
//! other.load(&state)?;
//! for machine in [&mut machine, &mut other] {
//!     machine.buttons(1); // A is held
//!     machine.frame(true);
//! }
//! assert_eq!(machine.screen(), other.screen());
//! assert_eq!(machine.peek(0xC000), other.peek(0xC000));
//! # Ok::<(), Error>(())
//! ```

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
pub use error::Error;
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
