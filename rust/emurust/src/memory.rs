//! The address space: ROM and RAM of the cartridge, the console's memory, OAM DMA.

mod bus;
pub(crate) mod cartridge;
pub(crate) mod dma;
pub(crate) mod mapper;
pub(crate) mod mmio;
