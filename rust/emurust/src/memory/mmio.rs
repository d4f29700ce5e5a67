//! RAM, and the places outside of it that plain instructions can reach without a look at a clock:
//! VRAM, OAM and some registers.

use crate::joypad::Joypad;

pub(crate) const WRAM_BEGINS: u16 = 0xC000;
pub(crate) const HRAM_BEGINS: u16 = 0xFF80;

/// The place of an address in WRAM; a number beyond it for other addresses.
#[inline(always)]
pub(crate) fn wram_at(addr: u16) -> usize {
    addr.wrapping_sub(WRAM_BEGINS).into()
}

#[inline(always)]
pub(crate) fn hram_at(addr: u16) -> usize {
    addr.wrapping_sub(HRAM_BEGINS).into()
}

#[inline(always)]
pub(crate) fn in_hram(addr: u16) -> bool {
    addr.wrapping_sub(HRAM_BEGINS) < 127
}

/// The memory that a block run may touch besides ROM, WRAM and HRAM. OAM DMA never runs meanwhile.
pub(crate) struct Mmio<'a> {
    pub vram: &'a mut [u8; 8192],
    pub oam: &'a mut [u8; 160],
    /// FF00 as it reads.
    pub p1: &'a mut u8,
    pub joypad: Joypad,
    /// SCY, SCX.
    pub scroll: (&'a mut u8, &'a mut u8),
    /// The PPU is up to the processor, or does not look at VRAM and OAM.
    pub open: bool,
    /// The PPU is in the vertical blank and stays there, and the slice may end anywhere. Otherwise an
    /// event in the same instruction may or may not see a write to a register.
    pub blank: bool,
    /// The slice may end anywhere without effect: no interrupt is due, and no event was moved.
    pub calm: bool,
}

impl Mmio<'_> {
    /// Reads at the processor's counter; None if that takes more than a look.
    #[cold]
    pub fn read(&self, addr: u16) -> Option<u8> {
        match addr {
            0x8000..0xA000 => Some(self.vram[usize::from(addr & 0x1FFF)]),
            0xFE00..0xFEA0 => Some(self.oam[usize::from(addr - 0xFE00)]),
            0xFF00 => Some(*self.p1),
            _ => None,
        }
    }

    /// Writes at the processor's counter; None if that takes more. Then nothing is written.
    #[cold]
    pub fn write(&mut self, addr: u16, value: u8) -> Option<()> {
        match addr {
            0x8000..0xA000 if self.open => self.vram[usize::from(addr & 0x1FFF)] = value,
            0xFE00..0xFEA0 if self.open => self.oam[usize::from(addr - 0xFE00)] = value,
            0xFF00 if self.calm => *self.p1 = self.joypad.selected(value),
            0xFF42 if self.blank => *self.scroll.0 = value,
            0xFF43 if self.blank => *self.scroll.1 = value,
            _ => return None,
        }
        Some(())
    }
}
