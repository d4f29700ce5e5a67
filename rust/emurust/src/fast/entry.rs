//! Fast path: run plain instructions past PPU events that have no visible effect.
//!
//! Without it each event ends a slice. Here [`Machine::run_blocks`] runs plain instructions past the
//! events that only a look at the PPU can tell. The PPU is brought up to the processor when another
//! instruction is due, or when an event comes that may have an effect.

use crate::fast::block::{RAM, ROM};
use crate::idle::near;
use crate::idle::predictor::IdlePredictor;
use crate::machine::Machine;
use crate::ppu::LINE;
use crate::ppu::{Alike, EARLY_LY};

/// How far a block run goes.
pub(crate) struct BlockRun {
    /// The processor's counter at which the run ends.
    pub end: u64,
    /// By how many further lines the end may move.
    pub more: u64,
    /// By how many cycles the run passed the end of the last line that it passed; only if it ends close
    /// to it.
    pub late_cycles: u64,
    /// The PPU is up to the processor, or does not look at VRAM and OAM.
    pub open: bool,
    /// The PPU is in the vertical blank, and nothing else is due.
    pub blank: bool,
    /// The next event is the one that ends the slice.
    pub quiet: bool,
    /// Where the program was when the last slice, or line, began.
    pub last_pc: u16,
}

impl BlockRun {
    /// At the end: goes on by another line, if there is one. A program that stays in one place may
    /// wait; then a skip takes it further.
    #[inline(always)]
    pub(crate) fn goes_on(&mut self, pc: u16, predictor: &mut IdlePredictor) -> bool {
        if self.more == 0 || near(pc, self.last_pc) && predictor.try_at(pc) {
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
    /// When LY is counted up next.
    counted: u64,
    /// How many further times LY may be counted up.
    more: u64,
}

impl Machine {
    /// Runs instructions up to `end`, or to one that bails out. moved: events may have been moved since
    /// the slice began, but its end stays.
    pub(crate) fn run_fast(&mut self, mut end: u64, mut moved: bool) {
        while self.cycles < end && !self.bail {
            if self.ime_delay {
                self.step_behind_ei();
                moved = true;
                // OAM DMA may have begun here without ending the slice. It needs the slow way.
                if self.dma.active {
                    return self.run(end);
                }
                continue;
            }
            let ahead = self.ahead(end);
            let mut block_run = BlockRun {
                end: ahead.as_ref().map_or(end, |ahead| ahead.counted),
                more: ahead.as_ref().map_or(0, |ahead| ahead.more),
                late_cycles: 0,
                last_pc: self.last_slice_pc,
                blank: ahead.as_ref().is_some_and(|ahead| !ahead.picture),
                quiet: !moved || self.ppu.event_at().min(self.others_due()) == end,
                open: match &ahead {
                    Some(ahead) => !ahead.picture,
                    None => self.ppu.event_at() >= end,
                },
            };
            let (before, from) = (self.cycles, self.registers.pc);
            match from {
                0..0x8000 => self.run_blocks::<ROM>(&mut block_run),
                0xC000..0xE000 | 0xFF80.. => self.run_blocks::<RAM>(&mut block_run),
                _ => {}
            }
            self.last_slice_pc = block_run.last_pc;
            if let Some(ahead) = ahead
                && self.cycles >= end
            {
                end = self.catch_up(&ahead, &block_run);
            }
            // A run ends at another instruction, or where the program leaves the code's memory.
            let elsewhere = (from ^ self.registers.pc) & 0xC000 != 0;
            if self.cycles < end && (!elsewhere || self.cycles == before) {
                self.step_once();
            }
        }
    }

    /// When the timer or the serial port has its next event, by their registers now. The last look may
    /// have found another time: a write since then ends the slice, but not right behind EI, nor if a
    /// dispatch wrote it.
    fn others_due(&self) -> u64 {
        let timer = self.timer.last_cycles + self.timer.cycles_to_interrupt();
        timer.min(self.cycles + self.serial.cycles_to_event(self.cycles))
    }

    /// The lines ahead, if the slice lasts up to the PPU's next event and nothing else is due.
    fn ahead(&self, end: u64) -> Option<Ahead> {
        if self.ppu.event_at() != end || (self.ime && self.pending()) {
            return None;
        }
        let alike = self.ppu.alike(false)?;
        // Lines, counted from the one in progress, that end before something else is due.
        let whole = (self.others_due() - 1).checked_sub(alike.start)? / LINE;
        let further = whole.checked_sub(1)?;
        let picture = self.ppu.in_picture();
        // The event behind the vertical blank's last line ends the slice in any case.
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

    /// Brings the PPU up to the processor behind a run past events, except for the event that ends the
    /// slice. Returns the slice's end.
    fn catch_up(&mut self, ahead: &Ahead, block_run: &BlockRun) -> u64 {
        let passed = ahead.more - block_run.more;
        let skip = |machine: &mut Self, lines| {
            if lines > 0 {
                machine.ppu.skip_lines(&ahead.alike, lines);
            }
        };
        if self.cycles >= block_run.end {
            skip(self, passed);
            if ahead.picture {
                self.ppu.skip_to_blank();
            }
            return block_run.end;
        }
        // Mode 2 comes 4 cycles after LY is counted up, but not in the same slice.
        let counted = block_run.end - LINE;
        let seen = counted + block_run.late_cycles;
        if ahead.picture && passed > 0 && self.cycles < (counted + EARLY_LY).max(seen + 4) {
            skip(self, passed - 1);
            self.ppu.skip_to_blank();
            self.tick_ppu(0);
            return seen + 4;
        }
        skip(self, passed);
        self.ppu.bring_up(self.cycles);
        // Where the program may wait, the slice ends here, as it may while nothing is due. A slice's
        // beginning looks for a skip.
        if near(self.registers.pc, self.last_slice_pc) {
            return self.cycles;
        }
        self.tick_timer();
        self.cycles + self.cycles_to_event()
    }
}
