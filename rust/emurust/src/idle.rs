//! Skipping idle time: loops that only wait, HALT, and waiting for OAM DMA.
//!
//! A loop waits if a pass restores all registers and writes nothing. Then each further pass does the
//! same until something changes that the loop reads. Memory does not change in a loop that writes
//! nothing. LY and STAT change with the PPU's events, and interrupts come at the ends of slices,
//! which events cause. Loops that read anything else that changes by itself are not skipped.
//!
//! There are two skips. The first one stays within a slice: it takes all passes that end before the
//! slice does. The second one goes over lines: from mode 2 of one line to mode 2 of another, or within
//! the vertical blank. It requires that the passes between change nothing either, whatever LY or STAT
//! they read.

mod dma_wait;
mod halt;
pub(crate) mod polled_lines;
pub(crate) mod predictor;
mod trial;

use crate::machine::Machine;
use crate::ppu::LINE;

/// Instructions of the longest loop that is found.
pub(crate) const LONGEST: u32 = 8;
/// The program counter of one loop differs by less than this between the ends of two slices.
const NEAR: u16 = 24;
/// By so many cycles after mode 2 was due it has come, and the slice up to its end is over.
/// Instructions here take 16 cycles at most. One may be late for LY and another one for mode 2. The
/// 12 cycles of the shortest loop are added.
const LATE: u64 = 20;
/// The things a pass reads that change by themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Nothing,
    /// Memory that does not change by itself.
    Memory,
    Line,
    LineAndMemory,
    Status,
}

impl Look {
    /// Both; None if two reads in one pass could differ.
    fn and(self, other: Look) -> Option<Look> {
        match (self, other) {
            (Look::Nothing, other) => Some(other),
            (Look::Line, Look::Memory) | (Look::Memory, Look::Line) => Some(Look::LineAndMemory),
            (other, Look::Memory) | (Look::Memory, other) => Some(other),
            _ => None,
        }
    }
}

/// A pass that restored all registers.
pub(crate) struct Pass {
    pub cycles: u64,
    pub look: Look,
    /// The loop's lowest address.
    pub first: u16,
    /// Whether it uses no register but A.
    pub only_a: bool,
}

/// Whether two program counters may belong to the same short loop.
#[inline(always)]
pub(crate) fn near(pc: u16, other: u16) -> bool {
    pc.wrapping_sub(other).wrapping_add(NEAR) < 2 * NEAR
}

impl Machine {
    /// Runs up to `end`, or to an instruction that bails out, and skips passes while the program waits.
    /// Returns the slice's end, which a skip moves.
    #[inline]
    pub(crate) fn skip_idle(&mut self, end: u64) -> u64 {
        let pc = self.registers.pc;
        let stays = near(pc, self.last_slice_pc);
        self.last_slice_pc = pc;
        if !stays || self.ime_delay || !self.predictor.try_at(pc) {
            return end;
        }
        let (moved_end, waits) = self.skip_loop(end);
        self.predictor.learn(pc, waits);
        if waits {
            self.line_predictor.learn(self.stopped_at, true);
        }
        moved_end
    }

    /// The slice's end, and whether this is a loop that waits.
    fn skip_loop(&mut self, mut end: u64) -> (u64, bool) {
        // The first pass may have seen a change that ended the last slice.
        let Some(pass) = self.waiting_pass(end).or_else(|| self.waiting_pass(end)) else {
            return (end, false);
        };
        // The first read of STAT after the LCD was switched on may differ from the next one.
        if pass.look == Look::Status {
            let (ly, stat) = (self.ppu.ly, self.ppu.stat);
            if self.tried(&pass, self.registers, ly, stat) != Some(self.registers) {
                return (end, false);
            }
        }
        end += self.skip_lines_of_loop(&pass, end);
        let until = end.min(self.ppu.event_at());
        let passes = until.saturating_sub(self.cycles).saturating_sub(1) / pass.cycles;
        self.cycles += passes * pass.cycles;
        (end, true)
    }

    /// Runs one pass of a loop. None if there is no loop, or it changed something, or an event came.
    fn waiting_pass(&mut self, end: u64) -> Option<Pass> {
        let before = self.registers;
        let (start, target) = (self.cycles, self.ppu.clock_target);
        let mut look = Look::Nothing;
        let mut first = before.pc;
        let mut only_a = true;
        for _ in 0..LONGEST {
            if self.cycles >= end {
                return None;
            }
            only_a &= self.uses_only_a();
            self.look_on(&mut look)?;
            first = first.min(self.registers.pc);
            if self.registers.pc == before.pc {
                break;
            }
        }
        let same = self.registers == before && self.ppu.clock_target == target;
        let clear = self.cycles < end.min(self.ppu.event_at());
        (same && clear).then_some(Pass {
            cycles: self.cycles - start,
            look,
            first,
            only_a,
        })
    }

