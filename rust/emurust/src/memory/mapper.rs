//! Bank switching: writes to the ROM's addresses, and the cartridge's RAM.

use crate::machine::Machine;
use crate::memory::cartridge::{BANK, Cartridge, MapperKind, RAM_BANK};

/// The registers of the mapper. Registers that a kind does not have stay 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapper {
    /// Bank at 4000.
    pub rom_bank: usize,
    /// Bank at A000.
    pub ram_bank: usize,
    pub ram_enabled: bool,
    /// MBC1's register at 6000.
    pub banking_mode: bool,
    /// MBC1's register at 2000, 5 bits.
    pub bank_low: u8,
    /// MBC1's register at 4000, 2 bits.
    pub bank_high: u8,
    /// Rumble: the register at 4000, zero except for its bit 3.
    pub motor: u8,
}

impl Mapper {
    pub fn new(cartridge: &Cartridge) -> Self {
        Self {
            rom_bank: 1,
            ram_bank: 0,
            ram_enabled: cartridge.ram_enabled,
            banking_mode: false,
            bank_low: u8::from(cartridge.mapper == MapperKind::Mbc1),
            bank_high: 0,
            motor: 0,
        }
    }
}

impl Machine {
    /// Writes one of 0000 to 7FFF.
    pub(crate) fn write_mapper(&mut self, addr: u16, value: u8) {
        let banks = self.cartridge.banks();
        let ram_banks = self.cartridge.ram_size / RAM_BANK;
        let mapper = &mut self.mapper;
        match self.cartridge.mapper {
            // Even without a mapper PyBoy switches between banks 0 and 1.
            MapperKind::None => {
                if addr >> 13 == 1 {
                    mapper.rom_bank = usize::from(value.max(1) & 1);
                }
            }
            MapperKind::Mbc1 => {
                match addr >> 13 {
                    0 => mapper.ram_enabled = value & 15 == 10,
                    1 => mapper.bank_low = (value & 31).max(1),
                    2 => mapper.bank_high = value & 3,
                    _ => mapper.banking_mode = value & 1 == 1,
                }
                let low = mapper.bank_low;
                mapper.rom_bank = match self.cartridge.multicart {
                    // Its games have 16 banks each; a 16 is not turned into the 0 that becomes 1.
                    true => usize::from(mapper.bank_high << 4 | low & 15),
                    false => usize::from(mapper.bank_high << 5 | low) % banks,
                };
            }
            MapperKind::Mbc2 => {
                if addr < 0x4000 {
                    if addr & 0x100 == 0 {
                        mapper.ram_enabled = value & 15 == 10;
                    } else {
                        mapper.rom_bank = usize::from(value & 15).max(1) % banks;
                    }
                }
            }
            MapperKind::Mbc3 => match addr >> 13 {
                0 => mapper.ram_enabled = value & 15 == 10,
                1 => {
                    // The larger MBC30 differs from MBC3 only in its size.
                    let bank = if banks > 128 || ram_banks > 4 {
                        value
                    } else {
                        value & 127
                    };
                    mapper.rom_bank = usize::from(bank.max(1)) % banks;
                }
                2 => {
                    mapper.ram_bank = match value {
                        // A register of the clock.
                        8..=12 => value.into(),
                        _ => usize::from(value & 15) % ram_banks,
                    };
                }
                _ => {}
            },
            MapperKind::Mbc5 | MapperKind::Rumble => match addr >> 12 {
                0 | 1 => mapper.ram_enabled = value == 10,
                2 => mapper.rom_bank = (mapper.rom_bank & 0x100 | usize::from(value)) % banks,
                3 => {
                    mapper.rom_bank =
                        (mapper.rom_bank & 0xFF | usize::from(value & 1) << 8) % banks;
                }
                4 | 5 => {
                    mapper.ram_bank = usize::from(value & 15) % ram_banks;
                    if self.cartridge.mapper == MapperKind::Rumble {
                        mapper.motor = value & 8;
                    }
                }
                _ => {}
            },
        }
        self.map_banks();
    }

    /// Computes the places of the banks from the mapper's registers.
    pub(crate) fn map_banks(&mut self) {
        let mapper = &self.mapper;
        self.upper_rom = mapper.rom_bank * BANK;
        self.lower_rom = if mapper.banking_mode {
            let shift = if self.cartridge.multicart { 4 } else { 5 };
            (usize::from(mapper.bank_high) << shift) % self.cartridge.banks() * BANK
        } else {
            0
        };
    }

    /// Reads one of A000 to BFFF.
    pub(crate) fn read_cartridge_ram(&mut self, addr: u16) -> u8 {
        if !self.mapper.ram_enabled {
            return 0xFF;
        }
        let place = self.ram_place(addr);
        // A read cuts MBC1's bank to the RAM's size; a write does not.
        self.mapper.ram_bank %= match self.cartridge.mapper {
            MapperKind::Mbc1 => self.cartridge.ram_size / RAM_BANK,
            _ => usize::MAX,
        };
        match place {
            // Its RAM has half bytes.
            Some(place) if self.cartridge.mapper == MapperKind::Mbc2 => {
                self.cartridge_ram[place] | 0xF0
            }
            Some(place) => self.cartridge_ram[place],
            None => 0,
        }
    }

    /// Writes one of A000 to BFFF.
    pub(crate) fn write_cartridge_ram(&mut self, addr: u16, value: u8) {
        // A cartridge that claims neither mapper nor RAM has RAM that never reads, but PyBoy lets it be
        // written.
        if !self.mapper.ram_enabled && self.cartridge.mapper != MapperKind::None {
            return;
        }
        if let Some(place) = self.ram_place(addr) {
            self.cartridge_ram[place] = match self.cartridge.mapper {
                MapperKind::Mbc2 => value | 0xF0,
                _ => value,
            };
        }
    }

    /// The place of an address of A000 to BFFF in the RAM; None for a clock's register, which the
    /// cartridge lacks.
    fn ram_place(&mut self, addr: u16) -> Option<usize> {
        let mapper = &mut self.mapper;
        let offset = usize::from(addr & 0x1FFF);
        match self.cartridge.mapper {
            MapperKind::Mbc1 => {
                mapper.ram_bank = if mapper.banking_mode {
                    mapper.bank_high.into()
                } else {
                    0
                };
                let bank = mapper.ram_bank % (self.cartridge.ram_size / RAM_BANK);
                Some(bank * RAM_BANK + offset)
            }
            // 512 half bytes.
            MapperKind::Mbc2 => Some(offset & 0x1FF),
            MapperKind::Mbc3 if mapper.ram_bank >= 8 => None,
            _ => Some(mapper.ram_bank * RAM_BANK + offset),
        }
    }
}
