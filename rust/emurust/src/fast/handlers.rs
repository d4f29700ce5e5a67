//! What each op of a [`crate::fast::block`] does: all plain instructions, and superops.
//!
//! There is one function for each, made from a `match` on a constant; it ends in a call of the next
//! op's ([`crate::fast::threaded`]), with the most needed values in the host's registers.

use crate::cpu::lazy_flags::LazyFlags;
use crate::fast::block::Context;
use crate::fast::decode::{Op, rest};
use crate::fast::live::Pair::{AF, BC, DE, HL, SP};
use crate::fast::live::Register::{A, B, C, D, E, H, L};
use crate::fast::live::{Done, Exit, Live, Register};
use crate::fast::threaded::{finish, next_op};

/// Does the op and goes on. `a` and `hl` are registers; `at` and `left` as in [`Live`].
#[inline(never)]
pub(crate) fn handler<const KIND: u8, const CODE: u32, const MMIO: bool>(
    c: &mut Context,
    at: usize,
    left: i64,
    a: u8,
    hl: u16,
    op: Op,
) {
    let word = (op >> 16) as u16;
    let mut live = Live::<KIND, MMIO> {
        c,
        at,
        left,
        a,
        hl,
        word,
    };
    let done = live.op::<CODE>();
    let Live {
        c, at, left, a, hl, ..
    } = live;
    match done {
        Ok(()) => next_op::<KIND>(c, at, left, a, hl),
        Err(Exit::Split) => split::<KIND>(c, at, left, a, hl),
        Err(Exit::Mmio) => handler::<KIND, CODE, true>(c, at, left, a, hl, op),
        Err(Exit::Stop) => finish(c, at, left + rest(op), a, hl),
    }
}

/// Goes on within a superop. Apart, so that the way without a split stays short.
#[inline(never)]
fn split<const KIND: u8>(c: &mut Context, at: usize, left: i64, a: u8, hl: u16) {
    next_op::<KIND>(c, at, left, a, hl);
}

/// The register that the lowest bits of an opcode name; 6 would be [HL].
const fn register(code: u32) -> Register {
    match code & 7 {
        0 => B,
        1 => C,
        2 => D,
        3 => E,
        4 => H,
        5 => L,
        _ => A,
    }
}

