//! How many instructions games run: `count [--frames N] ROM...`.
//!
//! Each ROM is played plainly with random buttons, held for 24 frames. Prints the instructions of a
//! frame on average, those of loops that only wait with them; a halted processor runs none.

use twinstep_emurust::{Cartridge, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut frames = 1200;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--frames" {
            frames = arguments.next().ok_or("--frames N")?.parse::<u32>()?;
            continue;
        }
        let mut machine = Machine::new(Cartridge::new(std::fs::read(&argument)?)?);
        machine.plain = true;
        machine.frames(240, false);
        let before = machine.instructions();
        let mut random = 1u32;
        for frame in 0..frames {
            if frame.is_multiple_of(24) {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                machine.buttons((random >> 24) as u8);
            }
            machine.frame(false);
        }
        let count = (machine.instructions() - before) as f64 / f64::from(frames);
        println!("{argument}: {count:.1} instructions a frame");
    }
    Ok(())
}
