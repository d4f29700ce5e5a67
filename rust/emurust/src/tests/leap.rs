//! Leaps change nothing: programs that wait in all kinds of ways, plainly and with leaps.

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

/// Bytes that are no instruction: the processor locks up where it is, and frames end all the same.
const NONE: [u8; 11] = [
    0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD,
];

/// A cartridge that goes to a byte which it has written there, or that lies there in ROM.
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