impl<const KIND: u8, const MMIO: bool> Live<'_, '_, KIND, MMIO> {
    /// Does what the op with this kind does. Each arm looks first whether it can, and changes
    /// registers only then.
    #[rustfmt::skip]
    #[inline(always)]
    fn op<const CODE: u32>(&mut self) -> Done {
        let (low, high, word) = (self.low(), self.high(), self.word);
        match CODE {
            0x00 => self.next(1, 4),
            0x01 => self.put_pair(BC, word, 3, 12),
            0x11 => self.put_pair(DE, word, 3, 12),
            0x21 => self.put_pair(HL, word, 3, 12),
            0x31 => self.put_pair(SP, word, 3, 12),
            0x02 => self.store(self.c.bc, self.a, 1, 8)?,
            0x12 => { self.not_late(self.c.de)?; self.store(self.c.de, self.a, 1, 8)? }
            0x22 => self.store_along(1)?,
            0x32 => self.store_along(-1)?,
            0x0A => self.load(A, self.c.bc, 1, 8)?,
            0x1A => { self.not_late(self.c.de)?; self.load(A, self.c.de, 1, 8)? }
            0x2A => self.load_along(1)?,
            0x3A => self.load_along(-1)?,
            0x03 => self.count_pair(BC, 1),
            0x13 => self.count_pair(DE, 1),
            0x23 => self.count_pair(HL, 1),
            0x33 => self.count_pair(SP, 1),
            0x0B => self.count_pair(BC, -1),
            0x1B => self.count_pair(DE, -1),
            0x2B => self.count_pair(HL, -1),
            0x3B => self.count_pair(SP, -1),
            0x09 => self.add_hl(BC),
            0x19 => self.add_hl(DE),
            0x29 => self.add_hl(HL),
            0x39 => self.add_hl(SP),
            0x34 => self.count_memory(LazyFlags::inc)?,
            0x35 => self.count_memory(LazyFlags::dec)?,
            0x36 => self.store(self.hl, low, 2, 12)?,
            0x04 | 0x0C | 0x14 | 0x1C | 0x24 | 0x2C | 0x3C => self.count(register(CODE >> 3), LazyFlags::inc),
            0x25 | 0x2D => self.count(register(CODE >> 3), LazyFlags::dec),
            0x05 | 0x0D | 0x15 | 0x1D | 0x3D => self.count_down(register(CODE >> 3)),
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x3E => self.put(register(CODE >> 3), low, 2, 8),
            0x07 => self.rotate(LazyFlags::rlc),
            0x0F => self.rotate(LazyFlags::rrc),
            0x17 => self.rotate(LazyFlags::rl),
            0x1F => self.rotate(LazyFlags::rr),
            0x18 => self.relative_always(low, 0),
            0x20 | 0x28 | 0x30 | 0x38 => self.relative(low, self.condition(CODE)),
            0x27 => { self.a = self.c.flags.daa(self.a); self.next(1, 4) }
            0x2F => { self.a = self.c.flags.cpl(self.a); self.next(1, 4) }
            0x37 => { self.c.flags.set_carry(true); self.next(1, 4) }
            0x3F => { self.c.flags.set_carry(!self.c.flags.c()); self.next(1, 4) }
            0x76 => return Err(Exit::Stop),
            0x7E => { self.not_late(self.hl)?; self.load(A, self.hl, 1, 8)? }
            0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E => self.load(register(CODE >> 3), self.hl, 1, 8)?,
            0x70..0x78 => self.store_register(register(CODE))?,
            0x40..0x80 => self.copy(register(CODE >> 3), register(CODE)),
            0x86 | 0x8E | 0x96 | 0x9E | 0xA6 | 0xAE | 0xB6 | 0xBE => {
                let value = self.read(self.hl)?;
                self.calculate(CODE, value, 1, 8);
            }
            0x80..0xC0 => self.calculate(CODE, self.get(register(CODE)), 1, 4),
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => self.calculate(CODE, low, 2, 8),
            0xC0 | 0xC8 | 0xD0 | 0xD8 => self.return_if(self.condition(CODE))?,
            0xC2 | 0xCA | 0xD2 | 0xDA => self.jump(self.condition(CODE)),
            0xC4 | 0xCC | 0xD4 | 0xDC => self.call(self.condition(CODE))?,
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => self.restart(CODE as u16 & 0x38)?,
            0xC3 => self.jump_always(word, 16),
            0xE9 => self.jump_always(self.hl, 4),
            0xC9 => self.return_always()?,
            0xD9 => self.return_enabling()?,
            0xCD => self.call_always(0)?,
            0xC1 => self.pop(BC)?,
            0xD1 => self.pop(DE)?,
            0xE1 => self.pop(HL)?,
            0xF1 => self.pop(AF)?,
            0xC5 => self.push(BC)?,
            0xD5 => self.push(DE)?,
            0xE5 => self.push(HL)?,
            0xF5 => self.push(AF)?,
            0xE0 => self.store(0xFF00 | u16::from(low), self.a, 2, 12)?,
            0xE2 => self.store(0xFF00 | u16::from(self.get(C)), self.a, 1, 8)?,
            0xEA => self.store(word, self.a, 3, 16)?,
            0xF0 => self.load(A, 0xFF00 | u16::from(low), 2, 12)?,
            0xF2 => self.load(A, 0xFF00 | u16::from(self.get(C)), 1, 8)?,
            0xFA => self.load(A, word, 3, 16)?,
            0xE8 => { let sp = self.c.flags.sp_plus(self.c.sp, low); self.put_pair(SP, sp, 2, 16) }
            0xF8 => { let sp = self.c.flags.sp_plus(self.c.sp, low); self.put_pair(HL, sp, 2, 12) }
            0xF9 => self.put_pair(SP, self.hl, 1, 8),

            // Behind CB.
            0x100..0x140 if CODE & 7 != 6 => self.shift(CODE, register(CODE)),
            0x146 => { let value = self.read(self.hl)?; self.c.flags.bit(value, low); self.next(2, 12) }
            0x14E | 0x156 => {
                if self.hl < 0x8000 { return Err(Exit::Stop) }
                let value = self.read(self.hl)?;
                self.store(self.hl, if CODE == 0x14E { value & !low } else { value | low }, 2, 16)?;
            }
            0x140..0x148 => { let value = self.get(register(CODE)); self.c.flags.bit(value, low); self.next(2, 8) }
            0x148..0x150 => self.put(register(CODE), self.get(register(CODE)) & !low, 2, 8),
            0x150..0x158 => self.put(register(CODE), self.get(register(CODE)) | low, 2, 8),

            // Superops.
            0x158 => { self.copy(A, E); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, !self.c.flags.z()) }
            0x159 => { self.copy(A, E); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, self.c.flags.c()) }
            0x15A => { self.copy(A, H); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, !self.c.flags.z()) }
            0x15B => { self.copy(A, H); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, self.c.flags.c()) }
            0x15C => { self.copy(A, L); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, !self.c.flags.z()) }
            0x15D => { self.copy(A, L); self.with(LazyFlags::cp, low, 2, 8); self.relative(high, self.c.flags.c()) }
            0x15E => {
                let de = self.c.de;
                self.not_late(de)?;
                self.load(A, de, 1, 8)?;
                self.store_more_along()?;
                // Written as a word: the next look at DE would wait for a byte.
                let e = self.c.flags.inc(de as u8);
                self.put_pair(DE, de & 0xFF00 | u16::from(e), 1, 4);
            }
            0x15F => {
                self.not_late(self.c.de)?;
                self.load(A, self.c.de, 1, 8)?;
                self.store_more_along()?;
                self.count_pair(DE, 1);
            }
            0x160 => { self.shift(0x28, H); self.shift(0x18, L) }
            0x161 => { self.shift(0x38, H); self.shift(0x18, L) }
            0x162 => { self.shift(0x20, L); self.shift(0x10, H) }
            0x163 => { self.shift(0x20, E); self.shift(0x10, D) }
            0x164 => { self.with(LazyFlags::cp, low, 2, 8); self.relative(high, !self.c.flags.z()) }
            0x165 => { self.with(LazyFlags::cp, low, 2, 8); self.relative(high, self.c.flags.z()) }
            0x166 => { self.with(LazyFlags::cp, low, 2, 8); self.relative(high, !self.c.flags.c()) }
            0x167 => { self.with(LazyFlags::cp, low, 2, 8); self.relative(high, self.c.flags.c()) }
            0x168 => { self.with(LazyFlags::and, low, 2, 8); self.relative(high, !self.c.flags.z()) }
            0x169 => { self.with(LazyFlags::and, low, 2, 8); self.relative(high, self.c.flags.z()) }
            0x16A => { self.rotate(LazyFlags::rrc); self.rotate(LazyFlags::rrc); self.rotate(LazyFlags::rrc) }
            0x16B => { self.count_pair(HL, 1); self.count_pair(HL, 1); self.count_pair(HL, 1) }
            0x16C => { self.count_pair(BC, 1); self.count_pair(BC, 1); self.count_pair(BC, 1) }
            0x16D => { self.count_pair(HL, 1); self.count_pair(HL, 1) }
            0x16E => { self.count(L, LazyFlags::inc); self.count(L, LazyFlags::inc) }
            0x16F => { self.copy(H, B); self.copy(L, C) }
            0x170 => { self.copy(B, H); self.copy(C, L) }
            0x171 => { self.copy(D, H); self.copy(E, L) }
            0x172 => { self.with(LazyFlags::add, self.get(D), 1, 4); self.copy(D, A) }
            0x173 => { self.with(LazyFlags::add, self.get(E), 1, 4); self.copy(E, A) }
            0x174 => { self.load_along(1)?; self.copy(B, A) }
            0x175 => { self.load_along(1)?; self.copy(C, A) }
            0x176 => { self.load_along(1)?; self.copy(D, A) }
            0x177 => { self.load_along(1)?; self.copy(E, A) }
            0x178 => { self.load_along(-1)?; self.copy(D, A) }
            0x179 => { self.load_along(-1)?; self.copy(E, A) }
            0x17A => { self.copy(A, B); self.store_more_along()? }
            0x17B => { self.copy(A, C); self.store_more_along()? }
            0x17C => { self.copy(A, D); self.store_more_along()? }
            0x17D => { self.copy(A, E); self.store_more_along()? }
            0x17E => { self.store(self.hl, low, 2, 12)?; self.count_pair(HL, 1) }
            0x17F => { self.count_pair(HL, -1); self.store_more(D)? }
            0x180 => { self.count_pair(HL, -1); self.store_more(E)? }
            0x181 => { self.with(LazyFlags::or, self.a, 1, 4); self.relative(low, !self.c.flags.z()) }
            0x182 => { self.with(LazyFlags::or, self.a, 1, 4); self.relative(low, self.c.flags.z()) }
            0x183 => { self.with(LazyFlags::and, self.a, 1, 4); self.relative(low, !self.c.flags.z()) }
            0x184 => { self.with(LazyFlags::and, self.a, 1, 4); self.relative(low, self.c.flags.z()) }
            0x185 => { self.with(LazyFlags::sub, self.get(D), 1, 4); self.with(LazyFlags::add, low, 2, 8) }
            0x186 => { self.with(LazyFlags::sub, self.get(E), 1, 4); self.with(LazyFlags::add, low, 2, 8) }
            0x187 => { self.count(B, LazyFlags::dec); self.relative(low, !self.c.flags.z()) }
            0x188 => { self.count(C, LazyFlags::dec); self.relative(low, !self.c.flags.z()) }
            0x189 => { self.count(D, LazyFlags::dec); self.relative(low, !self.c.flags.z()) }
            0x18A => { self.count(E, LazyFlags::dec); self.relative(low, !self.c.flags.z()) }
            0x18B => { self.count(A, LazyFlags::dec); self.relative(low, !self.c.flags.z()) }
            0x18C => { self.load(A, self.c.bc, 1, 8)?; self.count_pair(BC, 1) }
            0x18D => { self.not_late(self.c.de)?; self.load(A, self.c.de, 1, 8)?; self.count_pair(DE, 1) }
            0x18E => {
                self.count_pair(BC, -1);
                self.copy(A, B);
                self.with(LazyFlags::or, self.get(C), 1, 4);
                self.relative(low, !self.c.flags.z());
            }
            0x18F => { self.copy(A, B); self.with(LazyFlags::or, self.get(C), 1, 4); self.relative(low, !self.c.flags.z()) }
            0x190 => { self.copy(A, D); self.with(LazyFlags::or, self.get(E), 1, 4); self.relative(low, !self.c.flags.z()) }
            0x191 => { self.with(LazyFlags::or, self.a, 1, 4); self.return_more(self.c.flags.z())? }
            0x192 => { self.with(LazyFlags::or, self.a, 1, 4); self.return_more(!self.c.flags.z())? }
            0x193 => { self.with(LazyFlags::and, self.a, 1, 4); self.return_more(self.c.flags.z())? }
            0x194 => { self.with(LazyFlags::and, self.a, 1, 4); self.return_more(!self.c.flags.z())? }
            0x195 => { self.load_along(1)?; self.load_more(H)?; self.copy(L, A) }
            0x196 => { self.add_hl(HL); self.add_hl(HL) }
            0x197 => { self.load(A, word, 3, 16)?; self.copy(B, A) }
            0x198 => { self.load(A, word, 3, 16)?; self.copy(C, A) }
            0x199 => { self.load(A, word, 3, 16)?; self.copy(D, A) }
            0x19A => { self.load(A, word, 3, 16)?; self.copy(E, A) }
            0x19B => { self.write(0xFF00 | u16::from(high), low)?; self.put(A, low, 2, 8); self.next(2, 12) }
            0x19C => { self.with(LazyFlags::xor, self.a, 1, 4); self.store_more_along()? }
            0x19D => { self.with(LazyFlags::and, low, 2, 8); self.copy(L, A) }
            0x19E => {
                self.with(LazyFlags::or, self.get(D), 1, 4);
                self.with(LazyFlags::and, low, 2, 8);
                self.relative(high, !self.c.flags.z());
            }
            0x19F => { self.store(self.hl, low, 2, 12)?; self.count_pair(HL, 1); self.count_pair(HL, 1) }
            _ => return Err(Exit::Stop),
        }
        Ok(())
    }
}
