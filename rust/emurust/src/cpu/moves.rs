//! The instructions 40 to BF: moves between registers, and arithmetic on A.

use crate::machine::Machine;

impl Machine {
    /// 40 to 7F but 76: `ld r, r`, `ld r, [hl]`, `ld [hl], r`.
    #[inline(always)]
    pub(crate) fn move_byte(&mut self, code: u8) {
        let r = &self.registers;
        let value = match code & 7 {
            0 => r.b,
            1 => r.c,
            2 => r.d,
            3 => r.e,
            4 => r.h(),
            5 => r.l(),
            // Of all reads of [HL] only this one is 4 cycles late, see the bus.
            6 if code == 0x7E => {
                let value = self.read_at(r.hl, 4);
                self.cycles += 4;
                value
            }
            6 => {
                let value = self.read(r.hl);
                self.cycles += 4;
                value
            }
            _ => r.a,
        };
        let r = &mut self.registers;
        match code >> 3 & 7 {
            0 => r.b = value,
            1 => r.c = value,
            2 => r.d = value,
            3 => r.e = value,
            4 => r.set_h(value),
            5 => r.set_l(value),
            6 => {
                self.store_byte(self.registers.hl, value);
                return;
            }
            _ => r.a = value,
        }
        self.cycles += 4;
    }

    /// 80 to BF: eight operations with A and a register or [HL].
    #[inline(always)]
    pub(crate) fn operate(&mut self, code: u8) {
        let r = &self.registers;
        let value = match code & 7 {
            0 => r.b,
            1 => r.c,
            2 => r.d,
            3 => r.e,
            4 => r.h(),
            5 => r.l(),
            6 => {
                let value = self.read(r.hl);
                self.cycles += 4;
                value
            }
            _ => r.a,
        };
        self.calculate(code, value);
        self.cycles += 4;
    }

    /// The operation that bits 3 to 5 of the opcode name.
    #[inline(always)]
    pub(crate) fn calculate(&mut self, code: u8, value: u8) {
        let r = &mut self.registers;
        match code >> 3 & 7 {
            0 => r.add(value),
            1 => r.adc(value),
            2 => r.sub(value),
            3 => r.sbc(value),
            4 => r.and(value),
            5 => r.xor(value),
            6 => r.or(value),
            _ => r.cp(value),
        }
    }
}
