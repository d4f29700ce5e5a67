//! OAM DMA: copies 160 bytes into the sprite table, one in 4 cycles.

use crate::machine::Machine;

/// OAM DMA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dma {
    /// True from the write to FF46 on.
    pub active: bool,
    /// True only inside a transfer.
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
    /// Writes FF46. A transfer under way starts over, sooner if it had copied nothing.
    pub(crate) fn start_dma(&mut self, source: u8) {
        let early = self.dma.active && self.dma.index == 0;
        self.dma.active = true;
        self.dma.source = source;
        self.dma.index = 0;
        self.dma.start = self.cycles + if early { 8 } else { 12 };
    }

    /// Whether OAM reads FF. Writes are lost from the write to FF46 on.
    pub(crate) fn oam_is_hidden(&self, offset: u64) -> bool {
        self.dma.active && self.cycles + offset >= self.dma.start
    }

    /// Copies the bytes that are due `offset` cycles after the processor's counter: at a slice's end, and
    /// before the processor touches OAM or FF46. The source is read then, not cycle by cycle.
    #[inline]
    pub(crate) fn tick_dma(&mut self, offset: u64) {
        self.tick_dma_ahead(offset, offset);
    }

    /// Copies the bytes that are due `ahead` cycles after the processor's counter, read with this offset.
    #[inline]
    pub(crate) fn tick_dma_ahead(&mut self, ahead: u64, offset: u64) {
        if self.dma.active {
            self.copy_due(self.cycles + ahead, offset);
        }
    }

    fn copy_due(&mut self, now: u64, offset: u64) {
        let due = (now.saturating_sub(self.dma.start) / 4).min(160) as usize;
        // The echo of WRAM goes on to the very end.
        let source = match self.dma.source {
            0xE0.. => self.dma.source - 0x20,
            below => below,
        };
        let index = usize::from(self.dma.index);
        if index >= due {
            return;
        }
        if source >= 0xC0 {
            let page = usize::from(source & 0x1F) << 8;
            self.ppu.oam[index..due].copy_from_slice(&self.wram[page + index..page + due]);
        } else {
            for index in index..due {
                self.ppu.oam[index] =
                    self.read_at(u16::from_be_bytes([source, index as u8]), offset);
            }
        }
        self.dma.index = due as u8;
        if self.dma.index == 160 {
            self.dma.active = false;
        }
    }
}
