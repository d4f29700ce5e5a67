//! Measures how fast machines run: `speed [--plain] [--frames N] ROM...`.
//!
//! Plays each ROM with random buttons, held for 24 frames of which the last one is drawn. Prints
//! microseconds for a frame, and for drawing one; the best of many runs.

use std::time::Instant;

use twinstep_emurust::{Cartridge, Machine};

/// Frames of a step.
const SKIP: u32 = 24;
const RUNS: u32 = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plain = false;
    let mut steps = 10;
    let mut paths = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--plain" => plain = true,
            "--frames" => steps = arguments.next().ok_or("--frames N")?.parse::<u32>()? / SKIP,
            _ => paths.push(argument),
        }
    }
    for path in paths {
        let cartridge = Cartridge::new(std::fs::read(&path)?)?;
        // Each step's best time of all runs, so that other programs on the machine count less.
        let play = |drawn| {
            let mut best = vec![f64::INFINITY; steps as usize];
            for _ in 0..RUNS {
                let mut machine = Machine::new(cartridge.clone());
                machine.plain = plain;
                machine.frames(240, false);
                let mut random = 1u32;
                for best in &mut best {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    machine.buttons((random >> 24) as u8);
                    let start = Instant::now();
                    machine.frames(SKIP, drawn);
                    *best = best.min(start.elapsed().as_secs_f64());
                }
                std::hint::black_box(machine.screen());
            }
            best.iter().sum::<f64>() * 1e6 / f64::from(steps * SKIP)
        };
        let (without, with) = (play(false), play(true));
        println!(
            "{path}: {with:.3} us a frame; {without:.3} undrawn, {:.2} for a drawing",
            (with - without) * f64::from(SKIP)
        );
    }
    Ok(())
}
