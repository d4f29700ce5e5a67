//! The instructions C0 to FF: jumps, calls, the stack, far loads, the interrupt switch.

use crate::cpu::registers::{C, Z};
use crate::machine::Machine;

impl Machine {
    #[inline(always)]
    pub(crate) fn last_quarter(&mut self, code: u8) {
        match code {
            0xC0 | 0xC8 | 0xD0 | 0xD8 => {
                if self.condition(code) {
                    self.cycles += 8;
                    self.return_from_call();
                } else {
                    self.cycles += 8;
                }
            }
            0xC1 => {
                let value = self.pop();
                self.registers.set_bc(value);
            }
            0xD1 => {
                let value = self.pop();
                self.registers.set_de(value);
            }
            0xE1 => {
                let low = self.pop_low();
                // HL matters to OAM DMA's progress by the second read: PyBoy holds only its lower byte at that
                // moment.
                self.registers.hl = low.into();
                self.registers.hl = u16::from_be_bytes([self.pop_high(), low]);
            }
            0xF1 => {
                let [f, a] = self.pop().to_le_bytes();
                self.registers.a = a;
                self.registers.f = f & 0xF0;
            }
            0xC2 | 0xCA | 0xD2 | 0xDA => self.jump_if(self.condition(code)),
            0xC3 => self.jump_if(true),
            0xC4 | 0xCC | 0xD4 | 0xDC => self.call_if(self.condition(code)),
            0xCD => self.call_if(true),
            0xC5 => self.push_instruction(self.registers.bc()),
            0xD5 => self.push_instruction(self.registers.de()),
            0xE5 => self.push_instruction(self.registers.hl),
            0xF5 => self.push_instruction(u16::from_be_bytes([self.registers.a, self.registers.f])),
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
                let value = self.immediate();
                self.calculate(code, value);
                self.cycles += 8;
            }
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.push_instruction(self.registers.pc);
                self.registers.pc = u16::from(code & 0x38);
            }
            0xC9 => {
                self.cycles += 4;
                self.return_from_call();
            }
            0xD9 => self.return_and_enable(),
            0xCB => self.prefixed(),
            0xE0 => {
                let addr = 0xFF00 | u16::from(self.immediate());
                self.cycles += 4;
                self.store_byte(addr, self.registers.a);
            }
            0xF0 => {
                let addr = 0xFF00 | u16::from(self.immediate());
                self.cycles += 4;
                self.registers.a = self.load_byte(addr);
            }
            0xE2 => self.store_byte(0xFF00 | u16::from(self.registers.c), self.registers.a),
            0xF2 => self.registers.a = self.load_byte(0xFF00 | u16::from(self.registers.c)),
            0xE8 => {
                let value = self.immediate();
                self.registers.sp = self.registers.sp_plus(value);
                self.cycles += 16;
            }
            0xF8 => {
                let value = self.immediate();
                self.registers.hl = self.registers.sp_plus(value);
                self.cycles += 12;
            }
            0xE9 => {
                self.registers.pc = self.registers.hl;
                self.cycles += 4;
            }
            0xF9 => {
                self.registers.sp = self.registers.hl;
                self.cycles += 8;
            }
            0xEA => {
                let addr = self.immediate_word();
                self.cycles += 8;
                self.store_byte(addr, self.registers.a);
            }
            0xFA => {
                let addr = self.immediate_word();
                self.cycles += 8;
                self.registers.a = self.load_byte(addr);
            }
            0xF3 => self.disable_interrupts(),
            0xFB => self.enable_interrupts(),
            // Not an instruction: the processor locks up. PyBoy never ends that frame; here it ends.
            _ => {
                self.registers.pc = self.registers.pc.wrapping_sub(1);
                self.cycles += 4;
            }
        }
    }

    /// The condition that bits 3 and 4 of an opcode name.
    #[inline(always)]
    fn condition(&self, code: u8) -> bool {
        match code >> 3 & 3 {
            0 => !self.registers.flag(Z),
            1 => self.registers.flag(Z),
            2 => !self.registers.flag(C),
            _ => self.registers.flag(C),
        }
    }

    #[inline(always)]
    fn jump_if(&mut self, taken: bool) {
        let target = self.immediate_word();
        self.cycles += 12;
        if taken {
            self.registers.pc = target;
            self.cycles += 4;
        }
    }

    #[inline(always)]
    fn call_if(&mut self, taken: bool) {
        let target = self.immediate_word();
        if taken {
            self.cycles += 8;
            self.push_instruction(self.registers.pc);
            self.registers.pc = target;
        } else {
            self.cycles += 12;
        }
    }

    /// 16 cycles; the bytes are written 8 and 12 cycles into them.
    #[inline(always)]
    fn push_instruction(&mut self, value: u16) {
        let [low, high] = value.to_le_bytes();
        self.cycles += 8;
        self.push_byte(high);
        self.cycles += 4;
        self.push_byte(low);
        self.cycles += 4;
    }

    #[inline(always)]
    pub(crate) fn push_byte(&mut self, value: u8) {
        self.registers.sp = self.registers.sp.wrapping_sub(1);
        self.write(self.registers.sp, value);
    }

    /// 12 cycles; the bytes are read 0 and 4 cycles into them.
    #[inline(always)]
    fn pop(&mut self) -> u16 {
        let low = self.pop_low();
        u16::from_be_bytes([self.pop_high(), low])
    }

    #[inline(always)]
    fn pop_low(&mut self) -> u8 {
        self.read(self.registers.sp)
    }

    #[inline(always)]
    fn pop_high(&mut self) -> u8 {
        self.cycles += 4;
        let high = self.read(self.registers.sp.wrapping_add(1));
        self.registers.sp = self.registers.sp.wrapping_add(2);
        self.cycles += 8;
        high
    }

    /// 12 cycles.
    #[inline(always)]
    pub(crate) fn return_from_call(&mut self) {
        self.registers.pc = self.pop();
    }
}
