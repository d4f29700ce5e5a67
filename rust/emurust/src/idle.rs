//! Loops that only wait: the passes that change nothing but the clock, taken in one go.
//!
//! A loop waits if a pass brings all registers back and wrote nothing: then so does each further
//! pass, until something that it reads changes. Memory does not change in a loop that writes none.
//! LY and STAT change with the picture unit's events, and interrupts come at the ends of slices,
//! which events cause. Loops that look at anything else that changes by itself are not leapt.
//!
//! There are two leaps. Within a slice: as many passes as end before it does. Over lines: from mode
//! 2 of one line to mode 2 of another, or within the vertical blank, if the passes between also
//! change nothing whatever LY or STAT they read there.

use crate::idle_lines::Poll;
use crate::leap::LINE;
use crate::machine::Machine;
use crate::registers::Registers;

/// Instructions of the longest loop that is found.
const LONGEST: u32 = 8;
/// A loop's program counter at the ends of two slices lies closer together than this.
pub(crate) const NEAR: u16 = 24;
/// So long after mode 2 is due it has come, and so has the slice that lasts to its end: instructions
/// here take 16 cycles at most, one may be late for LY and one more for mode 2, and the shortest
/// loop's 12 are added besides.
const LATE: u64 = 20;
/// STAT's bits 0 and 1, and what they are in a line of the picture.
const MODE: u8 = 3;
const MODES_OF_A_LINE: [u8; 3] = [2, 3, 0];

/// What a pass looked at that changes by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Nothing,
    /// Memory that does not change by itself.
    Memory,
    Line,
    LineAndMemory,
    Status,
}

impl Look {
    /// Both; None if two reads in one pass could see different things.
    fn and(self, other: Look) -> Option<Look> {
        match (self, other) {
            (Look::Nothing, other) => Some(other),
            (Look::Line, Look::Memory) | (Look::Memory, Look::Line) => Some(Look::LineAndMemory),
            (other, Look::Memory) | (Look::Memory, other) => Some(other),
            _ => None,
        }
    }
}

/// A pass that brought all registers back.
struct Pass {
    cycles: u64,
    look: Look,
    /// The loop's lowest address.
    first: u16,
    /// Whether it uses no register but A.
    only_a: bool,
}

impl Machine {
    /// Runs up to `end`, or to an instruction that bails out, and leaps where the program waits.
    /// Returns the slice's end, which a leap moves.
    #[inline]
    pub(crate) fn leap_idle(&mut self, end: u64) -> u64 {
        let pc = self.registers.pc;
        let near = pc.wrapping_sub(self.last_slice_pc);
        self.last_slice_pc = pc;
        if near.wrapping_add(NEAR) >= 2 * NEAR || self.ime_delay || !self.hopes.try_at(pc) {
            return end;
        }
        let (moved_end, waits) = self.leap_loop(end);
        self.hopes.learn(pc, waits);
        moved_end
    }

    /// The slice's end, and whether this is a loop that waits.
    fn leap_loop(&mut self, mut end: u64) -> (u64, bool) {
        // The first pass may have seen a change that ended the last slice.
        let Some(pass) = self.waiting_pass(end).or_else(|| self.waiting_pass(end)) else {
            return (end, false);
        };
        // The first read of STAT after the LCD was switched on may be another than the next.
        if pass.look == Look::Status {
            let (ly, stat) = (self.lcd.ly, self.lcd.stat);
            if self.tried(&pass, self.registers, ly, stat) != Some(self.registers) {
                return (end, false);
            }
        }
        end += self.leap_lines_of_loop(&pass, end);
        let until = end.min(self.lcd.event_at());
        let passes = until.saturating_sub(self.cycles).saturating_sub(1) / pass.cycles;
        self.cycles += passes * pass.cycles;
        (end, true)
    }

    /// Runs one pass of a loop. None if it is none, or changed something, or an event came.
    fn waiting_pass(&mut self, end: u64) -> Option<Pass> {
        let before = self.registers;
        let (start, target) = (self.cycles, self.lcd.clock_target);
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
        let same = self.registers == before && self.lcd.clock_target == target;
        let clear = self.cycles < end.min(self.lcd.event_at());
        (same && clear).then_some(Pass {
            cycles: self.cycles - start,
            look,
            first,
            only_a,
        })
    }

