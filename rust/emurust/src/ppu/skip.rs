//! Skipping whole lines at once, where they are all alike.

use super::{EARLY_LY, LAST_LINE, LAST_SHOWN, LINE, MODE_2, ON, Ppu};

/// STAT's sources of interrupts: modes 0 and 2, the comparison with LYC.
const EACH_LINE: u8 = 0x28;
const COMPARISON: u8 = 0x40;

/// The lines ahead in which only those things happen that happen in each.
#[derive(Clone, Copy)]
pub(crate) struct Alike {
    /// How many lines further down the last of them is.
    pub lines: u64,
    /// The processor's counter when the line in progress began.
    pub start: u64,
    /// A skip ends at the beginning of a line: cycles to the event that comes next then.
    pub length: u64,
}

impl Ppu {
    /// The lines ahead without an interrupt, without the end of the picture or of the frame.
    ///
    /// `compared`: somebody looks at the comparison with LYC.
    pub(crate) fn alike(&self, compared: bool) -> Option<Alike> {
        let on = self.lcdc & ON != 0 && !self.reset && !self.first_frame;
        if !on || self.stat & EACH_LINE != 0 || self.clock >= self.clock_target {
            return None;
        }
        let line = u64::from(self.ly) * LINE;
        let away = self.clock_target.checked_sub(line)?;
        // In the picture any mode will do, except for the few cycles in which LY is early.
        let (last, length, regular) = match (self.next_mode, self.transition) {
            (3, 0) => (LAST_SHOWN, MODE_2, away == MODE_2),
            (0, 0) => (LAST_SHOWN, MODE_2, away < LINE),
            (2, 1) => (LAST_SHOWN, MODE_2, away == LINE - EARLY_LY),
            (1, 0) if self.ly > LAST_SHOWN => (LAST_LINE, LINE, away == LINE),
            _ => return None,
        };
        let mut lines = last.saturating_sub(self.ly);
        if compared || self.stat & COMPARISON != 0 {
            lines = match self.lyc.checked_sub(self.ly) {
                Some(0) => 0,
                Some(away) => lines.min(away - 1),
                None => lines,
            };
        }
        (regular && lines > 0).then_some(Alike {
            lines: lines.into(),
            start: (self.last_cycles + line).checked_sub(self.clock)?,
            length,
        })
    }

    /// The processor's counter at which the next event is due.
    pub(crate) fn event_at(&self) -> u64 {
        (self.last_cycles + self.clock_target).saturating_sub(self.clock)
    }

    /// Whether LY is a line of the picture.
    pub(crate) fn in_picture(&self) -> bool {
        self.ly <= LAST_SHOWN
    }

    /// Brings the PPU up to the processor's counter within such a line. Played plainly, each event comes
    /// in a tick of its own, for no two are as close as an instruction is long.
    pub(crate) fn bring_up(&mut self, cycles: u64) {
        self.clock += cycles - self.last_cycles;
        self.last_cycles = cycles;
        while self.clock >= self.clock_target {
            let raised = self.event();
            debug_assert_eq!(raised, 0, "an interrupt was skipped");
        }
    }

    /// Goes from any mode of such a line to its mode 0, which lasts until LY is counted up.
    pub(crate) fn skip_to_blank(&mut self) {
        if self.draw && self.next_mode != 2 {
            self.draw_line();
        }
        self.next_mode = 2;
        self.transition = 1;
        self.clock_target = (u64::from(self.ly) + 1) * LINE - EARLY_LY;
        let raised = self.set_mode(0);
        debug_assert_eq!(raised, 0, "an interrupt was skipped");
    }

    /// At the beginning of the picture's last line: goes to its mode 0, if nobody sees the others.
    pub(crate) fn skip_last_line(&mut self) {
        if self.ly == LAST_SHOWN && self.next_mode == 3 {
            if self.draw {
                self.draw_line();
            }
            self.next_mode = 1;
            self.clock_target = (u64::from(LAST_SHOWN) + 1) * LINE;
            let raised = self.set_mode(0);
            debug_assert_eq!(raised, 0, "an interrupt was skipped");
        }
    }

    /// Goes to the beginning of a line that is so many lines further down. The lines that are passed are
    /// drawn if this frame is.
    pub(crate) fn skip_lines(&mut self, alike: &Alike, lines: u64) {
        let picture = self.in_picture();
        if picture && self.draw {
            // In mode 0 this line has been drawn already.
            let drawn = u64::from(self.next_mode == 2);
            self.ly += drawn as u8;
            self.window_reached |= drawn == 1 && self.ly == self.wy;
            self.draw_lines(lines - drawn);
        } else {
            let passed = self.ly + 1..=self.ly + lines as u8;
            self.window_reached |= picture && passed.contains(&self.wy);
            self.ly += lines as u8;
        }
        self.last_cycles = alike.start + lines * LINE;
        self.clock = u64::from(self.ly) * LINE;
        self.clock_target = self.clock + alike.length;
        let mut raised = 0;
        if picture {
            self.next_mode = 3;
            self.transition = 0;
            raised = self.set_mode(2);
        }
        raised |= self.compare_line();
        debug_assert_eq!(raised, 0, "an interrupt was skipped");
    }
}
