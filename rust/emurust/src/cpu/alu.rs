//! Arithmetic and logic on registers: results and flags, no memory, no time.

use crate::cpu::registers::{C, H, N, Registers, Z};

#[inline(always)]
fn zero(value: u8) -> u8 {
    if value == 0 { Z } else { 0 }
}

#[inline(always)]
fn when(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

impl Registers {
    /// A + value + carry, the carry 0 or 1.
    #[inline(always)]
    fn sum(&mut self, value: u8, carry: u8) {
        let wide = u16::from(self.a) + u16::from(value) + u16::from(carry);
        let half = (self.a & 15) + (value & 15) + carry > 15;
        self.a = wide as u8;
        self.f = zero(self.a) | when(half, H) | when(wide > 0xFF, C);
    }

    /// The flags of A - value - carry and that difference.
    #[inline(always)]
    fn difference(&mut self, value: u8, carry: u8) -> u8 {
        let wide = i16::from(self.a) - i16::from(value) - i16::from(carry);
        let half = self.a & 15 < (value & 15) + carry;
        self.f = zero(wide as u8) | N | when(half, H) | when(wide < 0, C);
        wide as u8
    }

    #[inline(always)]
    fn carry(&self) -> u8 {
        self.f >> 4 & 1
    }

    #[inline(always)]
    pub fn add(&mut self, value: u8) {
        self.sum(value, 0);
    }

    #[inline(always)]
    pub fn adc(&mut self, value: u8) {
        self.sum(value, self.carry());
    }

    #[inline(always)]
    pub fn sub(&mut self, value: u8) {
        self.a = self.difference(value, 0);
    }

    #[inline(always)]
    pub fn sbc(&mut self, value: u8) {
        self.a = self.difference(value, self.carry());
    }

    #[inline(always)]
    pub fn and(&mut self, value: u8) {
        self.a &= value;
        self.f = zero(self.a) | H;
    }

    #[inline(always)]
    pub fn xor(&mut self, value: u8) {
        self.a ^= value;
        self.f = zero(self.a);
    }

    #[inline(always)]
    pub fn or(&mut self, value: u8) {
        self.a |= value;
        self.f = zero(self.a);
    }

    #[inline(always)]
    pub fn cp(&mut self, value: u8) {
        self.difference(value, 0);
    }

    #[inline(always)]
    pub fn inc(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.f = self.f & C | zero(result) | when(result & 15 == 0, H);
        result
    }

    #[inline(always)]
    pub fn dec(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.f = self.f & C | N | zero(result) | when(result & 15 == 15, H);
        result
    }

    #[inline(always)]
    pub fn add_hl(&mut self, value: u16) {
        let half = (self.hl & 0xFFF) + (value & 0xFFF) > 0xFFF;
        let (sum, carry) = self.hl.overflowing_add(value);
        self.hl = sum;
        self.f = self.f & Z | when(half, H) | when(carry, C);
    }

    /// SP + a signed byte; the flags are those of the lower bytes.
    #[inline(always)]
    pub fn sp_plus(&mut self, value: u8) -> u16 {
        let low = self.sp as u8;
        let half = (low & 15) + (value & 15) > 15;
        self.f = when(half, H) | when(low.checked_add(value).is_none(), C);
        self.sp.wrapping_add_signed(i16::from(value as i8))
    }

    /// Corrects A to two decimal digits after an addition or a subtraction.
    pub fn daa(&mut self) {
        let mut correction = 0;
        let mut carry = self.flag(C);
        if self.flag(H) || !self.flag(N) && self.a & 15 > 9 {
            correction |= 0x06;
        }
        if carry || !self.flag(N) && self.a > 0x99 {
            correction |= 0x60;
            carry = true;
        }
        self.a = if self.flag(N) {
            self.a.wrapping_sub(correction)
        } else {
            self.a.wrapping_add(correction)
        };
        self.f = self.f & N | zero(self.a) | when(carry, C);
    }

    #[inline(always)]
    fn shifted(&mut self, result: u8, carry: u8) -> u8 {
        self.f = zero(result) | carry << 4;
        result
    }

    #[inline(always)]
    pub fn rlc(&mut self, value: u8) -> u8 {
        self.shifted(value.rotate_left(1), value >> 7)
    }

    #[inline(always)]
    pub fn rrc(&mut self, value: u8) -> u8 {
        self.shifted(value.rotate_right(1), value & 1)
    }

    #[inline(always)]
    pub fn rl(&mut self, value: u8) -> u8 {
        self.shifted(value << 1 | self.carry(), value >> 7)
    }

    #[inline(always)]
    pub fn rr(&mut self, value: u8) -> u8 {
        self.shifted(value >> 1 | self.carry() << 7, value & 1)
    }

    #[inline(always)]
    pub fn sla(&mut self, value: u8) -> u8 {
        self.shifted(value << 1, value >> 7)
    }

    #[inline(always)]
    pub fn sra(&mut self, value: u8) -> u8 {
        self.shifted(value >> 1 | value & 0x80, value & 1)
    }

    #[inline(always)]
    pub fn swap(&mut self, value: u8) -> u8 {
        self.shifted(value.rotate_left(4), 0)
    }

    #[inline(always)]
    pub fn srl(&mut self, value: u8) -> u8 {
        self.shifted(value >> 1, value & 1)
    }

    /// Z is set if the bit of the mask is not set.
    #[inline(always)]
    pub fn bit(&mut self, value: u8, mask: u8) {
        self.f = self.f & C | H | zero(value & mask);
    }
}
