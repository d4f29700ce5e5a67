//! A ROM and its header.

use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::fast::decode::{Op, decode_bank};

/// Bytes of a ROM bank.
pub(crate) const BANK: usize = 0x4000;
/// Bytes of a RAM bank.
pub(crate) const RAM_BANK: usize = 0x2000;
/// Largest ROM: a saved state keeps 8 bits of the bank's number.
pub(crate) const MOST_BANKS: usize = 256;

/// Banks of a cartridge with several games, if all have the same 48 bytes at 0104.
const MULTICART_BANKS: usize = 64;

/// The chip that switches banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapperKind {
    /// None: 32 KB.
    None,
    /// MBC1, also wired for several games.
    Mbc1,
    /// MBC2, with RAM of half bytes.
    Mbc2,
    /// MBC3 without its clock.
    Mbc3,
    /// MBC5.
    Mbc5,
    /// MBC5 with a motor.
    Rumble,
}

/// A ROM that can be played, shared by all machines that play it.
#[derive(Debug)]
pub struct Cartridge {
    pub(crate) rom: Box<[u8]>,
    pub(crate) mapper: MapperKind,
    /// MBC1 wired for several games: the upper register counts 16 banks, not 32.
    pub(crate) multicart: bool,
    pub(crate) ram_size: usize,
    /// RAM without a mapper: it is enabled from the beginning, for good.
    pub(crate) ram_enabled: bool,
    /// Each bank's decoded code, once it has run.
    code: Box<[OnceLock<Box<[Op]>>]>,
}

impl Cartridge {
    /// Takes a ROM with a supported header.
    pub fn new(rom: Vec<u8>) -> Result<Arc<Self>, Error> {
        if rom.len() < 2 * BANK || !rom.len().is_multiple_of(BANK) {
            return Err(Error::RomSize(rom.len()));
        }
        let computed = rom[0x134..0x14D]
            .iter()
            .fold(0u8, |sum, byte| sum.wrapping_sub(byte.wrapping_add(1)));
        if rom[0x14D] != computed {
            return Err(Error::Checksum {
                stored: rom[0x14D],
                computed,
            });
        }
        let mapper = match rom[0x147] {
            0x00 | 0x08 | 0x09 => MapperKind::None,
            0x01..=0x03 => MapperKind::Mbc1,
            0x05 | 0x06 => MapperKind::Mbc2,
            0x11..=0x13 => MapperKind::Mbc3,
            0x19..=0x1B => MapperKind::Mbc5,
            0x1C..=0x1E => MapperKind::Rumble,
            kind @ (0x0F | 0x10) => return Err(Error::Clock(kind)),
            kind => return Err(Error::Kind(kind)),
        };
        // PyBoy gives every cartridge RAM, even one that says it has none.
        let ram_banks = match rom[0x149] {
            0..=2 => 1,
            3 => 4,
            4 => 16,
            5 => 8,
            code => return Err(Error::RamSize(code)),
        };
        let banks = rom.len() / BANK;
        if banks > MOST_BANKS {
            return Err(Error::Banks(banks));
        }
        let logo = |bank: &[u8]| bank[0x104..0x134] == rom[0x104..0x134];
        let multicart = mapper == MapperKind::Mbc1
            && banks == MULTICART_BANKS
            && rom.chunks_exact(BANK).all(logo);
        Ok(Arc::new(Self {
            multicart,
            code: (0..banks).map(|_| OnceLock::new()).collect(),
            ram_enabled: matches!(rom[0x147], 0x08 | 0x09),
            rom: rom.into_boxed_slice(),
            mapper,
            ram_size: ram_banks * RAM_BANK,
        }))
    }

    /// The bank that begins at `place` in the ROM, decoded.
    #[inline]
    pub(crate) fn code(&self, place: usize) -> &[Op] {
        self.code[place / BANK].get_or_init(|| decode_bank(&self.rom[place..]))
    }

    /// Number of ROM banks.
    pub(crate) fn banks(&self) -> usize {
        self.rom.len() / BANK
    }

    /// Bytes of RAM in all banks.
    pub fn ram_size(&self) -> usize {
        self.ram_size
    }
}
