//! The processor's registers.

/// Zero.
pub(crate) const Z: u8 = 0x80;
/// The last operation subtracted.
pub(crate) const N: u8 = 0x40;
/// Carry out of bit 3 (of bit 11 in 16 bits).
pub(crate) const H: u8 = 0x20;
/// Carry.
pub(crate) const C: u8 = 0x10;

/// The processor's registers. `f` has the flags in its upper four bits, the lower are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    pub a: u8,
    pub f: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub hl: u16,
    pub sp: u16,
    pub pc: u16,
}

impl Registers {
    /// As a boot ROM leaves them on the first Game Boy.
    pub fn handed_over() -> Self {
        Self {
            a: 0x01,
            f: 0xB0,
            b: 0x00,
            c: 0x13,
            d: 0x00,
            e: 0xD8,
            hl: 0x014D,
            sp: 0xFFFE,
            pc: 0x0100,
        }
    }

    #[inline(always)]
    pub fn h(&self) -> u8 {
        (self.hl >> 8) as u8
    }

    #[inline(always)]
    pub fn l(&self) -> u8 {
        self.hl as u8
    }

    #[inline(always)]
    pub fn set_h(&mut self, value: u8) {
        self.hl = u16::from(value) << 8 | self.hl & 0xFF;
    }

    #[inline(always)]
    pub fn set_l(&mut self, value: u8) {
        self.hl = self.hl & 0xFF00 | u16::from(value);
    }

    #[inline(always)]
    pub fn bc(&self) -> u16 {
        u16::from_be_bytes([self.b, self.c])
    }

    #[inline(always)]
    pub fn de(&self) -> u16 {
        u16::from_be_bytes([self.d, self.e])
    }

    #[inline(always)]
    pub fn set_bc(&mut self, value: u16) {
        [self.b, self.c] = value.to_be_bytes();
    }

    #[inline(always)]
    pub fn set_de(&mut self, value: u16) {
        [self.d, self.e] = value.to_be_bytes();
    }

    /// Whether any of these flags is set.
    #[inline(always)]
    pub fn flag(&self, flags: u8) -> bool {
        self.f & flags != 0
    }
}
