//! Arithmetic, logic, shifts, and moves between registers.

use super::{Done, Exit, Live, Pair, Register};
use crate::cpu::lazy_flags::LazyFlags;
use crate::fast::decode::BACK_BY_ONE;
use crate::memory::mmio::{hram_at, wram_at};

impl<const KIND: u8, const MMIO: bool> Live<'_, '_, KIND, MMIO> {
    /// Copies a register.
    #[inline(always)]
    pub fn copy(&mut self, to: Register, from: Register) {
        self.put(to, self.get(from), 1, 4);
    }

    /// Calculates with A.
    #[inline(always)]
    pub fn with(
        &mut self,
        operation: impl Fn(&mut LazyFlags, u8, u8) -> u8,
        value: u8,
        length: usize,
        cycles: i64,
    ) {
        self.a = operation(&mut self.c.flags, self.a, value);
        self.next(length, cycles);
    }

    /// Calculates as this opcode does.
    #[inline(always)]
    pub fn calculate(&mut self, code: u32, value: u8, length: usize, cycles: i64) {
        let (flags, a) = (&mut self.c.flags, self.a);
        self.a = match code >> 3 & 7 {
            0 => flags.add(a, value),
            1 => flags.adc(a, value),
            2 => flags.sub(a, value),
            3 => flags.sbc(a, value),
            4 => flags.and(a, value),
            5 => flags.xor(a, value),
            6 => flags.or(a, value),
            _ => flags.cp(a, value),
        };
        self.next(length, cycles);
    }

    /// Increments or decrements a register.
    #[inline(always)]
    pub fn count(&mut self, register: Register, operation: impl Fn(&mut LazyFlags, u8) -> u8) {
        let value = self.get(register);
        let value = operation(&mut self.c.flags, value);
        self.put(register, value, 1, 4);
    }

    /// Increments or decrements [HL].
    #[inline(always)]
    pub fn count_memory(&mut self, operation: impl Fn(&mut LazyFlags, u8) -> u8) -> Done {
        let c = &mut *self.c;
        let place = if let Some(place) = c.wram.get_mut(wram_at(self.hl)) {
            place
        } else if let Some(place) = c.hram.get_mut(hram_at(self.hl)) {
            place
        } else {
            return Err(Exit::Stop);
        };
        *place = operation(&mut c.flags, *place);
        self.next(1, 12);
        Ok(())
    }

    #[inline(always)]
    pub fn count_pair(&mut self, pair: Pair, step: i16) {
        let value = self.get_pair(pair).wrapping_add_signed(step);
        self.put_pair(pair, value, 1, 8);
    }

    /// Decrements a register. With `jr nz` back to it behind it: as many passes as end before the
    /// slice does.
    #[inline(always)]
    pub fn count_down(&mut self, register: Register) {
        if self.word != BACK_BY_ONE {
            return self.count(register, LazyFlags::dec);
        }
        let counter = self.get(register);
        let (passes, fit) = (i64::from(counter.wrapping_sub(1)) + 1, (self.left - 1) / 16);
        if fit == 0 {
            let value = self.c.flags.dec(counter);
            self.set(register, value);
            self.at += 1;
            self.left -= 4;
            self.enter_block();
        } else if fit < passes {
            let value = self.c.flags.dec(counter.wrapping_sub(fit as u8 - 1));
            self.set(register, value);
            self.left -= 16 * fit;
        } else {
            let value = self.c.flags.dec(1);
            self.set(register, value);
            self.left -= 16 * passes - 4;
            self.at += 3;
            self.enter_block();
        }
    }

    #[inline(always)]
    pub fn add_hl(&mut self, pair: Pair) {
        self.hl = self.c.flags.add_hl(self.hl, self.get_pair(pair));
        self.next(1, 8);
    }

    /// Rotates A, which clears Z.
    #[inline(always)]
    pub fn rotate(&mut self, operation: impl Fn(&mut LazyFlags, u8) -> u8) {
        self.a = operation(&mut self.c.flags, self.a);
        self.c.flags.clear_z();
        self.next(1, 4);
    }

    /// Shifts a register as the byte behind CB says.
    #[inline(always)]
    pub fn shift(&mut self, code: u32, register: Register) {
        let (value, flags) = (self.get(register), &mut self.c.flags);
        let value = match code >> 3 & 7 {
            0 => flags.rlc(value),
            1 => flags.rrc(value),
            2 => flags.rl(value),
            3 => flags.rr(value),
            4 => flags.sla(value),
            5 => flags.sra(value),
            6 => flags.swap(value),
            _ => flags.srl(value),
        };
        self.put(register, value, 2, 8);
    }
}
