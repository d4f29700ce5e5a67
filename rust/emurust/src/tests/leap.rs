//! Leaps change nothing: programs that wait in all kinds of ways, plainly and with leaps.

use std::sync::Arc;

use super::waiting::waiting_program;
use crate::{Cartridge, Machine};

/// Programs played; the environment's `TWINSTEP_PROGRAMS` asks for more.
const PROGRAMS: u64 = 60;
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
