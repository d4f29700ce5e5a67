//! Lazy flags: the flags are computed only when somebody asks for them.
//!
//! Most flags are never looked at. The values that they follow from are kept instead: a few bytes
//! that the host has at hand. [`crate::cpu::alu`] is the authority; a test compares the two on every
//! operand.

use crate::cpu::registers::{C, H, N, Registers, Z};

/// The flags, taken apart.
#[derive(Clone, Copy)]
pub(crate) struct LazyFlags {
    /// Z is set if this is 0.
    zero: u8,
    /// C.
    carry: bool,
    /// H is bit 4. After a sum or a difference: the XOR of both operands and the result.
    half: u8,
    /// N is set if the last operation subtracted.
    negative: bool,
}

impl LazyFlags {
    /// Takes the flags of a byte apart.
    #[inline(always)]
    pub fn of(f: u8) -> Self {
        Self {
            zero: !f & Z,
            carry: f & C != 0,
            half: f >> 1,
            negative: f & N != 0,
        }
    }

    /// The flags as the register has them.
    #[inline(always)]
    pub fn byte(self) -> u8 {
        let (zero, negative) = (u8::from(self.zero == 0), u8::from(self.negative));
        zero << 7 | negative << 6 | self.half << 1 & H | u8::from(self.carry) << 4
    }

    #[inline(always)]
    pub fn z(self) -> bool {
        self.zero == 0
    }

    #[inline(always)]
    pub fn c(self) -> bool {
        self.carry
    }

    #[inline(always)]
    fn sum(&mut self, a: u8, value: u8, carry: bool) -> u8 {
        let (sum, carries) = a.overflowing_add(value);
        let (sum, further) = sum.overflowing_add(u8::from(carry));
        self.all(sum, carries | further, a ^ value ^ sum, false)
    }

    #[inline(always)]
    fn difference(&mut self, a: u8, value: u8, carry: bool) -> u8 {
        let (rest, borrows) = a.overflowing_sub(value);
        let (rest, further) = rest.overflowing_sub(u8::from(carry));
        self.all(rest, borrows | further, a ^ value ^ rest, true)
    }

    /// Sets all; returns the result.
    #[inline(always)]
    fn all(&mut self, result: u8, carry: bool, half: u8, negative: bool) -> u8 {
        *self = Self {
            zero: result,
            carry,
            half,
            negative,
        };
        result
    }

    #[inline(always)]
    pub fn add(&mut self, a: u8, value: u8) -> u8 {
        self.sum(a, value, false)
    }

    #[inline(always)]
    pub fn adc(&mut self, a: u8, value: u8) -> u8 {
        self.sum(a, value, self.carry)
    }

    #[inline(always)]
    pub fn sub(&mut self, a: u8, value: u8) -> u8 {
        self.difference(a, value, false)
    }

    #[inline(always)]
    pub fn sbc(&mut self, a: u8, value: u8) -> u8 {
        self.difference(a, value, self.carry)
    }

    #[inline(always)]
    pub fn cp(&mut self, a: u8, value: u8) -> u8 {
        self.difference(a, value, false);
        a
    }

    #[inline(always)]
    pub fn and(&mut self, a: u8, value: u8) -> u8 {
        self.all(a & value, false, 0x10, false)
    }

    #[inline(always)]
    pub fn xor(&mut self, a: u8, value: u8) -> u8 {
        self.all(a ^ value, false, 0, false)
    }

    #[inline(always)]
    pub fn or(&mut self, a: u8, value: u8) -> u8 {
        self.all(a | value, false, 0, false)
    }

    #[inline(always)]
    pub fn inc(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.all(result, self.carry, value ^ result, false)
    }

    #[inline(always)]
    pub fn dec(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.all(result, self.carry, value ^ result, true)
    }

    #[inline(always)]
    pub fn add_hl(&mut self, hl: u16, value: u16) -> u16 {
        let (sum, carry) = hl.overflowing_add(value);
        self.all(self.zero, carry, ((hl ^ value ^ sum) >> 8) as u8, false);
        sum
    }

    /// SP + a signed byte; the flags are those of the lower bytes.
    #[inline(always)]
    pub fn sp_plus(&mut self, sp: u16, value: u8) -> u16 {
        self.sum(sp as u8, value, false);
        self.zero = 1;
        sp.wrapping_add_signed(i16::from(value as i8))
    }

    /// Corrects A to two decimal digits.
    pub fn daa(&mut self, a: u8) -> u8 {
        let f = self.byte();
        let mut r = Registers {
            a,
            f,
            ..Registers::handed_over()
        };
        r.daa();
        *self = Self::of(r.f);
        r.a
    }

    /// Complements A.
    #[inline(always)]
    pub fn cpl(&mut self, a: u8) -> u8 {
        (self.half, self.negative) = (0x10, true);
        !a
    }

    /// Sets the carry; clears N and H.
    #[inline(always)]
    pub fn set_carry(&mut self, carry: bool) {
        self.all(self.zero, carry, 0, false);
    }

    /// Clears Z, as a rotation of A does.
    #[inline(always)]
    pub fn clear_z(&mut self) {
        self.zero = 1;
    }

    #[inline(always)]
    pub fn rlc(&mut self, value: u8) -> u8 {
        self.all(value.rotate_left(1), value & 0x80 != 0, 0, false)
    }

    #[inline(always)]
    pub fn rrc(&mut self, value: u8) -> u8 {
        self.all(value.rotate_right(1), value & 1 != 0, 0, false)
    }

    #[inline(always)]
    pub fn rl(&mut self, value: u8) -> u8 {
        let result = value << 1 | u8::from(self.carry);
        self.all(result, value & 0x80 != 0, 0, false)
    }

    #[inline(always)]
    pub fn rr(&mut self, value: u8) -> u8 {
        let result = value >> 1 | u8::from(self.carry) << 7;
        self.all(result, value & 1 != 0, 0, false)
    }

    #[inline(always)]
    pub fn sla(&mut self, value: u8) -> u8 {
        self.all(value << 1, value & 0x80 != 0, 0, false)
    }

    #[inline(always)]
    pub fn sra(&mut self, value: u8) -> u8 {
        self.all(value >> 1 | value & 0x80, value & 1 != 0, 0, false)
    }

    #[inline(always)]
    pub fn swap(&mut self, value: u8) -> u8 {
        self.all(value.rotate_left(4), false, 0, false)
    }

    #[inline(always)]
    pub fn srl(&mut self, value: u8) -> u8 {
        self.all(value >> 1, value & 1 != 0, 0, false)
    }

    /// Z is set if the bit of the mask is not set.
    #[inline(always)]
    pub fn bit(&mut self, value: u8, mask: u8) {
        self.all(value & mask, self.carry, 0x10, false);
    }
}
