//! Trying the passes of a waiting loop on values that it will read later. The machine stays as it is.

use crate::cpu::registers::Registers;
use crate::idle::polled_lines::Poll;
use crate::idle::{LONGEST, Look, Pass};
use crate::machine::Machine;

/// STAT's bits 0 and 1, and their values within a line of the picture.
const MODE: u8 = 3;
const MODES_OF_A_LINE: [u8; 3] = [2, 3, 0];

impl Machine {
    /// The registers after passes through so many lines; if the loop ends, the lines it lasts.
    pub(crate) fn waits_through(&mut self, pass: &Pass, lines: u64) -> Result<Registers, u64> {
        let (ly, stat) = (self.ppu.ly, self.ppu.stat);
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
                // A and the flags depend on nothing else that the loop changes.
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
                    only_a: pass.only_a,
                    banks: (self.lower_rom, self.upper_rom),
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
            // Mode 1 lasts. In the picture each line has all others.
            Look::Status if self.ppu.next_mode == 1 => {}
            Look::Status => return self.waits_in_all_modes(pass).ok_or(0),
        }
        Ok(registers)
    }

    /// The registers in mode 2, if the loop waits in all modes of the picture, one after the other.
    fn waits_in_all_modes(&mut self, pass: &Pass) -> Option<Registers> {
        let (ly, stat) = (self.ppu.ly, self.ppu.stat);
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

    /// The registers after passes that read this LY or STAT. None if the loop ends then, takes another
    /// time, or needs more than one pass to come to rest.
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

    /// The registers after one pass that reads this LY or STAT. The machine stays as it is.
    pub(crate) fn tried(
        &mut self,
        pass: &Pass,
        from: Registers,
        ly: u8,
        stat: u8,
    ) -> Option<Registers> {
        let (registers, cycles, bail) = (self.registers, self.cycles, self.bail);
        let ram_bank = self.mapper.ram_bank; // a read may cut it
        let ppu = &mut self.ppu;
        let clocks = (ppu.clock, ppu.clock_target, ppu.last_cycles);
        let shown = (ppu.ly, ppu.stat, ppu.stat_shows_mode_0);
        ppu.clock_target = u64::MAX;
        (ppu.ly, ppu.stat) = (ly, stat);
        self.registers = from;
        let mut look = Look::Nothing;
        let mut back = false;
        for _ in 0..LONGEST {
            // A loop that uses further registers in some lines is not described by A alone.
            if pass.only_a && !self.uses_only_a() || self.look_on(&mut look).is_none() {
                break;
            }
            if self.registers.pc == from.pc {
                back = look == pass.look && self.cycles - cycles == pass.cycles;
                break;
            }
        }
        let after = self.registers;
        (self.registers, self.cycles, self.bail) = (registers, cycles, bail);
        // Such a pass is to be run.
        back &= self.mapper.ram_bank == ram_bank;
        self.mapper.ram_bank = ram_bank;
        let ppu = &mut self.ppu;
        (ppu.clock, ppu.clock_target, ppu.last_cycles) = clocks;
        (ppu.ly, ppu.stat, ppu.stat_shows_mode_0) = shown;
        back.then_some(after)
    }
}
