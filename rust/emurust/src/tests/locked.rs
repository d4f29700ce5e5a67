//! Bytes that are no instruction: the processor locks up where it is, and frames end all the same.

use super::leap::first_difference;
use crate::{Cartridge, Machine};

const NONE: [u8; 11] = [
    0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD,
];

/// A cartridge that goes to a byte which it has written there, or that lies there in ROM.
fn cartridge(byte: u8, place: u16) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    let [low, high] = place.to_le_bytes();
    // ld sp, D000; scf; ld a, n; ld [place], a; jp place
    let start = [
        0x31, 0x00, 0xD0, 0x37, 0x3E, byte, 0xEA, low, high, 0xC3, low, high,
    ];
    rom[0x100..0x100 + start.len()].copy_from_slice(&start);
    if let Some(there) = rom.get_mut(usize::from(place)) {
        *there = byte;
    }
    rom[0x14D] = rom[0x134..0x14D]
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_sub(byte.wrapping_add(1)));
    rom
}

#[test]
fn what_is_no_instruction_locks_up_in_any_memory_plainly_and_quickly() {
    for place in [0x0200, 0xC000, 0xFF90] {
        for byte in NONE {
            let name = format!("{byte:02X} at {place:04X}");
            let made = Cartridge::new(cartridge(byte, place)).expect("a cartridge");
            assert_eq!(first_difference(&made, 0), None, "{name}");
            let mut machine = Machine::new(made);
            machine.frames(3, false);
            let before = machine.cycles;
            machine.frame(false);
            assert_eq!(machine.registers.pc, place, "{name}");
            assert_eq!(machine.registers.sp, 0xD000, "{name}");
            let spent = machine.cycles - before;
            assert!((70_000..71_000).contains(&spent), "{name}");
        }
    }
}