    /// Runs an instruction that a waiting loop may contain, and notes what it reads.
    pub(crate) fn look_on(&mut self, look: &mut Look) -> Option<()> {
        if let Some(addr) = self.calm_read()? {
            let this = match addr {
                0..0x8000 | 0xA000..0xFE00 | 0xFF00 | 0xFF0F | 0xFF80.. => Look::Memory,
                0xFF44 => Look::Line,
                0xFF41 => Look::Status,
                _ => return None,
            };
            *look = look.and(this)?;
        }
        self.step_once();
        Some(())
    }

    /// The address that the instruction at PC reads besides its code; Some(None) if it reads none. None
    /// if it writes memory, or may do anything other than calculate and jump.
    fn calm_read(&mut self) -> Option<Option<u16>> {
        let r = self.registers;
        if r.pc >= 0x7FFD || (0x3FFD..0x4000).contains(&r.pc) {
            return None;
        }
        let [code, low, high] = [0, 1, 2].map(|away| self.read(r.pc + away));
        Some(match code {
            0x70..=0x77 => return None,
            0x0A => Some(r.bc()),
            0x1A => Some(r.de()),
            _ if code & 0xC7 == 0x46 || code & 0xC7 == 0x86 => Some(r.hl),
            0x40..=0xBF => None,
            0xCB if low & 7 != 6 => None,
            0xCB if low & 0xC0 == 0x40 => Some(r.hl),
            0xF0 => Some(0xFF00 | u16::from(low)),
            0xF2 => Some(0xFF00 | u16::from(r.c)),
            0xFA => Some(u16::from_le_bytes([low, high])),
            0x00 | 0x07 | 0x0F | 0x17 | 0x1F | 0x2F | 0x37 | 0x3F => None,
            0x18 | 0x20 | 0x28 | 0x30 | 0x38 => None,
            0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA => None,
            0x01 | 0x11 | 0x21 | 0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x3E => None,
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => None,
            _ => return None,
        })
    }

    /// Whether the instruction at PC, one of those above, uses no register other than A.
    pub(crate) fn uses_only_a(&mut self) -> bool {
        if self.registers.pc >= 0x7FFD {
            return false; // reading there may change something
        }
        let [code, low] = [0, 1].map(|away| self.read(self.registers.pc.wrapping_add(away)));
        match code {
            0xCB => low & 7 == 7,
            0x0A | 0x1A | 0xF2 | 0x01 | 0x11 | 0x21 => false,
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E => false,
            0x40..=0x7F => code == 0x7F,
            0x80..=0xBF => code & 7 == 7,
            _ => true,
        }
    }

    /// Skips lines, up to the last pass in mode 2 of a line further down, or the same in mode 1. Returns
    /// by how much the next event moved.
    fn skip_lines_of_loop(&mut self, pass: &Pass, end: u64) -> u64 {
        // From the loop's beginning, so that findings about a loop can be used again.
        while self.registers.pc != pass.first && self.cycles < end {
            self.step_once();
        }
        // Only if this slice lasts up to the event, and nothing waits for its end.
        if self.cycles >= end || self.ppu.event_at() != end || (self.ime && self.pending()) {
            return 0;
        }
        let Some(alike) = self.ppu.alike(pass.look == Look::Status) else {
            return 0;
        };
        // The slice in which the skip ends has to last up to the PPU's event, too.
        let undisturbed = self.lines_undisturbed().saturating_sub(1);
        let mut lines = alike.lines.min(undisturbed);
        while lines > 0 {
            let later = alike.start + lines * LINE + alike.length;
            let passes = (later - 1 - self.cycles) / pass.cycles;
            let left = later - self.cycles - passes * pass.cycles;
            // The last pass has to read the same as after everything late has come.
            if left + pass.cycles + LATE > alike.length {
                lines -= 1;
                continue;
            }
            match self.waits_through(pass, lines) {
                Ok(registers) => {
                    self.ppu.skip_lines(&alike, lines);
                    self.registers = registers;
                    self.cycles += passes * pass.cycles;
                    return later - end;
                }
                Err(fewer) => lines = fewer,
            }
        }
        0
    }
}
