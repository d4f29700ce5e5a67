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

mod cpu;
mod error;
mod fast;
mod idle;
mod joypad;
mod machine;
mod memory;
mod ppu;
mod serial;
mod state;
mod timer;

pub use error::Error;
pub use machine::Machine;
pub use memory::cartridge::{Cartridge, MapperKind};

#[cfg(test)]
mod tests {
    mod arithmetic;
    mod flags;
    mod interrupted;
    mod lines;
    mod skip;
    mod superops;
    mod waiting;
}
