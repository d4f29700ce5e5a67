//! HALT: sleeping through whole lines in one go until an interrupt comes.
//!
//! A slice is the time from one event to the next. A halted processor adds exactly one slice, so from
//! one event on its counter stops exactly at each that follows. While only the PPU's events lie ahead
//! and lines are alike, the machine at the beginning of two lines differs only in LY and clocks.

use crate::machine::Machine;
use crate::ppu::LINE;

impl Machine {
    /// Lines that pass before anything other than the PPU has its next event.
    pub(crate) fn lines_undisturbed(&self) -> u64 {
        if self.dma.active || self.timer.reload != 0 {
            return 0;
        }
        let serial = self.serial.cycles_to_event(self.cycles);
        let until = self.timer.event.min(serial);
        until.saturating_sub(1) / LINE
    }

    /// At the beginning of a slice, halted: moves on to the last line that is like this one.
    #[inline]
    pub(crate) fn skip_halted(&mut self) {
        // A slice takes 4 cycles at least: the processor passes an event that is closer.
        if self.pending() || self.interrupt_queued || self.ppu.event_at() < self.cycles + 4 {
            return;
        }
        let Some(alike) = self.ppu.alike(false) else {
            return;
        };
        let lines = alike.lines.min(self.lines_undisturbed());
        if lines > 0 {
            self.ppu.skip_lines(&alike, lines);
            self.cycles = alike.start + lines * LINE;
            self.tick_timer();
            if self.lines_undisturbed() > 0 {
                self.ppu.skip_last_line();
            }
        }
    }
}
