//! Instructions run quickly, over the picture unit's events of which nothing comes.
//!
//! In plain play each event ends a slice. Here [`Machine::stretch`] runs plain instructions over
//! those that nobody sees but who looks at the picture unit, which is brought up to the processor
//! when another instruction is due, or when an event comes of which something may come.

use crate::idle::near;
use crate::idle_hopes::Hopes;
use crate::lcd::{Alike, EARLY_LY};
use crate::leap::LINE;
use crate::machine::Machine;
use crate::stretch::{RAM, ROM};

/// How far a stretch goes.
pub(crate) struct Stretch {
    /// The processor's counter at which it ends.
    pub end: u64,
    /// How many lines further it may end.
    pub more: u64,
    /// By how much it was late for the end of the last line that it passed, if it ends close to it.
    pub late: u64,
    /// The picture unit is up to the processor, or does not look at VRAM and OAM.
    pub open: bool,
    /// It is in the vertical blank, and nothing else is due.
    pub blank: bool,
    /// The next event is the one that ends the slice.
    pub quiet: bool,
    /// Where the program was when the last slice, or line, began.
    pub last_pc: u16,
}

impl Stretch {
    /// At its end: goes on by another line, if there is one. Where the program stays in one place it
    /// may wait, and a leap takes it further.
    #[inline(always)]
    pub(crate) fn goes_on(&mut self, pc: u16, hopes: &mut Hopes) -> bool {
        if self.more == 0 || near(pc, self.last_pc) && hopes.try_at(pc) {
            return false;
        }
        self.last_pc = pc;
        self.end += LINE;
        self.more -= 1;
        true
    }
}

/// Lines ahead whose events plain instructions may run over.
struct Ahead {
    alike: Alike,
    /// In the picture, not in the vertical blank.
    picture: bool,
    /// When LY is counted next.
    counted: u64,
    /// How many further times it may be counted.
    more: u64,
}

impl Machine {
    /// Runs instructions up to `end`, or to the one that bails out. moved: events may have been moved
    /// since the slice began, whose end stays.
    pub(crate) fn run_quickly(&mut self, mut end: u64, mut moved: bool) {
        while self.cycles < end && !self.bail {
            if self.ime_delay {
                self.step_behind_ei();
                moved = true;
                // OAM DMA, begun there without the slice's end, has to be looked after.
                if self.dma.active {
                    return self.run(end);
                }
                continue;
            }
            let ahead = self.ahead(end);
            let mut stretch = Stretch {
                end: ahead.as_ref().map_or(end, |ahead| ahead.counted),
                more: ahead.as_ref().map_or(0, |ahead| ahead.more),
                late: 0,
                last_pc: self.last_slice_pc,
                blank: ahead.as_ref().is_some_and(|ahead| !ahead.picture),
                quiet: !moved || self.lcd.event_at().min(self.others_due()) == end,
                open: match &ahead {
                    Some(ahead) => !ahead.picture,
                    None => self.lcd.event_at() >= end,
                },
            };
            let (before, from) = (self.cycles, self.registers.pc);
            match from {
                0..0x8000 => self.stretch::<ROM>(&mut stretch),
                0xC000..0xE000 | 0xFF80.. => self.stretch::<RAM>(&mut stretch),
                _ => {}
            }
            self.last_slice_pc = stretch.last_pc;
            if let Some(ahead) = ahead
                && self.cycles >= end
            {
                end = self.catch_up(&ahead, &stretch);
            }
            // A stretch ends at another instruction, or where the program goes elsewhere.
            let elsewhere = (from ^ self.registers.pc) & 0xC000 != 0;
            if self.cycles < end && (!elsewhere || self.cycles == before) {
                self.step_once();
            }
        }
    }

    /// When the timer or the serial port has its next event, by what is in their registers now. By the
    /// last look it may be another: what was written since ends the slice, but not right behind EI, nor
    /// if a dispatch wrote it.
    fn others_due(&self) -> u64 {
        let timer = self.timer.last_cycles + self.timer.cycles_to_interrupt();
        timer.min(self.cycles + self.serial.cycles_to_event(self.cycles))
    }

    /// The lines ahead, if the slice lasts to the picture unit's next event and nothing else is due.
    fn ahead(&self, end: u64) -> Option<Ahead> {
        if self.lcd.event_at() != end || (self.ime && self.pending()) {
            return None;
        }
        let alike = self.lcd.alike(false)?;
        // Lines, from the one in progress on, that end before something else is due.
        let whole = (self.others_due() - 1).checked_sub(alike.start)? / LINE;
        let further = whole.checked_sub(1)?;
        let picture = self.lcd.in_picture();
        // The event behind the vertical blank's last line ends the slice whatever comes of it.
        let (early, lines) = if picture {
            (EARLY_LY, alike.lines - 1)
        } else {
            (0, alike.lines)
        };
        Some(Ahead {
            alike,
            picture,
            counted: alike.start + LINE - early,
            more: lines.min(further),
        })
    }

    /// Brings the picture unit up to the processor behind a stretch that ran over events, but for the
    /// one that ends the slice. Returns the slice's end.
    fn catch_up(&mut self, ahead: &Ahead, stretch: &Stretch) -> u64 {
        let passed = ahead.more - stretch.more;
        let leap = |machine: &mut Self, lines| {
            if lines > 0 {
                machine.lcd.leap(&ahead.alike, lines);
            }
        };
        if self.cycles >= stretch.end {
            leap(self, passed);
            if ahead.picture {
                self.lcd.skip_to_blank();
            }
            return stretch.end;
        }
        // Mode 2 comes 4 cycles behind LY's count, but not in the same slice.
        let counted = stretch.end - LINE;
        let seen = counted + stretch.late;
        if ahead.picture && passed > 0 && self.cycles < (counted + EARLY_LY).max(seen + 4) {
            leap(self, passed - 1);
            self.lcd.skip_to_blank();
            self.tick_lcd(0);
            return seen + 4;
        }
        leap(self, passed);
        self.lcd.bring_up(self.cycles);
        // Where the program may wait the slice ends here, as it may where nothing is due: a leap is
        // looked for as a slice begins.
        if near(self.registers.pc, self.last_slice_pc) {
            return self.cycles;
        }
        self.tick_timer();
        self.cycles + self.cycles_to_event()
    }
}
