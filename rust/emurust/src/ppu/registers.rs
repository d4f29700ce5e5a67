//! FF40 to FF4B as the processor reads and writes them.

use super::stat::LYC_SOURCE;
use super::{ON, Ppu};

impl Ppu {
    /// Reads one of FF40 to FF4B, except FF46.
    pub fn read_register(&mut self, addr: u16) -> u8 {
        match addr {
            0xFF40 => self.lcdc,
            0xFF41 => self.read_stat(),
            0xFF42 => self.scy,
            0xFF43 => self.scx,
            0xFF44 => self.ly,
            0xFF45 => self.lyc,
            0xFF47 => self.bgp,
            0xFF48 => self.obp0,
            0xFF49 => self.obp1,
            0xFF4A => self.wy,
            0xFF4B => self.wx,
            _ => 0xFF,
        }
    }

    /// Writes one of FF40 to FF4B, except FF46. Returns the IF bits raised.
    pub fn write_register(&mut self, addr: u16, value: u8) -> u8 {
        match addr {
            0xFF40 => return self.write_lcdc(value),
            0xFF41 => return self.write_stat(value),
            0xFF42 => self.scy = value,
            0xFF43 => self.scx = value,
            0xFF45 => return self.write_lyc(value),
            0xFF47 => self.bgp = value,
            0xFF48 => self.obp0 = value,
            0xFF49 => self.obp1 = value,
            0xFF4A => self.wy = value,
            0xFF4B => self.wx = value,
            _ => {}
        }
        0
    }

    /// Switching the LCD on or off makes the next tick end the frame. Returns the IF bits raised.
    fn write_lcdc(&mut self, value: u8) -> u8 {
        let was_on = self.lcdc & ON != 0;
        self.lcdc = value;
        match (was_on, value & ON != 0) {
            (false, true) => {
                self.first_frame = true;
                self.stat_shows_mode_0 |= std::mem::take(&mut self.lyc_written_while_off);
                self.reset = true;
                self.clock = 0;
                self.clock_target = 0;
                // Only that tick compares if STAT does not ask for it.
                if self.stat & LYC_SOURCE != 0 {
                    return self.compare_line();
                }
            }
            (true, false) => {
                self.clock = 0;
                self.clock_target = 0;
                self.ly = 0;
                // Whatever happens to STAT's line here, it raises no interrupt.
                let _ = self.set_mode(0);
            }
            _ => {}
        }
        0
    }
}
