//! OAM DMA: 160 bytes into the sprite table, one in 4 cycles.

use crate::machine::Machine;

/// OAM DMA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dma {
    pub active: bool,
    /// Past the start's delay.
    pub reading: bool,
    /// Upper byte of the address.
    pub source: u8,
    /// The next byte to be copied, 0 to 160.
    pub index: u8,
    /// The processor's cycle counter at the next transfer.
    pub next: u64,
}

impl Dma {
    pub fn new() -> Self {
        Self {
            active: false,
            reading: false,
            source: 0,
            index: 0,
            next: 0,
        }
    }
}

impl Machine {
    /// FF46 is written.
    pub(crate) fn start_dma(&mut self, source: u8) {
        self.dma.active = true;
        self.dma.source = source;
        self.dma.index = 0;
        self.dma.next = self.cycles + 12;
    }

    /// Copies what is due.
    #[inline]
    pub(crate) fn tick_dma(&mut self) {
        while self.dma.active && self.cycles >= self.dma.next {
            let index = self.dma.index;
            let value = self.read(u16::from(self.dma.source) << 8 | u16::from(index));
            self.lcd.oam[usize::from(index)] = value;
            self.dma.index += 1;
            self.dma.next += 4;
            if self.dma.index == 160 {
                self.dma.active = false;
            }
        }
    }
}
