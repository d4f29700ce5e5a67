//! Compares play with skips and without: `same [--frames N] ROM...`.
//!
//! Plays each ROM twice side by side with the same random buttons. After every frame the whole state
//! has to be equal; some frames are drawn.

use twinstep_emurust::{Cartridge, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut frames = 1000;
    let mut arguments = std::env::args().skip(1);
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == "--frames" {
            frames = arguments.next().ok_or("--frames N")?.parse::<u32>()?;
        } else {
            paths.push(argument);
        }
    }
    let mut wrong = 0;
    for path in &paths {
        let cartridge = Cartridge::new(std::fs::read(path)?)?;
        if let Some((frame, places)) = first_difference(cartridge, frames) {
            wrong += 1;
            println!("{path}: frame {frame}, bytes {places:?}");
        }
    }
    println!("{} of {} differ", wrong, paths.len());
    if wrong == 0 {
        Ok(())
    } else {
        Err("differences".into())
    }
}

/// The first frame after which the states differ, and where in the record.
fn first_difference(
    cartridge: std::sync::Arc<Cartridge>,
    frames: u32,
) -> Option<(u32, Vec<usize>)> {
    let mut machines = [Machine::new(cartridge.clone()), Machine::new(cartridge)];
    machines[0].plain = true;
    let mut random = 1u32;
    for frame in 0..frames {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let records = machines.each_mut().map(|machine| {
            if random >> 28 == 0 {
                machine.buttons((random >> 16) as u8);
            }
            machine.frame(random >> 26 & 3 == 0);
            let mut record = Vec::new();
            machine.save(&mut record);
            record
        });
        if records[0] != records[1] {
            let places = (0..records[0].len()).filter(|&at| records[0][at] != records[1][at]);
            return Some((frame, places.take(12).collect()));
        }
    }
    None
}
