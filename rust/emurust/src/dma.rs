//! OAM DMA: 160 bytes into the sprite table, one in 4 cycles.

use crate::machine::Machine;

/// OAM DMA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dma {
    /// From the write to FF46 on.
    pub active: bool,
    /// Only true inside a transfer.
    pub reading: bool,
    /// Upper byte of the address.
    pub source: u8,
    /// Bytes copied, 0 to 160.
    pub index: u8,
    /// The processor's cycle counter at the first byte.
    pub start: u64,
}

impl Dma {
    pub fn new() -> Self {
        Self {
            active: false,
            reading: false,
            source: 0,
            index: 0,
            start: 0,
        }
    }
}

impl Machine {
    /// FF46 is written.
    pub(crate) fn start_dma(&mut self, source: u8) {
        self.dma.active = true;
        self.dma.source = source;
        self.dma.index = 0;
        self.dma.start = self.cycles + 12;
    }

    /// Whether reads of OAM give FF.
    pub(crate) fn oam_is_hidden(&self) -> bool {
        self.dma.active && self.cycles >= self.dma.start
    }

    /// Copies what is due.
    #[inline]
    pub(crate) fn tick_dma(&mut self) {
        if !self.dma.active {
            return;
        }
        while self.dma.index < 160 && self.cycles >= self.dma.start + 4 * u64::from(self.dma.index)
        {
            let index = self.dma.index;
            let value = self.read(u16::from(self.dma.source) << 8 | u16::from(index));
            self.lcd.oam[usize::from(index)] = value;
            self.dma.index += 1;
        }
        if self.dma.index == 160 {
            self.dma.active = false;
        }
    }
}