    /// Runs an instruction that can be part of a waiting loop, and notes what it looks at.
    fn look_on(&mut self, look: &mut Look) -> Option<()> {
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

    /// The address that the instruction at PC reads besides its code, Some(None) if none. None if
    /// it writes memory, or may do anything else than calculate and jump.
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

    /// Whether the instruction at PC, one of those above, uses no register but A.
    fn uses_only_a(&mut self) -> bool {
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

    /// Leaps over lines, to the last pass in mode 2 of a line further down, or likewise in mode 1.
    /// Returns how much later the next event is.
    fn leap_lines_of_loop(&mut self, pass: &Pass, end: u64) -> u64 {
        // From the loop's beginning, so that what was found out about a loop can be used again.
        while self.registers.pc != pass.first && self.cycles < end {
            self.step_once();
        }
        // Only where this slice lasts up to the event, and nothing waits for its end.
        if self.cycles >= end || self.lcd.event_at() != end || (self.ime && self.pending()) {
            return 0;
        }
        let Some(alike) = self.lcd.alike(pass.look == Look::Status) else {
            return 0;
        };
        // The slice in which the leap ends has to last up to the picture unit's event as well.
        let undisturbed = self.lines_undisturbed().saturating_sub(1);
        let mut lines = alike.lines.min(undisturbed);
        while lines > 0 {
            let later = alike.start + lines * LINE + alike.length;
            let passes = (later - 1 - self.cycles) / pass.cycles;
            let left = later - self.cycles - passes * pass.cycles;
            // The last pass has to read what it reads when all that is late has come.
            if left + pass.cycles + LATE > alike.length {
                lines -= 1;
                continue;
            }
            match self.waits_through(pass, lines) {
                Ok(registers) => {
                    self.lcd.leap(&alike, lines);
                    self.registers = registers;
                    self.cycles += passes * pass.cycles;
                    return later - end;
                }
                Err(fewer) => lines = fewer,
            }
        }
        0
    }

    /// The registers after passes through so many lines; if it leaves the loop, how many it stays.
    fn waits_through(&mut self, pass: &Pass, lines: u64) -> Result<Registers, u64> {
        let (ly, stat) = (self.lcd.ly, self.lcd.stat);
        let mut registers = self.registers;
        match pass.look {
            Look::Nothing | Look::Memory => {}
            Look::LineAndMemory => {
                for line in 1..=lines {
                    registers = self
                        .registers_waiting(pass, registers, ly + line as u8, stat)
                        .ok_or(line - 1)?;
                }
            }
            Look::Line => {
                // What A and the flags become depends on nothing else that it does not change.
                let used = if pass.only_a {
                    Registers {
                        pc: registers.pc,
                        ..Registers::handed_over()
                    }
                } else {
                    registers
                };
                self.polled_lines.look_at(Poll {
                    registers: used,
                    place: self.place(registers.pc),
                    cycles: pass.cycles,
                });
                for line in 1..=lines {
                    let next = ly + line as u8;
                    if let Some(known) = self.polled_lines.next(registers, next) {
                        registers = known;
                        continue;
                    }
                    let after = self
                        .registers_waiting(pass, registers, next, stat)
                        .ok_or(line - 1)?;
                    self.polled_lines.keep(registers, next, after);
                    registers = after;
                }
            }
            // Mode 1 lasts; in the picture each line has all others.
            Look::Status if self.lcd.next_mode == 1 => {}
            Look::Status => return self.waits_in_all_modes(pass).ok_or(0),
        }
        Ok(registers)
    }

    /// The registers in mode 2, if the loop waits in all modes of the picture, one after the other.
    fn waits_in_all_modes(&mut self, pass: &Pass) -> Option<Registers> {
        let (ly, stat) = (self.lcd.ly, self.lcd.stat);
        let mut registers = self.registers;
        let mut in_mode_2 = registers;
        let here = MODES_OF_A_LINE
            .iter()
            .position(|&mode| mode == stat & MODE)?;
        for away in 1..=MODES_OF_A_LINE.len() {
            let mode = MODES_OF_A_LINE[(here + away) % MODES_OF_A_LINE.len()];
            registers = self.registers_waiting(pass, registers, ly, stat & !MODE | mode)?;
            if mode == 2 {
                in_mode_2 = registers;
            }
        }
        (registers == self.registers).then_some(in_mode_2)
    }

    /// Where in the ROM code at this address lies.
    fn place(&self, pc: u16) -> usize {
        let bank = if pc < 0x4000 {
            self.lower_rom
        } else {
            self.upper_rom
        };
        bank + usize::from(pc & 0x3FFF)
    }

    /// The registers after passes that read this LY or STAT; None if the loop ends then, or takes
    /// another time, or needs more than one pass to come to rest.
    fn registers_waiting(
        &mut self,
        pass: &Pass,
        from: Registers,
        ly: u8,
        stat: u8,
    ) -> Option<Registers> {
        let first = self.tried(pass, from, ly, stat)?;
        let second = self.tried(pass, first, ly, stat)?;
        (first == second).then_some(first)
    }

    /// The registers after one pass that reads this LY or STAT; the machine stays as it is.
    fn tried(&mut self, pass: &Pass, from: Registers, ly: u8, stat: u8) -> Option<Registers> {
        let (registers, cycles, bail) = (self.registers, self.cycles, self.bail);
        let lcd = &mut self.lcd;
        let clocks = (lcd.clock, lcd.clock_target, lcd.last_cycles);
        let shown = (lcd.ly, lcd.stat);
        lcd.clock_target = u64::MAX;
        (lcd.ly, lcd.stat) = (ly, stat);
        self.registers = from;
        let mut look = Look::Nothing;
        let mut back = false;
        for _ in 0..LONGEST {
            if self.look_on(&mut look).is_none() {
                break;
            }
            if self.registers.pc == from.pc {
                back = look == pass.look && self.cycles - cycles == pass.cycles;
                break;
            }
        }
        let after = self.registers;
        (self.registers, self.cycles, self.bail) = (registers, cycles, bail);
        let lcd = &mut self.lcd;
        (lcd.clock, lcd.clock_target, lcd.last_cycles) = clocks;
        (lcd.ly, lcd.stat) = shown;
        back.then_some(after)
    }
}
