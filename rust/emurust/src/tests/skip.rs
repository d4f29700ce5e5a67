//! Skips change nothing: programs that wait in all kinds of ways, with skips and without.

use std::sync::Arc;

use super::waiting::waiting_program;
use crate::{Cartridge, Machine};

/// Programs played; the environment's `TWINSTEP_PROGRAMS` asks for more.
const PROGRAMS: u64 = 300;
const FRAMES: u32 = 24;

fn programs() -> std::ops::Range<u64> {
    let asked = std::env::var("TWINSTEP_PROGRAMS");
    0..asked.map_or(PROGRAMS, |count| count.parse().unwrap_or(PROGRAMS))
}

/// Plays a cartridge both ways; the first frame after which the states differ, and where.
pub(super) fn first_difference(cartridge: &Arc<Cartridge>, seed: u64) -> Option<(u32, Vec<usize>)> {
    let mut machines = [(); 2].map(|()| Machine::new(cartridge.clone()));
    machines[0].plain = true;
    let mut random = seed as u32 | 1;
    for frame in 0..FRAMES {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [plain, leaping] = machines.each_mut().map(|machine| {
            if random >> 29 == 0 {
                machine.buttons((random >> 16) as u8);
            }
            machine.frame(random >> 27 & 3 == 0);
            let mut record = Vec::new();
            machine.save(&mut record);
            record
        });
        if plain != leaping {
            let places = (0..plain.len()).filter(|&at| plain[at] != leaping[at]);
            return Some((frame, places.take(12).collect()));
        }
    }
    None
}

#[test]
fn leaps_change_no_state_of_programs_that_wait() {
    for seed in programs() {
        let cartridge = Cartridge::new(waiting_program(seed)).expect("a cartridge");
        assert_eq!(first_difference(&cartridge, seed), None, "program {seed}");
    }
}

#[test]
fn a_state_loaded_in_mid_play_goes_on_with_leaps_as_plainly() {
    for seed in programs().take(20) {
        let cartridge = Cartridge::new(waiting_program(seed)).expect("a cartridge");
        let mut source = Machine::new(cartridge.clone());
        source.frames(5, false);
        let mut record = Vec::new();
        source.save(&mut record);
        let ends = [true, false].map(|plain| {
            let mut machine = Machine::new(cartridge.clone());
            machine.load(&record).expect("a state");
            machine.plain = plain;
            machine.frames(7, true);
            let mut end = Vec::new();
            machine.save(&mut end);
            end
        });
        assert!(ends[0] == ends[1], "program {seed}");
    }
}

/// Bytes that are no instruction: the processor locks up, and frames end all the same.
const NONE: [u8; 11] = [
    0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD,
];

/// A cartridge that jumps to such a byte, which it has written there or which lies in ROM.
fn locking_program(byte: u8, place: u16) -> Vec<u8> {
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
            let made = Cartridge::new(locking_program(byte, place)).expect("a cartridge");
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

/// A cartridge with MBC1 and four banks of RAM that chooses the second one and then runs this code.
fn with_ram(code: &[u8]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    (rom[0x147], rom[0x149]) = (3, 3);
    // Some frames later, for none of this is skipped in the first: ld bc, 2000; dec bc; ld a, b; or c; jr nz
    // ld a, 0A; ld [0], a; ld a, 1; ld [6000], a; ld [4000], a
    let start = [
        0x01, 0, 0x20, 0x0B, 0x78, 0xB1, 0x20, 0xFB, 0x3E, 0x0A, 0xEA, 0, 0, 0x3E, 1, 0xEA, 0,
        0x60, 0xEA, 0, 0x40,
    ];
    rom[0x100..0x103].copy_from_slice(&[0xC3, 0x50, 0x01]);
    rom[0x150..0x150 + start.len()].copy_from_slice(&start);
    rom[0x150 + start.len()..][..code.len()].copy_from_slice(code);
    rom[0x14D] = rom[0x134..0x14D]
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_sub(byte.wrapping_add(1)));
    rom
}

#[test]
fn a_wait_that_reads_cartridge_ram_in_one_line_chooses_its_bank_there() {
    // ld hl, A000; ld de, C000
    // ldh a, [LY]; cp 100; jr nz; ld a, [hl]; nop; jr back; ld a, [de]; jr back: 52 cycles either way
    let code = [
        0x21, 0, 0xA0, 0x11, 0, 0xC0, 0xF0, 0x44, 0xFE, 100, 0x20, 4, 0x7E, 0, 0x18, 0xF6, 0x1A,
        0x18, 0xF3,
    ];
    let made = Cartridge::new(with_ram(&code)).expect("a cartridge");
    assert_eq!(first_difference(&made, 0), None);
}
