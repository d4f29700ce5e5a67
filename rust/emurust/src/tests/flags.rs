//! Flags that PyBoy's saved states lack survive a record.

use super::waiting::waiting_program;
use crate::{Cartridge, Machine};

/// The same state in a new machine, by way of a record.
fn saved_and_loaded(machine: &Machine) -> Machine {
    let mut record = Vec::new();
    machine.save(&mut record);
    let mut made = Machine::new(machine.cartridge.clone());
    made.load(&record).expect("a state");
    made
}

fn idle_machine() -> Machine {
    let mut rom = waiting_program(0);
    rom[0x100..0x102].copy_from_slice(&[0x18, 0xFE]); // jr to itself
    Machine::new(Cartridge::new(rom).expect("a cartridge"))
}

/// In mode 2, at a frame's end.
fn modes_shown(machine: &mut Machine) -> [u8; 2] {
    machine.frames(2, false);
    [(); 2].map(|()| machine.peek(0xFF41) & 3)
}

#[test]
fn lyc_written_with_the_lcd_off_lasts_through_a_record() {
    for (writes, modes) in [(true, [0, 2]), (false, [2, 2])] {
        let mut machine = idle_machine();
        machine.poke(0xFF40, 0x11);
        if writes {
            machine.poke(0xFF45, 7);
        }
        let mut machine = saved_and_loaded(&machine);
        machine.poke(0xFF40, 0x91);
        assert_eq!(modes_shown(&mut machine), modes, "off as it was saved");
    }
}

#[test]
fn the_mode_that_stat_shows_next_lasts_through_a_record() {
    let mut machine = idle_machine();
    machine.poke(0xFF40, 0x11);
    machine.poke(0xFF45, 7);
    machine.poke(0xFF40, 0x91);
    let mut machine = saved_and_loaded(&machine);
    assert_eq!(modes_shown(&mut machine), [0, 2]);
}

#[test]
fn a_window_cut_short_again_and_again_has_a_line_of_8_bits() {
    let mut machine = idle_machine();
    for line in [142, 254] {
        machine.ppu.window_line = line;
        assert_eq!(saved_and_loaded(&machine).ppu.window_line, line);
    }
    for (writes, value) in [(0xFF4A, 0), (0xFF4B, 7), (0xFF40, 0xB1)] {
        machine.poke(writes, value);
    }
    machine.frames(2, false);
    machine.ppu.window_line = 254;
    machine.ppu.ly = 0;
    machine.ppu.window_reached = true;
    machine.ppu.draw_line();
    assert_eq!(machine.ppu.window_line, -1);
}
