//! Plain instructions one after the other, with the registers kept where the host is quick.
//!
//! Most instructions touch only registers, ROM, WRAM and HRAM. Nothing there looks at a clock, so
//! when within an instruction its cycles are counted does not matter. [`Machine::stretch`] runs
//! these until it meets another one, which [`Machine::step`] then runs; that remains the authority.

use crate::cartridge::BANK;
use crate::machine::Machine;
use crate::registers::{C, H, N, Z};

/// Where code lies: what `stretch` is compiled for.
const ROM: u8 = 0;
const WRAM: u8 = 1;
const HRAM: u8 = 2;
/// Bytes fetched at once, the longest instruction and one. So close to the end of its memory no
/// instruction is run here.
const FETCHED: usize = 4;

/// Whether an address lies in WRAM, not in its echo.
#[inline(always)]
fn in_wram(addr: u16) -> bool {
    addr & 0xE000 == 0xC000
}

#[inline(always)]
fn in_hram(addr: u16) -> bool {
    addr.wrapping_sub(0xFF80) < 127
}

impl Machine {
    /// Runs instructions up to `end`, or to the one that bails out.
    ///
    /// Plain instructions go on over the picture unit's events within a line, which nobody sees
    /// but those who look at the unit: it is brought up to them when another instruction is due.
    pub(crate) fn run_quickly(&mut self, end: u64) {
        let line_end = self.end_of_line(end);
        while self.cycles < end && !self.bail {
            if self.ime_delay {
                self.step_behind_ei();
                // OAM DMA, begun there without the slice's end, has to be looked after.
                if self.dma.active {
                    return self.run(end);
                }
                continue;
            }
            let (before, from) = (self.cycles, self.registers.pc);
            match from {
                0..0x8000 => self.stretch::<ROM>(line_end),
                0xC000..0xE000 => self.stretch::<WRAM>(line_end),
                0xFF80.. => self.stretch::<HRAM>(line_end),
                _ => {}
            }
            if self.cycles >= end {
                if self.cycles < line_end {
                    self.lcd.bring_up(self.cycles);
                } else if line_end > end {
                    self.lcd.skip_to_blank();
                }
                break;
            }
            // A stretch ends at another instruction, or where the program goes elsewhere.
            let elsewhere = (from ^ self.registers.pc) & 0xC000 != 0;
            if !elsewhere || self.cycles == before {
                self.step_once();
            }
        }
    }

    /// How long plain instructions may run: `end`, or further, to the next time that LY is counted.
    fn end_of_line(&self, end: u64) -> u64 {
        if self.dma.active || self.lcd.event_at() != end {
            return end;
        }
        let timer = self.timer.last_cycles + self.timer.event;
        match self.lcd.line_counted_at() {
            Some(at) if at < timer && at < self.serial.event => at,
            _ => end,
        }
    }

