//! A machine behind standard input and output, for comparison with another one step by step.
//!
//! `trace [--plain] ROM` reads commands, each a letter and its little-endian operands:
//! `L` record: loads; answers a u32, 0 or the length of a message that follows.
//! `F` count u32, draw u8, buttons u8: plays frames; answers the state's record.
//! `W` address u16, value u8: pokes. `R` address u16: answers the byte there.

use std::io::{self, Read, Write};

use twinstep_emurust::{Cartridge, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let plain = arguments.first().is_some_and(|first| first == "--plain");
    let path = arguments.pop().ok_or("usage: trace [--plain] ROM")?;
    let cartridge = Cartridge::new(std::fs::read(path)?)?;
    let size = Machine::state_size(&cartridge);
    let mut machine = Machine::new(cartridge);
    machine.plain = plain;
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut command = [0];
    while input.read(&mut command)? == 1 {
        match command[0] {
            b'L' => {
                let mut record = vec![0; size];
                input.read_exact(&mut record)?;
                let message = match machine.load(&record) {
                    Ok(()) => String::new(),
                    Err(error) => error.to_string(),
                };
                output.write_all(&(message.len() as u32).to_le_bytes())?;
                output.write_all(message.as_bytes())?;
            }
            b'F' => {
                let mut operands = [0; 6];
                input.read_exact(&mut operands)?;
                let [a, b, c, d, draw, buttons] = operands;
                machine.buttons(buttons);
                machine.frames(u32::from_le_bytes([a, b, c, d]), draw != 0);
                let mut record = Vec::new();
                machine.save(&mut record);
                output.write_all(&record)?;
            }
            b'W' => {
                let mut operands = [0; 3];
                input.read_exact(&mut operands)?;
                let [low, high, value] = operands;
                machine.poke(u16::from_le_bytes([low, high]), value);
            }
            b'R' => {
                let mut operands = [0; 2];
                input.read_exact(&mut operands)?;
                output.write_all(&[machine.peek(u16::from_le_bytes(operands))])?;
            }
            _ => return Err("unknown command".into()),
        }
        output.flush()?;
    }
    Ok(())
}
