//! One instruction: fetch, dispatch, and the instructions that are not regular.
//!
//! PyBoy counts some of an instruction's cycles before it touches memory and the rest after. Only
//! units with a clock (timer, PPU, DMA) can tell, and only there does it matter how the cycles are
//! split. Each arm adds the cycles before the access, accesses, and adds the rest.

use crate::cpu::registers::{C, H, N, Z};
use crate::machine::Machine;

impl Machine {
    /// Runs one instruction.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        let code = self.fetch();
        match code {
            0x00 => self.cycles += 4,
            0x01 => {
                let value = self.immediate_word();
                self.registers.set_bc(value);
                self.cycles += 12;
            }
            0x02 => self.store_byte(self.registers.bc(), self.registers.a),
            0x03 => {
                let value = self.registers.bc().wrapping_add(1);
                self.registers.set_bc(value);
                self.cycles += 8;
            }
            0x04 => {
                self.registers.b = self.registers.inc(self.registers.b);
                self.cycles += 4;
            }
            0x05 => {
                self.registers.b = self.registers.dec(self.registers.b);
                self.cycles += 4;
            }
            0x06 => {
                self.registers.b = self.immediate();
                self.cycles += 8;
            }
            0x07 => {
                self.registers.a = self.registers.rlc(self.registers.a);
                self.registers.f &= C;
                self.cycles += 4;
            }
            0x08 => {
                let addr = self.immediate_word();
                let [low, high] = self.registers.sp.to_le_bytes();
                self.write(addr, low);
                self.write(addr.wrapping_add(1), high);
                self.cycles += 20;
            }
            0x09 => {
                self.registers.add_hl(self.registers.bc());
                self.cycles += 8;
            }
            0x0A => self.registers.a = self.load_byte(self.registers.bc()),
            0x0B => {
                let value = self.registers.bc().wrapping_sub(1);
                self.registers.set_bc(value);
                self.cycles += 8;
            }
            0x0C => {
                self.registers.c = self.registers.inc(self.registers.c);
                self.cycles += 4;
            }
            0x0D => {
                self.registers.c = self.registers.dec(self.registers.c);
                self.cycles += 4;
            }
            0x0E => {
                self.registers.c = self.immediate();
                self.cycles += 8;
            }
            0x0F => {
                self.registers.a = self.registers.rrc(self.registers.a);
                self.registers.f &= C;
                self.cycles += 4;
            }
            0x10 => {
                // STOP only reads its second byte, like any operand.
                let _ = self.immediate();
                self.cycles += 4;
            }
            0x11 => {
                let value = self.immediate_word();
                self.registers.set_de(value);
                self.cycles += 12;
            }
            0x12 => {
                self.write_at(self.registers.de(), self.registers.a, 4);
                self.cycles += 8;
            }
            0x13 => {
                let value = self.registers.de().wrapping_add(1);
                self.registers.set_de(value);
                self.cycles += 8;
            }
            0x14 => {
                self.registers.d = self.registers.inc(self.registers.d);
                self.cycles += 4;
            }
            0x15 => {
                self.registers.d = self.registers.dec(self.registers.d);
                self.cycles += 4;
            }
            0x16 => {
                self.registers.d = self.immediate();
                self.cycles += 8;
            }
            0x17 => {
                self.registers.a = self.registers.rl(self.registers.a);
                self.registers.f &= C;
                self.cycles += 4;
            }
            0x18 => self.relative_if(true),
            0x19 => {
                self.registers.add_hl(self.registers.de());
                self.cycles += 8;
            }
            0x1A => {
                self.registers.a = self.read_at(self.registers.de(), 4);
                self.cycles += 8;
            }
            0x1B => {
                let value = self.registers.de().wrapping_sub(1);
                self.registers.set_de(value);
                self.cycles += 8;
            }
            0x1C => {
                self.registers.e = self.registers.inc(self.registers.e);
                self.cycles += 4;
            }
            0x1D => {
                self.registers.e = self.registers.dec(self.registers.e);
                self.cycles += 4;
            }
            0x1E => {
                self.registers.e = self.immediate();
                self.cycles += 8;
            }
            0x1F => {
                self.registers.a = self.registers.rr(self.registers.a);
                self.registers.f &= C;
                self.cycles += 4;
            }
            0x20 => self.relative_if(!self.registers.flag(Z)),
            0x21 => {
                self.registers.hl = self.immediate_word();
                self.cycles += 12;
            }
            0x22 => {
                self.store_byte(self.registers.hl, self.registers.a);
                self.registers.hl = self.registers.hl.wrapping_add(1);
            }
            0x23 => {
                self.registers.hl = self.registers.hl.wrapping_add(1);
                self.cycles += 8;
            }
            0x24 => {
                let value = self.registers.inc(self.registers.h());
                self.registers.set_h(value);
                self.cycles += 4;
            }
            0x25 => {
                let value = self.registers.dec(self.registers.h());
                self.registers.set_h(value);
                self.cycles += 4;
            }
            0x26 => {
                let value = self.immediate();
                self.registers.set_h(value);
                self.cycles += 8;
            }
            0x27 => {
                self.registers.daa();
                self.cycles += 4;
            }
            0x28 => self.relative_if(self.registers.flag(Z)),
            0x29 => {
                self.registers.add_hl(self.registers.hl);
                self.cycles += 8;
            }
            0x2A => {
                self.registers.a = self.load_byte(self.registers.hl);
                self.registers.hl = self.registers.hl.wrapping_add(1);
            }
            0x2B => {
                self.registers.hl = self.registers.hl.wrapping_sub(1);
                self.cycles += 8;
            }
            0x2C => {
                let value = self.registers.inc(self.registers.l());
                self.registers.set_l(value);
                self.cycles += 4;
            }
            0x2D => {
                let value = self.registers.dec(self.registers.l());
                self.registers.set_l(value);
                self.cycles += 4;
            }
            0x2E => {
                let value = self.immediate();
                self.registers.set_l(value);
                self.cycles += 8;
            }
            0x2F => {
                self.registers.a = !self.registers.a;
                self.registers.f |= N | H;
                self.cycles += 4;
            }
            0x30 => self.relative_if(!self.registers.flag(C)),
            0x31 => {
                self.registers.sp = self.immediate_word();
                self.cycles += 12;
            }
            0x32 => {
                self.store_byte(self.registers.hl, self.registers.a);
                self.registers.hl = self.registers.hl.wrapping_sub(1);
            }
            0x33 => {
                self.registers.sp = self.registers.sp.wrapping_add(1);
                self.cycles += 8;
            }
            0x34 | 0x35 => {
                let value = self.read(self.registers.hl);
                self.cycles += 4;
                let result = if code == 0x34 {
                    self.registers.inc(value)
                } else {
                    self.registers.dec(value)
                };
                self.write(self.registers.hl, result);
                self.cycles += 8;
            }
            0x36 => {
                let value = self.immediate();
                self.cycles += 4;
                self.write(self.registers.hl, value);
                self.cycles += 8;
            }
            0x37 => {
                self.registers.f = self.registers.f & Z | C;
                self.cycles += 4;
            }
            0x38 => self.relative_if(self.registers.flag(C)),
            0x39 => {
                self.registers.add_hl(self.registers.sp);
                self.cycles += 8;
            }
            0x3A => {
                self.registers.a = self.load_byte(self.registers.hl);
                self.registers.hl = self.registers.hl.wrapping_sub(1);
            }
            0x3B => {
                self.registers.sp = self.registers.sp.wrapping_sub(1);
                self.cycles += 8;
            }
            0x3C => {
                self.registers.a = self.registers.inc(self.registers.a);
                self.cycles += 4;
            }
            0x3D => {
                self.registers.a = self.registers.dec(self.registers.a);
                self.cycles += 4;
            }
            0x3E => {
                self.registers.a = self.immediate();
                self.cycles += 8;
            }
            0x3F => {
                self.registers.f = self.registers.f & (Z | C) ^ C;
                self.cycles += 4;
            }
            0x76 => self.halt(),
            0x40..=0x7F => self.move_byte(code),
            0x80..=0xBF => self.operate(code),
            0xC0..=0xFF => self.last_quarter(code),
        }
    }

    /// `jr`: 12 cycles if it jumps, else 8.
    #[inline(always)]
    fn relative_if(&mut self, taken: bool) {
        let away = self.immediate() as i8;
        self.cycles += 8;
        if taken {
            self.registers.pc = self.registers.pc.wrapping_add_signed(i16::from(away));
            self.cycles += 4;
        }
    }

    /// Reads memory at the very beginning of an instruction of 8 cycles.
    #[inline(always)]
    pub(crate) fn load_byte(&mut self, addr: u16) -> u8 {
        let value = self.read(addr);
        self.cycles += 8;
        value
    }

    /// Writes memory at the very beginning of an instruction of 8 cycles.
    #[inline(always)]
    pub(crate) fn store_byte(&mut self, addr: u16, value: u8) {
        self.write(addr, value);
        self.cycles += 8;
    }
}