    /// Runs plain instructions up to `end`; `KIND` says where the code lies.
    ///
    /// Each arm looks first whether it can do what it should, and changes registers only then.
    #[rustfmt::skip]
    fn stretch<const KIND: u8>(&mut self, end: u64) {
        let rom = &self.cartridge.rom;
        let (Some(lower), Some(upper)) =
            (rom[self.lower_rom..].first_chunk::<BANK>(), rom[self.upper_rom..].first_chunk())
        else {
            return;
        };
        let (wram, hram) = (&mut self.wram, &mut self.hram);
        let mut r = self.registers;
        let page = if r.pc < 0x4000 { lower } else { upper };
        // Where the memory of the code begins, and the last place in it to fetch at.
        let (base, last) = match KIND {
            ROM => (r.pc & 0x4000, BANK - FETCHED),
            WRAM => (0xC000, 0x2000 - FETCHED),
            _ => (0xFF80, 127 - FETCHED),
        };
        // In place of PC; any number beyond the memory stands for an address elsewhere.
        let mut at = usize::from(r.pc - base);
        // In place of the cycle counter: cycles to the end. Both save registers of the host.
        let mut left = (end - self.cycles) as i64;

        /// The instruction is over.
        macro_rules! next { ($length:expr, $cycles:expr) => {{ at += $length; left -= $cycles; }} }
        macro_rules! go { ($target:expr) => { at = usize::from($target.wrapping_sub(base)) } }
        macro_rules! get {
            (h) => { r.h() }; (l) => { r.l() };
            (bc) => { r.bc() }; (de) => { r.de() };
            (af) => { u16::from_be_bytes([r.a, r.f]) };
            ($name:ident) => { r.$name };
        }
        macro_rules! set {
            (h, $value:expr) => { r.set_h($value) }; (l, $value:expr) => { r.set_l($value) };
            (bc, $value:expr) => { r.set_bc($value) }; (de, $value:expr) => { r.set_de($value) };
            (af, $value:expr) => {{ let [f, a] = $value.to_le_bytes(); r.a = a; r.f = f & 0xF0; }};
            ($name:ident, $value:expr) => { r.$name = $value };
        }
        macro_rules! read { ($addr:expr) => {{
            let addr: u16 = $addr;
            if in_wram(addr) { wram[usize::from(addr & 0x1FFF)] }
            else if addr < 0x4000 { lower[usize::from(addr)] }
            else if addr < 0x8000 { upper[usize::from(addr & 0x3FFF)] }
            else if in_hram(addr) { hram[usize::from(addr - 0xFF80)] }
            else { break }
        }} }
        macro_rules! write { ($addr:expr, $value:expr) => {{
            let addr: u16 = $addr;
            if in_wram(addr) { wram[usize::from(addr & 0x1FFF)] = $value }
            else if in_hram(addr) { hram[usize::from(addr - 0xFF80)] = $value }
            else { break }
        }} }
        macro_rules! put { ($to:ident, $value:expr, $length:expr, $cycles:expr) => {{
            let value = $value; set!($to, value); next!($length, $cycles) }} }
        macro_rules! load { ($to:ident, $addr:expr, $length:expr, $cycles:expr) => {{
            let value = read!($addr); set!($to, value); next!($length, $cycles) }} }
        macro_rules! store { ($addr:expr, $value:expr, $length:expr, $cycles:expr) => {{
            write!($addr, $value); next!($length, $cycles) }} }
        macro_rules! store_a { ($addr:expr, $length:expr, $cycles:expr) => {
            store!($addr, r.a, $length, $cycles) } }
        macro_rules! load_a { ($addr:expr, $length:expr, $cycles:expr) => {
            load!(a, $addr, $length, $cycles) } }
        macro_rules! along { ($what:ident, $step:ident) => {{
            $what!(r.hl, 1, 8); r.hl = r.hl.$step(1) }} }
        macro_rules! with { ($operation:ident, $value:expr, $length:expr, $cycles:expr) => {{
            let value = $value; r.$operation(value); next!($length, $cycles) }} }
        macro_rules! count { ($name:ident, $operation:ident) => {{
            let value = r.$operation(get!($name)); set!($name, value); next!(1, 4) }} }
        macro_rules! count_memory { ($operation:ident) => {{
            let value = read!(r.hl);
            if r.hl < 0x8000 { break }
            let result = r.$operation(value); store!(r.hl, result, 1, 12) }} }
        macro_rules! pair { ($name:ident, $step:ident) => {{
            let value = get!($name).$step(1); set!($name, value); next!(1, 8) }} }
        macro_rules! add_hl { ($name:ident) => {{ r.add_hl(get!($name)); next!(1, 8) }} }
        macro_rules! rotate { ($operation:ident) => {{
            r.a = r.$operation(r.a); r.f &= C; next!(1, 4) }} }
        macro_rules! shift { ($name:ident, $operation:ident) => {{
            let value = r.$operation(get!($name)); set!($name, value) }} }
        macro_rules! push_word { ($value:expr) => {{
            let (sp, [low, high]) = (r.sp.wrapping_sub(2), $value.to_le_bytes());
            if in_wram(sp) && sp != 0xDFFF {
                let at = usize::from(sp & 0x1FFF);
                (wram[at], wram[at + 1]) = (low, high);
            } else if in_hram(sp) && sp != 0xFFFE {
                let at = usize::from(sp - 0xFF80);
                (hram[at], hram[at + 1]) = (low, high);
            } else { break }
            r.sp = sp;
        }} }
        macro_rules! pop_word { () => {{
            let sp = r.sp;
            let bytes = if in_wram(sp) && sp != 0xDFFF {
                let at = usize::from(sp & 0x1FFF);
                [wram[at], wram[at + 1]]
            } else if in_hram(sp) && sp != 0xFFFE {
                let at = usize::from(sp - 0xFF80);
                [hram[at], hram[at + 1]]
            } else { break };
            r.sp = sp.wrapping_add(2);
            u16::from_le_bytes(bytes)
        }} }
        macro_rules! push { ($name:ident) => {{ push_word!(get!($name)); next!(1, 16) }} }
        macro_rules! pop { ($name:ident) => {{
            let value = pop_word!(); set!($name, value); next!(1, 12) }} }
        macro_rules! restart { ($target:expr) => {{
            push_word!(base.wrapping_add(at as u16 + 1)); let target: u16 = $target; go!(target);
            left -= 16; }} }
        macro_rules! return_if { ($taken:expr, $cycles:expr) => {
            if $taken { let target = pop_word!(); go!(target); left -= $cycles; }
            else { next!(1, 8) } } }

        while left > 0 && at <= last {
            let code: &[u8] = match KIND { ROM => page, WRAM => wram, _ => hram };
            let Some(fetched) = code[at..].first_chunk::<FETCHED>() else { break };
            let fetched = u32::from_le_bytes(*fetched);
            let (code, low, word) = (fetched as u8, (fetched >> 8) as u8, (fetched >> 8) as u16);
            macro_rules! relative { ($taken:expr) => {
                if $taken { at = (at + 2).wrapping_add_signed(isize::from(low as i8)); left -= 12; }
                else { next!(2, 8) } } }
            // With `jr nz` back to it behind it: as many passes as end before the slice does.
            macro_rules! count_down { ($name:ident) => {{
                let (passes, fit) = (i64::from(get!($name).wrapping_sub(1)) + 1, (left - 1) / 16);
                if word != 0xFD20 || fit == 0 {
                    count!($name, dec)
                } else if fit < passes {
                    let value = r.dec(get!($name).wrapping_sub(fit as u8 - 1)); set!($name, value);
                    left -= 16 * fit;
                } else {
                    let value = r.dec(1); set!($name, value);
                    left -= 16 * passes - 4; at += 3;
                }
            }} }
            macro_rules! jump { ($taken:expr) => {
                if $taken { go!(word); left -= 16; } else { next!(3, 12) } } }
            macro_rules! call { ($taken:expr) => {
                if $taken { push_word!(base.wrapping_add(at as u16 + 3)); go!(word); left -= 24; }
                else { next!(3, 12) } } }
            // Bits 3 to 5 name the bit. `bit` only looks, `res` clears, `set` sets.
            macro_rules! bits { ($name:ident) => {{
                let (value, mask) = (get!($name), 1 << (low >> 3 & 7));
                match low >> 6 {
                    1 => r.bit(value, mask),
                    2 => set!($name, value & !mask),
                    _ => set!($name, value | mask),
                }
            }} }
            match code {
                0x00 => next!(1, 4), 0x01 => put!(bc, word, 3, 12), 0x02 => store_a!(r.bc(), 1, 8),
                0x03 => pair!(bc, wrapping_add), 0x04 => count!(b, inc), 0x05 => count_down!(b),
                0x06 => put!(b, low, 2, 8), 0x07 => rotate!(rlc), 0x09 => add_hl!(bc),
                0x0A => load_a!(r.bc(), 1, 8), 0x0B => pair!(bc, wrapping_sub),
                0x0C => count!(c, inc), 0x0D => count_down!(c), 0x0E => put!(c, low, 2, 8),
                0x0F => rotate!(rrc), 0x11 => put!(de, word, 3, 12),
                0x12 => store_a!(r.de(), 1, 8), 0x13 => pair!(de, wrapping_add),
                0x14 => count!(d, inc), 0x15 => count_down!(d), 0x16 => put!(d, low, 2, 8),
                0x17 => rotate!(rl), 0x18 => relative!(true), 0x19 => add_hl!(de),
                0x1A => load_a!(r.de(), 1, 8), 0x1B => pair!(de, wrapping_sub),
                0x1C => count!(e, inc), 0x1D => count_down!(e), 0x1E => put!(e, low, 2, 8),
                0x1F => rotate!(rr), 0x20 => relative!(!r.flag(Z)), 0x21 => put!(hl, word, 3, 12),
                0x22 => along!(store_a, wrapping_add), 0x23 => pair!(hl, wrapping_add),
                0x24 => count!(h, inc), 0x25 => count!(h, dec), 0x26 => put!(h, low, 2, 8),
                0x27 => { r.daa(); next!(1, 4) }, 0x28 => relative!(r.flag(Z)),
                0x29 => add_hl!(hl), 0x2A => along!(load_a, wrapping_add),
                0x2B => pair!(hl, wrapping_sub), 0x2C => count!(l, inc), 0x2D => count!(l, dec),
                0x2E => put!(l, low, 2, 8), 0x2F => { r.a = !r.a; r.f |= N | H; next!(1, 4) },
                0x30 => relative!(!r.flag(C)), 0x31 => put!(sp, word, 3, 12),
                0x32 => along!(store_a, wrapping_sub), 0x33 => pair!(sp, wrapping_add),
                0x34 => count_memory!(inc), 0x35 => count_memory!(dec),
                0x36 => store!(r.hl, low, 2, 12), 0x37 => { r.f = r.f & Z | C; next!(1, 4) },
                0x38 => relative!(r.flag(C)), 0x39 => add_hl!(sp),
                0x3A => along!(load_a, wrapping_sub), 0x3B => pair!(sp, wrapping_sub),
                0x3C => count!(a, inc), 0x3D => count_down!(a), 0x3E => put!(a, low, 2, 8),
                0x3F => { r.f = r.f & (Z | C) ^ C; next!(1, 4) },
                0x40 => put!(b, get!(b), 1, 4), 0x41 => put!(b, get!(c), 1, 4),
                0x42 => put!(b, get!(d), 1, 4), 0x43 => put!(b, get!(e), 1, 4),
                0x44 => put!(b, get!(h), 1, 4), 0x45 => put!(b, get!(l), 1, 4),
                0x46 => load!(b, r.hl, 1, 8), 0x47 => put!(b, get!(a), 1, 4),
                0x48 => put!(c, get!(b), 1, 4), 0x49 => put!(c, get!(c), 1, 4),
                0x4A => put!(c, get!(d), 1, 4), 0x4B => put!(c, get!(e), 1, 4),
                0x4C => put!(c, get!(h), 1, 4), 0x4D => put!(c, get!(l), 1, 4),
                0x4E => load!(c, r.hl, 1, 8), 0x4F => put!(c, get!(a), 1, 4),
                0x50 => put!(d, get!(b), 1, 4), 0x51 => put!(d, get!(c), 1, 4),
                0x52 => put!(d, get!(d), 1, 4), 0x53 => put!(d, get!(e), 1, 4),
                0x54 => put!(d, get!(h), 1, 4), 0x55 => put!(d, get!(l), 1, 4),
                0x56 => load!(d, r.hl, 1, 8), 0x57 => put!(d, get!(a), 1, 4),
                0x58 => put!(e, get!(b), 1, 4), 0x59 => put!(e, get!(c), 1, 4),
                0x5A => put!(e, get!(d), 1, 4), 0x5B => put!(e, get!(e), 1, 4),
                0x5C => put!(e, get!(h), 1, 4), 0x5D => put!(e, get!(l), 1, 4),
                0x5E => load!(e, r.hl, 1, 8), 0x5F => put!(e, get!(a), 1, 4),
                0x60 => put!(h, get!(b), 1, 4), 0x61 => put!(h, get!(c), 1, 4),
                0x62 => put!(h, get!(d), 1, 4), 0x63 => put!(h, get!(e), 1, 4),
                0x64 => put!(h, get!(h), 1, 4), 0x65 => put!(h, get!(l), 1, 4),
                0x66 => load!(h, r.hl, 1, 8), 0x67 => put!(h, get!(a), 1, 4),
                0x68 => put!(l, get!(b), 1, 4), 0x69 => put!(l, get!(c), 1, 4),
                0x6A => put!(l, get!(d), 1, 4), 0x6B => put!(l, get!(e), 1, 4),
                0x6C => put!(l, get!(h), 1, 4), 0x6D => put!(l, get!(l), 1, 4),
                0x6E => load!(l, r.hl, 1, 8), 0x6F => put!(l, get!(a), 1, 4),
                0x70 => store!(r.hl, get!(b), 1, 8), 0x71 => store!(r.hl, get!(c), 1, 8),
                0x72 => store!(r.hl, get!(d), 1, 8), 0x73 => store!(r.hl, get!(e), 1, 8),
                0x74 => store!(r.hl, get!(h), 1, 8), 0x75 => store!(r.hl, get!(l), 1, 8),
                0x77 => store!(r.hl, get!(a), 1, 8), 0x78 => put!(a, get!(b), 1, 4),
                0x79 => put!(a, get!(c), 1, 4), 0x7A => put!(a, get!(d), 1, 4),
                0x7B => put!(a, get!(e), 1, 4), 0x7C => put!(a, get!(h), 1, 4),
                0x7D => put!(a, get!(l), 1, 4), 0x7E => load!(a, r.hl, 1, 8),
                0x7F => put!(a, get!(a), 1, 4),
                0x80 => with!(add, get!(b), 1, 4), 0x81 => with!(add, get!(c), 1, 4),
                0x82 => with!(add, get!(d), 1, 4), 0x83 => with!(add, get!(e), 1, 4),
                0x84 => with!(add, get!(h), 1, 4), 0x85 => with!(add, get!(l), 1, 4),
                0x86 => with!(add, read!(r.hl), 1, 8), 0x87 => with!(add, get!(a), 1, 4),
                0x88 => with!(adc, get!(b), 1, 4), 0x89 => with!(adc, get!(c), 1, 4),
                0x8A => with!(adc, get!(d), 1, 4), 0x8B => with!(adc, get!(e), 1, 4),
                0x8C => with!(adc, get!(h), 1, 4), 0x8D => with!(adc, get!(l), 1, 4),
                0x8E => with!(adc, read!(r.hl), 1, 8), 0x8F => with!(adc, get!(a), 1, 4),
                0x90 => with!(sub, get!(b), 1, 4), 0x91 => with!(sub, get!(c), 1, 4),
                0x92 => with!(sub, get!(d), 1, 4), 0x93 => with!(sub, get!(e), 1, 4),
                0x94 => with!(sub, get!(h), 1, 4), 0x95 => with!(sub, get!(l), 1, 4),
                0x96 => with!(sub, read!(r.hl), 1, 8), 0x97 => with!(sub, get!(a), 1, 4),
                0x98 => with!(sbc, get!(b), 1, 4), 0x99 => with!(sbc, get!(c), 1, 4),
                0x9A => with!(sbc, get!(d), 1, 4), 0x9B => with!(sbc, get!(e), 1, 4),
                0x9C => with!(sbc, get!(h), 1, 4), 0x9D => with!(sbc, get!(l), 1, 4),
                0x9E => with!(sbc, read!(r.hl), 1, 8), 0x9F => with!(sbc, get!(a), 1, 4),
                0xA0 => with!(and, get!(b), 1, 4), 0xA1 => with!(and, get!(c), 1, 4),
                0xA2 => with!(and, get!(d), 1, 4), 0xA3 => with!(and, get!(e), 1, 4),
                0xA4 => with!(and, get!(h), 1, 4), 0xA5 => with!(and, get!(l), 1, 4),
                0xA6 => with!(and, read!(r.hl), 1, 8), 0xA7 => with!(and, get!(a), 1, 4),
                0xA8 => with!(xor, get!(b), 1, 4), 0xA9 => with!(xor, get!(c), 1, 4),
                0xAA => with!(xor, get!(d), 1, 4), 0xAB => with!(xor, get!(e), 1, 4),
                0xAC => with!(xor, get!(h), 1, 4), 0xAD => with!(xor, get!(l), 1, 4),
                0xAE => with!(xor, read!(r.hl), 1, 8), 0xAF => with!(xor, get!(a), 1, 4),
                0xB0 => with!(or, get!(b), 1, 4), 0xB1 => with!(or, get!(c), 1, 4),
                0xB2 => with!(or, get!(d), 1, 4), 0xB3 => with!(or, get!(e), 1, 4),
                0xB4 => with!(or, get!(h), 1, 4), 0xB5 => with!(or, get!(l), 1, 4),
                0xB6 => with!(or, read!(r.hl), 1, 8), 0xB7 => with!(or, get!(a), 1, 4),
                0xB8 => with!(cp, get!(b), 1, 4), 0xB9 => with!(cp, get!(c), 1, 4),
                0xBA => with!(cp, get!(d), 1, 4), 0xBB => with!(cp, get!(e), 1, 4),
                0xBC => with!(cp, get!(h), 1, 4), 0xBD => with!(cp, get!(l), 1, 4),
                0xBE => with!(cp, read!(r.hl), 1, 8), 0xBF => with!(cp, get!(a), 1, 4),
                0xC0 => return_if!(!r.flag(Z), 20), 0xC1 => pop!(bc), 0xC2 => jump!(!r.flag(Z)),
                0xC3 => jump!(true), 0xC4 => call!(!r.flag(Z)), 0xC5 => push!(bc),
                0xC6 => with!(add, low, 2, 8), 0xC7 => restart!(0x00),
                0xC8 => return_if!(r.flag(Z), 20), 0xC9 => return_if!(true, 16),
                0xCA => jump!(r.flag(Z)), 0xCC => call!(r.flag(Z)), 0xCD => call!(true),
                0xCE => with!(adc, low, 2, 8), 0xCF => restart!(0x08),
                0xD0 => return_if!(!r.flag(C), 20), 0xD1 => pop!(de), 0xD2 => jump!(!r.flag(C)),
                0xD4 => call!(!r.flag(C)), 0xD5 => push!(de), 0xD6 => with!(sub, low, 2, 8),
                0xD7 => restart!(0x10), 0xD8 => return_if!(r.flag(C), 20),
                0xDA => jump!(r.flag(C)), 0xDC => call!(r.flag(C)), 0xDE => with!(sbc, low, 2, 8),
                0xDF => restart!(0x18), 0xE0 => store!(0xFF00 | u16::from(low), r.a, 2, 12),
                0xE1 => pop!(hl), 0xE2 => store!(0xFF00 | u16::from(r.c), r.a, 1, 8),
                0xE5 => push!(hl), 0xE6 => with!(and, low, 2, 8), 0xE7 => restart!(0x20),
                0xE8 => { r.sp = r.sp_plus(low); next!(2, 16) }, 0xE9 => { go!(r.hl); left -= 4 },
                0xEA => store!(word, r.a, 3, 16), 0xEE => with!(xor, low, 2, 8),
                0xEF => restart!(0x28), 0xF0 => load!(a, 0xFF00 | u16::from(low), 2, 12),
                0xF1 => pop!(af), 0xF2 => load!(a, 0xFF00 | u16::from(r.c), 1, 8),
                0xF5 => push!(af), 0xF6 => with!(or, low, 2, 8), 0xF7 => restart!(0x30),
                0xF8 => { r.hl = r.sp_plus(low); next!(2, 12) },
                0xF9 => { r.sp = r.hl; next!(1, 8) }, 0xFA => load!(a, word, 3, 16),
                0xFE => with!(cp, low, 2, 8), 0xFF => restart!(0x38),
                0xCB => {
                    match low {
                    0x00 => shift!(b, rlc), 0x01 => shift!(c, rlc), 0x02 => shift!(d, rlc),
                    0x03 => shift!(e, rlc), 0x04 => shift!(h, rlc), 0x05 => shift!(l, rlc),
                    0x07 => shift!(a, rlc), 0x08 => shift!(b, rrc), 0x09 => shift!(c, rrc),
                    0x0A => shift!(d, rrc), 0x0B => shift!(e, rrc), 0x0C => shift!(h, rrc),
                    0x0D => shift!(l, rrc), 0x0F => shift!(a, rrc), 0x10 => shift!(b, rl),
                    0x11 => shift!(c, rl), 0x12 => shift!(d, rl), 0x13 => shift!(e, rl),
                    0x14 => shift!(h, rl), 0x15 => shift!(l, rl), 0x17 => shift!(a, rl),
                    0x18 => shift!(b, rr), 0x19 => shift!(c, rr), 0x1A => shift!(d, rr),
                    0x1B => shift!(e, rr), 0x1C => shift!(h, rr), 0x1D => shift!(l, rr),
                    0x1F => shift!(a, rr), 0x20 => shift!(b, sla), 0x21 => shift!(c, sla),
                    0x22 => shift!(d, sla), 0x23 => shift!(e, sla), 0x24 => shift!(h, sla),
                    0x25 => shift!(l, sla), 0x27 => shift!(a, sla), 0x28 => shift!(b, sra),
                    0x29 => shift!(c, sra), 0x2A => shift!(d, sra), 0x2B => shift!(e, sra),
                    0x2C => shift!(h, sra), 0x2D => shift!(l, sra), 0x2F => shift!(a, sra),
                    0x30 => shift!(b, swap), 0x31 => shift!(c, swap), 0x32 => shift!(d, swap),
                    0x33 => shift!(e, swap), 0x34 => shift!(h, swap), 0x35 => shift!(l, swap),
                    0x37 => shift!(a, swap), 0x38 => shift!(b, srl), 0x39 => shift!(c, srl),
                    0x3A => shift!(d, srl), 0x3B => shift!(e, srl), 0x3C => shift!(h, srl),
                    0x3D => shift!(l, srl), 0x3F => shift!(a, srl),
                        _ => match low & 7 {
                    0 => bits!(b), 1 => bits!(c), 2 => bits!(d), 3 => bits!(e), 4 => bits!(h),
                    5 => bits!(l), 7 => bits!(a),
                            // In memory: `bit` is plain, others are rare.
                            _ if low & 0xC0 == 0x40 => {
                                let value = read!(r.hl);
                                r.bit(value, 1 << (low >> 3 & 7));
                                left -= 4;
                            }
                            _ => break,
                        },
                    }
                    next!(2, 8)
                }
                _ => break,
            }
        }
        r.pc = base.wrapping_add(at as u16);
        self.registers = r;
        self.cycles = end.wrapping_add_signed(-left);
    }
}
