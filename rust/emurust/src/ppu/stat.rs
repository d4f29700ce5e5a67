//! STAT: the mode, the comparison with LYC, and the interrupt line that four sources share.

use super::{ON, Ppu, STAT};

/// STAT's bits 0 and 1.
pub(super) const MODE: u8 = 3;
/// STAT's bit 2.
pub(super) const LYC_EQUAL: u8 = 4;
const MODE_0_SOURCE: u8 = 0x08;
const MODE_1_SOURCE: u8 = 0x10;
const MODE_2_SOURCE: u8 = 0x20;
pub(super) const LYC_SOURCE: u8 = 0x40;
const SOURCES: u8 = 0x78;

impl Ppu {
    /// The level of STAT's interrupt line by the registers: one source is enough.
    pub(super) fn stat_line_now(&self) -> bool {
        let source = match self.stat & MODE {
            0 => MODE_0_SOURCE,
            1 => MODE_1_SOURCE,
            2 => MODE_2_SOURCE,
            _ => 0,
        };
        self.stat & source != 0 || (self.stat & LYC_SOURCE != 0 && self.stat & LYC_EQUAL != 0)
    }

    /// Moves the line, and raises the interrupt if it rose.
    fn move_stat_line(&mut self) -> u8 {
        let before = self.stat_line;
        self.stat_line = self.stat_line_now();
        if self.stat_line && !before { STAT } else { 0 }
    }

    pub(super) fn set_mode(&mut self, mode: u8) -> u8 {
        self.stat = self.stat & !MODE | mode;
        self.move_stat_line()
    }

    /// Line 144 also raises mode 2's interrupt, but only for an instant.
    pub(super) fn search_pulse(&self) -> u8 {
        if self.stat & MODE_2_SOURCE != 0 && !self.stat_line {
            STAT
        } else {
            0
        }
    }

    pub(super) fn compare_line(&mut self) -> u8 {
        let equal = if self.ly == self.lyc { LYC_EQUAL } else { 0 };
        self.stat = self.stat & !LYC_EQUAL | equal;
        self.move_stat_line()
    }

    pub(super) fn forget_comparison(&mut self) -> u8 {
        self.stat &= !LYC_EQUAL;
        self.move_stat_line()
    }

    /// Reads FF41.
    pub(super) fn read_stat(&mut self) -> u8 {
        if std::mem::take(&mut self.stat_shows_mode_0) {
            return self.stat & !MODE;
        }
        self.stat
    }

    /// Writes FF41. The DMG's bug, an interrupt by any write in most modes, does not exist here.
    pub(super) fn write_stat(&mut self, value: u8) -> u8 {
        self.stat = self.stat & !SOURCES | value & SOURCES;
        self.move_stat_line()
    }

    /// Writes FF45. It is compared at once; with the LCD off, only when that is switched on.
    pub(super) fn write_lyc(&mut self, value: u8) -> u8 {
        self.lyc = value;
        if self.lcdc & ON == 0 {
            self.lyc_written_while_off = true;
            return 0;
        }
        self.compare_line()
    }
}
