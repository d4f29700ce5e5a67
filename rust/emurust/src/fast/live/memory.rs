//! Reads and writes: of ROM and RAM here, of other places by [`Mmio`].

use super::{Done, Exit, Live, Pair, Register, value_of};
use crate::memory::mmio::{Mmio, hram_at, in_hram, wram_at};

impl<const KIND: u8, const MMIO: bool> Live<'_, '_, KIND, MMIO> {
    #[inline(always)]
    fn mmio<T>(&mut self, access: impl FnOnce(&mut Mmio) -> Option<T>) -> Result<T, Exit> {
        if !MMIO {
            return Err(Exit::Mmio);
        }
        access(&mut self.c.mmio).ok_or(Exit::Stop)
    }

    #[inline(always)]
    pub fn read(&mut self, addr: u16) -> Result<u8, Exit> {
        let c = &*self.c;
        Ok(if let Some(value) = c.wram.get(wram_at(addr)) {
            *value
        } else if addr < 0x4000 {
            c.lower[usize::from(addr)]
        } else if addr < 0x8000 {
            c.upper[usize::from(addr & 0x3FFF)]
        } else if let Some(value) = c.hram.get(hram_at(addr)) {
            *value
        } else {
            self.mmio(|mmio| mmio.read(addr))?
        })
    }

    #[inline(always)]
    pub fn write(&mut self, addr: u16, value: u8) -> Done {
        if let Some(place) = self.c.wram.get_mut(wram_at(addr)) {
            *place = value;
        } else if let Some(place) = self.c.hram.get_mut(hram_at(addr)) {
            *place = value;
        } else {
            self.mmio(|mmio| mmio.write(addr, value))?;
        }
        Ok(())
    }

    /// Refuses addresses in VRAM, OAM and registers, which can tell that an access is 4 cycles late.
    /// Three instructions are.
    #[inline(always)]
    pub fn not_late(&self, addr: u16) -> Done {
        if addr & 0xE000 == 0x8000 || addr >= 0xFE00 && !in_hram(addr) {
            return Err(Exit::Stop);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn load(&mut self, to: Register, addr: u16, length: usize, cycles: i64) -> Done {
        let value = self.read(addr)?;
        self.put(to, value, length, cycles);
        Ok(())
    }

    /// `load` from HL as a further instruction of a superop.
    #[inline(always)]
    pub fn load_more(&mut self, to: Register) -> Done {
        let c = &*self.c;
        let value = if let Some(value) = c.wram.get(wram_at(self.hl)) {
            *value
        } else if let Some(value) = c.hram.get(hram_at(self.hl)) {
            *value
        } else {
            return Err(Exit::Split);
        };
        self.put(to, value, 1, 8);
        Ok(())
    }

    /// Loads A from [HL], then moves HL.
    #[inline(always)]
    pub fn load_along(&mut self, step: i16) -> Done {
        self.load(Register::A, self.hl, 1, 8)?;
        self.hl = self.hl.wrapping_add_signed(step);
        Ok(())
    }

    #[inline(always)]
    pub fn store(&mut self, addr: u16, value: u8, length: usize, cycles: i64) -> Done {
        self.write(addr, value)?;
        self.next(length, cycles);
        Ok(())
    }

    /// Stores a register at [HL]. It is read only where it is written, which takes fewer of the
    /// host's registers.
    #[inline(always)]
    pub fn store_register(&mut self, from: Register) -> Done {
        if !self.store_in_ram(from) {
            let (addr, value) = (self.hl, self.get(from));
            self.mmio(|mmio| mmio.write(addr, value))?;
        }
        self.next(1, 8);
        Ok(())
    }

    /// Stores a register at [HL] if RAM is there.
    #[inline(always)]
    fn store_in_ram(&mut self, from: Register) -> bool {
        let c = &mut *self.c;
        if let Some(place) = c.wram.get_mut(wram_at(self.hl)) {
            *place = value_of(from, self.a, self.hl, c.bc, c.de);
        } else if let Some(place) = c.hram.get_mut(hram_at(self.hl)) {
            *place = value_of(from, self.a, self.hl, c.bc, c.de);
        } else {
            return false;
        }
        true
    }

    /// `store_register` as a further instruction of a superop.
    #[inline(always)]
    pub fn store_more(&mut self, from: Register) -> Done {
        if !self.store_in_ram(from) {
            return Err(Exit::Split);
        }
        self.next(1, 8);
        Ok(())
    }

    /// Stores A at [HL], then moves HL.
    #[inline(always)]
    pub fn store_along(&mut self, step: i16) -> Done {
        self.store(self.hl, self.a, 1, 8)?;
        self.hl = self.hl.wrapping_add_signed(step);
        Ok(())
    }

    /// [`store_along`](Self::store_along) as a further instruction of a superop.
    #[inline(always)]
    pub fn store_more_along(&mut self) -> Done {
        self.store_more(Register::A)?;
        self.hl = self.hl.wrapping_add(1);
        Ok(())
    }

    #[inline(always)]
    pub fn push_word(&mut self, value: u16) -> Done {
        let c = &mut *self.c;
        let (sp, bytes) = (c.sp.wrapping_sub(2), value.to_le_bytes());
        let wram = c.wram.get_mut(wram_at(sp)..);
        if let Some(place) = wram.and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
        } else {
            let hram = c.hram.get_mut(hram_at(sp)..);
            let Some(place) = hram.and_then(<[u8]>::first_chunk_mut) else {
                return Err(Exit::Stop);
            };
            *place = bytes;
        }
        c.sp = sp;
        Ok(())
    }

    #[inline(always)]
    pub fn pop_word(&mut self, otherwise: Exit) -> Result<u16, Exit> {
        let c = &mut *self.c;
        let first = <[u8]>::first_chunk;
        let place = if let Some(place) = c.wram.get(wram_at(c.sp)..).and_then(first) {
            place
        } else if let Some(place) = c.hram.get(hram_at(c.sp)..).and_then(first) {
            place
        } else {
            return Err(otherwise);
        };
        c.sp = c.sp.wrapping_add(2);
        Ok(u16::from_le_bytes(*place))
    }

    #[inline(always)]
    pub fn push(&mut self, pair: Pair) -> Done {
        self.push_word(self.get_pair(pair))?;
        self.next(1, 16);
        Ok(())
    }

    #[inline(always)]
    pub fn pop(&mut self, pair: Pair) -> Done {
        let value = self.pop_word(Exit::Stop)?;
        self.put_pair(pair, value, 1, 12);
        Ok(())
    }
}
