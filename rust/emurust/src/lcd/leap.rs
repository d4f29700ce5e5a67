//! Moving on by whole lines at once, where they are all alike.

use super::{LAST_LINE, LAST_SHOWN, LINE, Lcd, MODE_2, ON};

/// STAT's sources of interrupts: modes 0 and 2, the comparison with LYC.
const EACH_LINE: u8 = 0x28;
const COMPARISON: u8 = 0x40;

impl Lcd {
    /// Over how many lines from now on nothing happens but that lines begin and end: no interrupt,
    /// no blank, no end of the frame. 0 in modes 3 and 0, whose lengths vary.
    ///
    /// `compared` says that somebody looks at the comparison with LYC.
    pub(crate) fn lines_alike(&self, compared: bool) -> u64 {
        let each_line_interrupts = self.stat & EACH_LINE != 0;
        let on = self.lcdc & ON != 0 && !self.reset && !self.first_frame;
        if !on || each_line_interrupts || self.clock >= self.clock_target {
            return 0;
        }
        let last = match self.next_mode {
            3 => LAST_SHOWN,
            1 if self.ly > LAST_SHOWN => LAST_LINE,
            _ => return 0,
        };
        let mut lines = last.saturating_sub(self.ly);
        if compared || self.stat & COMPARISON != 0 {
            lines = match self.lyc.checked_sub(self.ly) {
                Some(0) => 0,
                Some(away) => lines.min(away - 1),
                None => lines,
            };
        }
        lines.into()
    }

    /// The processor's counter at which the next event is due.
    pub(crate) fn event_at(&self) -> u64 {
        (self.last_cycles + self.clock_target).saturating_sub(self.clock)
    }

    /// Length of the event that is going on: of mode 2, or of a line of mode 1.
    pub(crate) fn alike_length(&self) -> u64 {
        if self.next_mode == 3 { MODE_2 } else { LINE }
    }

    /// Moves on by so many lines that are alike, which are drawn if this frame is.
    pub(crate) fn leap(&mut self, lines: u64) {
        let cycles = lines * LINE;
        self.clock += cycles;
        self.clock_target += cycles;
        self.last_cycles += cycles;
        for _ in 0..lines {
            let shown = self.next_mode == 3;
            if shown && self.draw {
                self.draw_line();
            }
            self.ly += 1;
            self.window_reached |= shown && self.ly == self.wy;
        }
        let raised = self.compare_line();
        debug_assert_eq!(raised, 0, "an interrupt was leapt over");
    }
}
