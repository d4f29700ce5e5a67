//! The 256 instructions behind the prefix CB.

use crate::machine::Machine;

impl Machine {
    /// Runs the instruction behind a prefix that was already fetched.
    #[inline]
    pub(crate) fn prefixed(&mut self) {
        let code = self.immediate();
        if code & 7 == 6 {
            self.prefixed_memory(code);
            return;
        }
        let r = &mut self.registers;
        let value = match code & 7 {
            0 => r.b,
            1 => r.c,
            2 => r.d,
            3 => r.e,
            4 => r.h(),
            5 => r.l(),
            _ => r.a,
        };
        self.cycles += 8;
        let Some(result) = self.operation(code, value) else {
            return;
        };
        let r = &mut self.registers;
        match code & 7 {
            0 => r.b = result,
            1 => r.c = result,
            2 => r.d = result,
            3 => r.e = result,
            4 => r.set_h(result),
            5 => r.set_l(result),
            _ => r.a = result,
        }
    }

    /// The operand is [HL]: read 4 cycles into the instruction, written back 8 cycles into it.
    fn prefixed_memory(&mut self, code: u8) {
        self.cycles += 4;
        let value = self.read(self.registers.hl);
        self.cycles += 4;
        if let Some(result) = self.operation(code, value) {
            self.write(self.registers.hl, result);
            self.cycles += 4;
        }
        self.cycles += 4;
    }

    /// The operand's new value; None if the operation only looks at it.
    #[inline(always)]
    fn operation(&mut self, code: u8, value: u8) -> Option<u8> {
        let r = &mut self.registers;
        let mask = 1 << (code >> 3 & 7);
        Some(match code >> 3 {
            0 => r.rlc(value),
            1 => r.rrc(value),
            2 => r.rl(value),
            3 => r.rr(value),
            4 => r.sla(value),
            5 => r.sra(value),
            6 => r.swap(value),
            7 => r.srl(value),
            8..=15 => {
                r.bit(value, mask);
                return None;
            }
            16..=23 => value & !mask,
            _ => value | mask,
        })
    }
}
