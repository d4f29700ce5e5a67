//! Plain instructions one after the other, with the registers kept where the host is quick.
//!
//! Most instructions touch only registers, ROM, WRAM and HRAM. Nothing there looks at a clock, so
//! when within an instruction its cycles are counted does not matter. [`Machine::stretch`] runs
//! these until it meets another one, which [`Machine::step`] then runs; that remains the authority.
//!
//! The file is longer than others: all arms have to see the same local variables.

use crate::cartridge::BANK;
use crate::code::{BACK_BY_ONE, FETCHED, Op, decode, rest};
use crate::elsewhere::Elsewhere;
use crate::leap::LINE;
use crate::machine::Machine;
use crate::quick::Stretch;
use crate::registers::{C, H, N, Z};

/// Where code lies: what `stretch` is compiled for.
pub(crate) const ROM: u8 = 0;
pub(crate) const WRAM: u8 = 1;
pub(crate) const HRAM: u8 = 2;

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
    /// Runs plain instructions up to the end; `KIND` says where the code lies. It does not go on to
    /// a further line if the program has stayed in one place, where it may wait.
    ///
    /// Each arm looks first whether it can do what it should, and changes registers only then.
    #[rustfmt::skip]
    pub(crate) fn stretch<const KIND: u8>(&mut self, stretch: &mut Stretch) {
        let mut r = self.registers;
        // These save registers of the host.
        let (mut bc, mut de) = (r.bc(), r.de());
        let (rom, place) = (&self.cartridge.rom, if r.pc < 0x4000 { self.lower_rom } else { self.upper_rom });
        let (Some(lower), Some(upper), Some(ops)) = (
            rom[self.lower_rom..].first_chunk::<BANK>(),
            rom[self.upper_rom..].first_chunk::<BANK>(),
            self.cartridge.code(place).first_chunk::<BANK>(),
        ) else {
            return;
        };
        let pending = self.interrupt_flags & self.interrupt_enable & 0x1F != 0;
        let calm = !(self.ime && pending);
        let mut elsewhere = Elsewhere {
            vram: &mut self.lcd.vram, oam: &mut self.lcd.oam, p1: &mut self.io_written[0],
            joypad: self.joypad, scroll: (&mut self.lcd.scy, &mut self.lcd.scx), open: stretch.open, blank: stretch.blank, calm,
        };
        let (wram, hram) = (&mut self.wram, &mut self.hram);
        // Where the memory of the code begins.
        let base = match KIND { ROM => r.pc & 0x4000, WRAM => 0xC000, _ => 0xFF80 };
        // In place of PC; any number beyond the memory stands for an address elsewhere.
        let mut at = usize::from(r.pc - base);
        // In place of the cycle counter: cycles left when the block in progress will be over. Only
        // code in ROM has blocks.
        let mut left = (stretch.end - self.cycles) as i64;
        let mut op: Op;

        /// The rest of the new block is counted.
        macro_rules! block { () => {
            if KIND == ROM { left -= ops.get(at).map_or(0, |op| rest(*op)) } } }
        /// The instruction is over.
        macro_rules! next { ($length:expr, $cycles:expr) => {{
            at += $length; if KIND != ROM { left -= $cycles } }} }
        /// It branches, in so many cycles more than the block counts, in so many altogether.
        macro_rules! branch { ($more:expr, $cycles:expr) => {{
            left -= if KIND == ROM { $more } else { $cycles }; block!() }} }
        macro_rules! pass_by { ($length:expr, $cycles:expr) => {{
            next!($length, $cycles); block!() }} }
        /// Another instruction is due.
        macro_rules! stop { () => { break left + rest(op) } }
        macro_rules! go { ($target:expr) => { at = usize::from($target.wrapping_sub(base)) } }
        macro_rules! get {
            (h) => { r.h() }; (l) => { r.l() };
            (b) => { (bc >> 8) as u8 }; (c) => { bc as u8 };
            (d) => { (de >> 8) as u8 }; (e) => { de as u8 };
            (bc) => { bc }; (de) => { de };
            (af) => { u16::from_be_bytes([r.a, r.f]) };
            ($name:ident) => { r.$name };
        }
        macro_rules! set {
            (h, $value:expr) => { r.set_h($value) }; (l, $value:expr) => { r.set_l($value) };
            (bc, $value:expr) => { bc = $value }; (de, $value:expr) => { de = $value };
            (b, $value:expr) => { bc = u16::from($value) << 8 | bc & 0xFF };
            (c, $value:expr) => { bc = bc & 0xFF00 | u16::from($value) };
            (d, $value:expr) => { de = u16::from($value) << 8 | de & 0xFF };
            (e, $value:expr) => { de = de & 0xFF00 | u16::from($value) };
            (af, $value:expr) => {{ let [f, a] = $value.to_le_bytes(); r.a = a; r.f = f & 0xF0; }};
            ($name:ident, $value:expr) => { r.$name = $value };
        }
        macro_rules! read { ($addr:expr) => {{
            let addr: u16 = $addr;
            if in_wram(addr) { wram[usize::from(addr & 0x1FFF)] }
            else if addr < 0x4000 { lower[usize::from(addr)] }
            else if addr < 0x8000 { upper[usize::from(addr & 0x3FFF)] }
            else if in_hram(addr) { hram[usize::from(addr - 0xFF80)] }
            else if let Some(value) = elsewhere.read(addr) { value }
            else { stop!() }
        }} }
        macro_rules! write { ($addr:expr, $value:expr) => {{
            let addr: u16 = $addr;
            if in_wram(addr) { wram[usize::from(addr & 0x1FFF)] = $value }
            else if in_hram(addr) { hram[usize::from(addr - 0xFF80)] = $value }
            else if !elsewhere.write(addr, $value) { stop!() }
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
        /// The three whose access is 4 cycles late, which VRAM and OAM can tell.
        macro_rules! late { ($what:ident, $addr:expr) => {{
            if $addr & 0xE000 == 0x8000 || $addr >= 0xFE00 && !in_hram($addr) { stop!() }
            $what!($addr, 1, 8) }} }
        macro_rules! along { ($what:ident, $step:ident) => {{
            $what!(r.hl, 1, 8); r.hl = r.hl.$step(1) }} }
        macro_rules! with { ($operation:ident, $value:expr, $length:expr, $cycles:expr) => {{
            let value = $value; r.$operation(value); next!($length, $cycles) }} }
        macro_rules! count { ($name:ident, $operation:ident) => {{
            let value = r.$operation(get!($name)); set!($name, value); next!(1, 4) }} }
        macro_rules! count_memory { ($operation:ident) => {{
            if r.hl < 0x8000 { stop!() }
            let (before, value) = (r.f, read!(r.hl));
            let result = r.$operation(value);
            if in_wram(r.hl) { wram[usize::from(r.hl & 0x1FFF)] = result }
            else if in_hram(r.hl) { hram[usize::from(r.hl - 0xFF80)] = result }
            else { r.f = before; stop!() }
            next!(1, 12) }} }
        macro_rules! pair { ($name:ident, $step:ident) => {{
            let value = get!($name).$step(1); set!($name, value); next!(1, 8) }} }
        macro_rules! add_hl { ($name:ident) => {{ r.add_hl(get!($name)); next!(1, 8) }} }
        macro_rules! rotate { ($operation:ident) => {{
            r.a = r.$operation(r.a); r.f &= C; next!(1, 4) }} }
        macro_rules! shift { ($name:ident, $operation:ident) => {{
            let value = r.$operation(get!($name)); set!($name, value); next!(2, 8) }} }
        macro_rules! push_word { ($value:expr) => {{
            let (sp, [low, high]) = (r.sp.wrapping_sub(2), $value.to_le_bytes());
            if in_wram(sp) && sp != 0xDFFF {
                let at = usize::from(sp & 0x1FFF);
                (wram[at], wram[at + 1]) = (low, high);
            } else if in_hram(sp) && sp != 0xFFFE {
                let at = usize::from(sp - 0xFF80);
                (hram[at], hram[at + 1]) = (low, high);
            } else { stop!() }
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
            } else { stop!() };
            r.sp = sp.wrapping_add(2);
            u16::from_le_bytes(bytes)
        }} }
        macro_rules! push { ($name:ident) => {{ push_word!(get!($name)); next!(1, 16) }} }
        macro_rules! pop { ($name:ident) => {{
            let value = pop_word!(); set!($name, value); next!(1, 12) }} }
        macro_rules! pc { ($length:expr) => { base.wrapping_add(at as u16 + $length) } }
        macro_rules! restart { ($target:expr) => {{
            push_word!(pc!(1)); let target: u16 = $target; go!(target); branch!(0, 16) }} }
        macro_rules! return_if { ($taken:expr) => {
            if $taken { let target = pop_word!(); go!(target); branch!(12, 20) }
            else { pass_by!(1, 8) } } }

        block!();
        let left = loop {
            op = match KIND {
                ROM => match ops.get(at) { Some(&op) => op, None => break left },
                _ => {
                    let memory: &[u8] = if KIND == WRAM { wram } else { hram };
                    match memory.get(at..).and_then(|code| code.first_chunk::<FETCHED>()) {
                        Some(bytes) => decode(*bytes),
                        None => break left,
                    }
                }
            };
            if left <= 0 && left + rest(op) <= 0 {
                let (pc, over) = (base.wrapping_add(at as u16), left + rest(op));
                if !stretch.goes_on(pc, over) { break over }
                left += LINE as i64;
            }
            let [low, high] = ((op >> 16) as u16).to_le_bytes();
            let word = (op >> 16) as u16;
            macro_rules! to { ($away:expr) => {
                (at + 2).wrapping_add_signed(isize::from($away as i8)) } }
            macro_rules! relative { ($away:ident, $taken:expr) => {
                if $taken { at = to!($away); branch!(4, 12) } else { pass_by!(2, 8) } } }
            macro_rules! jump { ($taken:expr) => {
                if $taken { go!(word); branch!(4, 16) } else { pass_by!(3, 12) } } }
            macro_rules! call { ($taken:expr) => {
                if $taken { push_word!(pc!(3)); go!(word); branch!(12, 24) }
                else { pass_by!(3, 12) } } }
            // With `jr nz` back to it behind it: as many passes as end before the slice does.
            macro_rules! count_down { ($name:ident) => {{
                let (passes, fit) = (i64::from(get!($name).wrapping_sub(1)) + 1, (left - 1) / 16);
                if word != BACK_BY_ONE {
                    count!($name, dec)
                } else if fit == 0 {
                    let value = r.dec(get!($name)); set!($name, value);
                    at += 1; left -= 4; block!()
                } else if fit < passes {
                    let value = r.dec(get!($name).wrapping_sub(fit as u8 - 1)); set!($name, value);
                    left -= 16 * fit;
                } else {
                    let value = r.dec(1); set!($name, value);
                    left -= 16 * passes - 4; at += 3; block!()
                }
            }} }
            macro_rules! bits {
                (look, $name:ident) => {{ r.bit(get!($name), low); next!(2, 8) }};
                (clear, $name:ident) => { put!($name, get!($name) & !low, 2, 8) };
                (mark, $name:ident) => { put!($name, get!($name) | low, 2, 8) };
            }
            /// Between fused instructions: where a line ends within the block, one by one.
            macro_rules! then { () => { if left <= 0 { continue } } }
            /// A further one that stores at HL.
            macro_rules! store_more { ($value:expr) => {{
                if !in_wram(r.hl) && !in_hram(r.hl) { continue }
                store!(r.hl, $value, 1, 8) }} }
            match op & 0x1FF {
                0x00 => next!(1, 4), 0x01 => put!(bc, word, 3, 12), 0x02 => store_a!(bc, 1, 8),
                0x03 => pair!(bc, wrapping_add), 0x04 => count!(b, inc), 0x05 => count_down!(b),
                0x06 => put!(b, low, 2, 8), 0x07 => rotate!(rlc), 0x09 => add_hl!(bc),
                0x0A => load_a!(bc, 1, 8), 0x0B => pair!(bc, wrapping_sub),
                0x0C => count!(c, inc), 0x0D => count_down!(c), 0x0E => put!(c, low, 2, 8),
                0x0F => rotate!(rrc), 0x11 => put!(de, word, 3, 12), 0x12 => late!(store_a, de),
                0x13 => pair!(de, wrapping_add), 0x14 => count!(d, inc), 0x15 => count_down!(d),
                0x16 => put!(d, low, 2, 8), 0x17 => rotate!(rl),
                0x18 => { at = to!(low); branch!(0, 12) }, 0x19 => add_hl!(de),
                0x1A => late!(load_a, de), 0x1B => pair!(de, wrapping_sub),
                0x1C => count!(e, inc), 0x1D => count_down!(e), 0x1E => put!(e, low, 2, 8),
                0x1F => rotate!(rr), 0x20 => relative!(low, !r.flag(Z)), 0x21 => put!(hl, word, 3, 12),
                0x22 => along!(store_a, wrapping_add), 0x23 => pair!(hl, wrapping_add),
                0x24 => count!(h, inc), 0x25 => count!(h, dec), 0x26 => put!(h, low, 2, 8),
                0x27 => { r.daa(); next!(1, 4) }, 0x28 => relative!(low, r.flag(Z)), 0x29 => add_hl!(hl),
                0x2A => along!(load_a, wrapping_add), 0x2B => pair!(hl, wrapping_sub),
                0x2C => count!(l, inc), 0x2D => count!(l, dec), 0x2E => put!(l, low, 2, 8),
                0x2F => { r.a = !r.a; r.f |= N | H; next!(1, 4) }, 0x30 => relative!(low, !r.flag(C)),
                0x31 => put!(sp, word, 3, 12), 0x32 => along!(store_a, wrapping_sub),
                0x33 => pair!(sp, wrapping_add), 0x34 => count_memory!(inc),
                0x35 => count_memory!(dec), 0x36 => store!(r.hl, low, 2, 12),
                0x37 => { r.f = r.f & Z | C; next!(1, 4) }, 0x38 => relative!(low, r.flag(C)),
                0x39 => add_hl!(sp), 0x3A => along!(load_a, wrapping_sub),
                0x3B => pair!(sp, wrapping_sub), 0x3C => count!(a, inc), 0x3D => count_down!(a),
                0x3E => put!(a, low, 2, 8), 0x3F => { r.f = r.f & (Z | C) ^ C; next!(1, 4) },
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
                0x7D => put!(a, get!(l), 1, 4), 0x7E => late!(load_a, r.hl),
                0x7F => put!(a, get!(a), 1, 4), 0x80 => with!(add, get!(b), 1, 4),
                0x81 => with!(add, get!(c), 1, 4), 0x82 => with!(add, get!(d), 1, 4),
                0x83 => with!(add, get!(e), 1, 4), 0x84 => with!(add, get!(h), 1, 4),
                0x85 => with!(add, get!(l), 1, 4), 0x86 => with!(add, read!(r.hl), 1, 8),
                0x87 => with!(add, get!(a), 1, 4), 0x88 => with!(adc, get!(b), 1, 4),
                0x89 => with!(adc, get!(c), 1, 4), 0x8A => with!(adc, get!(d), 1, 4),
                0x8B => with!(adc, get!(e), 1, 4), 0x8C => with!(adc, get!(h), 1, 4),
                0x8D => with!(adc, get!(l), 1, 4), 0x8E => with!(adc, read!(r.hl), 1, 8),
                0x8F => with!(adc, get!(a), 1, 4), 0x90 => with!(sub, get!(b), 1, 4),
                0x91 => with!(sub, get!(c), 1, 4), 0x92 => with!(sub, get!(d), 1, 4),
                0x93 => with!(sub, get!(e), 1, 4), 0x94 => with!(sub, get!(h), 1, 4),
                0x95 => with!(sub, get!(l), 1, 4), 0x96 => with!(sub, read!(r.hl), 1, 8),
                0x97 => with!(sub, get!(a), 1, 4), 0x98 => with!(sbc, get!(b), 1, 4),
                0x99 => with!(sbc, get!(c), 1, 4), 0x9A => with!(sbc, get!(d), 1, 4),
                0x9B => with!(sbc, get!(e), 1, 4), 0x9C => with!(sbc, get!(h), 1, 4),
                0x9D => with!(sbc, get!(l), 1, 4), 0x9E => with!(sbc, read!(r.hl), 1, 8),
                0x9F => with!(sbc, get!(a), 1, 4), 0xA0 => with!(and, get!(b), 1, 4),
                0xA1 => with!(and, get!(c), 1, 4), 0xA2 => with!(and, get!(d), 1, 4),
                0xA3 => with!(and, get!(e), 1, 4), 0xA4 => with!(and, get!(h), 1, 4),
                0xA5 => with!(and, get!(l), 1, 4), 0xA6 => with!(and, read!(r.hl), 1, 8),
                0xA7 => with!(and, get!(a), 1, 4), 0xA8 => with!(xor, get!(b), 1, 4),
                0xA9 => with!(xor, get!(c), 1, 4), 0xAA => with!(xor, get!(d), 1, 4),
                0xAB => with!(xor, get!(e), 1, 4), 0xAC => with!(xor, get!(h), 1, 4),
                0xAD => with!(xor, get!(l), 1, 4), 0xAE => with!(xor, read!(r.hl), 1, 8),
                0xAF => with!(xor, get!(a), 1, 4), 0xB0 => with!(or, get!(b), 1, 4),
                0xB1 => with!(or, get!(c), 1, 4), 0xB2 => with!(or, get!(d), 1, 4),
                0xB3 => with!(or, get!(e), 1, 4), 0xB4 => with!(or, get!(h), 1, 4),
                0xB5 => with!(or, get!(l), 1, 4), 0xB6 => with!(or, read!(r.hl), 1, 8),
                0xB7 => with!(or, get!(a), 1, 4), 0xB8 => with!(cp, get!(b), 1, 4),
                0xB9 => with!(cp, get!(c), 1, 4), 0xBA => with!(cp, get!(d), 1, 4),
                0xBB => with!(cp, get!(e), 1, 4), 0xBC => with!(cp, get!(h), 1, 4),
                0xBD => with!(cp, get!(l), 1, 4), 0xBE => with!(cp, read!(r.hl), 1, 8),
                0xBF => with!(cp, get!(a), 1, 4), 0xC0 => return_if!(!r.flag(Z)), 0xC1 => pop!(bc),
                0xC2 => jump!(!r.flag(Z)), 0xC3 => { go!(word); branch!(0, 16) },
                0xC4 => call!(!r.flag(Z)), 0xC5 => push!(bc), 0xC6 => with!(add, low, 2, 8),
                0xC7 => restart!(0x00), 0xC8 => return_if!(r.flag(Z)),
                0xC9 => { let target = pop_word!(); go!(target); branch!(0, 16) },
                0xCA => jump!(r.flag(Z)), 0xCC => call!(r.flag(Z)),
                0xCD => { push_word!(pc!(3)); go!(word); branch!(0, 24) },
                0xCE => with!(adc, low, 2, 8), 0xCF => restart!(0x08),
                0xD0 => return_if!(!r.flag(C)), 0xD1 => pop!(de), 0xD2 => jump!(!r.flag(C)),
                0xD4 => call!(!r.flag(C)), 0xD5 => push!(de), 0xD6 => with!(sub, low, 2, 8),
                0xD7 => restart!(0x10), 0xD8 => return_if!(r.flag(C)), 0xDA => jump!(r.flag(C)),
                0xDC => call!(r.flag(C)), 0xDE => with!(sbc, low, 2, 8), 0xDF => restart!(0x18),
                0xE0 => store_a!(0xFF00 | u16::from(low), 2, 12), 0xE1 => pop!(hl),
                0xE2 => store_a!(0xFF00 | u16::from(get!(c)), 1, 8), 0xE5 => push!(hl),
                0xE6 => with!(and, low, 2, 8), 0xE7 => restart!(0x20),
                0xE8 => { r.sp = r.sp_plus(low); next!(2, 16) },
                0xE9 => { go!(r.hl); branch!(0, 4) }, 0xEA => store_a!(word, 3, 16),
                0xEE => with!(xor, low, 2, 8), 0xEF => restart!(0x28),
                0xF0 => load_a!(0xFF00 | u16::from(low), 2, 12), 0xF1 => pop!(af),
                0xF2 => load_a!(0xFF00 | u16::from(get!(c)), 1, 8), 0xF5 => push!(af),
                0xF6 => with!(or, low, 2, 8), 0xF7 => restart!(0x30),
                0xF8 => { r.hl = r.sp_plus(low); next!(2, 12) },
                0xF9 => { r.sp = r.hl; next!(1, 8) }, 0xFA => load_a!(word, 3, 16),
                0xFE => with!(cp, low, 2, 8), 0xFF => restart!(0x38), 0x100 => shift!(b, rlc),
                0x101 => shift!(c, rlc), 0x102 => shift!(d, rlc), 0x103 => shift!(e, rlc),
                0x104 => shift!(h, rlc), 0x105 => shift!(l, rlc), 0x107 => shift!(a, rlc),
                0x108 => shift!(b, rrc), 0x109 => shift!(c, rrc), 0x10A => shift!(d, rrc),
                0x10B => shift!(e, rrc), 0x10C => shift!(h, rrc), 0x10D => shift!(l, rrc),
                0x10F => shift!(a, rrc), 0x110 => shift!(b, rl), 0x111 => shift!(c, rl),
                0x112 => shift!(d, rl), 0x113 => shift!(e, rl), 0x114 => shift!(h, rl),
                0x115 => shift!(l, rl), 0x117 => shift!(a, rl), 0x118 => shift!(b, rr),
                0x119 => shift!(c, rr), 0x11A => shift!(d, rr), 0x11B => shift!(e, rr),
                0x11C => shift!(h, rr), 0x11D => shift!(l, rr), 0x11F => shift!(a, rr),
                0x120 => shift!(b, sla), 0x121 => shift!(c, sla), 0x122 => shift!(d, sla),
                0x123 => shift!(e, sla), 0x124 => shift!(h, sla), 0x125 => shift!(l, sla),
                0x127 => shift!(a, sla), 0x128 => shift!(b, sra), 0x129 => shift!(c, sra),
                0x12A => shift!(d, sra), 0x12B => shift!(e, sra), 0x12C => shift!(h, sra),
                0x12D => shift!(l, sra), 0x12F => shift!(a, sra), 0x130 => shift!(b, swap),
                0x131 => shift!(c, swap), 0x132 => shift!(d, swap), 0x133 => shift!(e, swap),
                0x134 => shift!(h, swap), 0x135 => shift!(l, swap), 0x137 => shift!(a, swap),
                0x138 => shift!(b, srl), 0x139 => shift!(c, srl), 0x13A => shift!(d, srl),
                0x13B => shift!(e, srl), 0x13C => shift!(h, srl), 0x13D => shift!(l, srl),
                0x13F => shift!(a, srl), 0x140 => bits!(look, b), 0x141 => bits!(look, c),
                0x142 => bits!(look, d), 0x143 => bits!(look, e), 0x144 => bits!(look, h),
                0x145 => bits!(look, l), 0x147 => bits!(look, a), 0x148 => bits!(clear, b),
                0x149 => bits!(clear, c), 0x14A => bits!(clear, d), 0x14B => bits!(clear, e),
                0x14C => bits!(clear, h), 0x14D => bits!(clear, l), 0x14F => bits!(clear, a),
                0x150 => bits!(mark, b), 0x151 => bits!(mark, c), 0x152 => bits!(mark, d),
                0x153 => bits!(mark, e), 0x154 => bits!(mark, h), 0x155 => bits!(mark, l),
                0x157 => bits!(mark, a),
                0x146 => { let value = read!(r.hl); r.bit(value, low); next!(2, 12) }
                0x14E => { if r.hl < 0x8000 { stop!() } let value = read!(r.hl) & !low; store!(r.hl, value, 2, 16) }
                0x156 => { if r.hl < 0x8000 { stop!() } let value = read!(r.hl) | low; store!(r.hl, value, 2, 16) }
                0x158 => { put!(a, get!(e), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, !r.flag(Z)) },
                0x159 => { put!(a, get!(e), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, r.flag(C)) },
                0x15A => { put!(a, get!(h), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, !r.flag(Z)) },
                0x15B => { put!(a, get!(h), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, r.flag(C)) },
                0x15C => { put!(a, get!(l), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, !r.flag(Z)) },
                0x15D => { put!(a, get!(l), 1, 4); then!(); with!(cp, low, 2, 8); then!(); relative!(high, r.flag(C)) },
                0x15E => { late!(load_a, de); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1); then!(); count!(e, inc) },
                0x15F => { late!(load_a, de); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1); then!(); pair!(de, wrapping_add) },
                0x160 => { shift!(h, sra); then!(); shift!(l, rr) },
                0x161 => { shift!(h, srl); then!(); shift!(l, rr) },
                0x162 => { shift!(l, sla); then!(); shift!(h, rl) },
                0x163 => { shift!(e, sla); then!(); shift!(d, rl) },
                0x164 => { with!(cp, low, 2, 8); then!(); relative!(high, !r.flag(Z)) },
                0x165 => { with!(cp, low, 2, 8); then!(); relative!(high, r.flag(Z)) },
                0x166 => { with!(cp, low, 2, 8); then!(); relative!(high, !r.flag(C)) },
                0x167 => { with!(cp, low, 2, 8); then!(); relative!(high, r.flag(C)) },
                0x168 => { with!(and, low, 2, 8); then!(); relative!(high, !r.flag(Z)) },
                0x169 => { with!(and, low, 2, 8); then!(); relative!(high, r.flag(Z)) },
                0x16A => { rotate!(rrc); then!(); rotate!(rrc); then!(); rotate!(rrc) },
                0x16B => { pair!(hl, wrapping_add); then!(); pair!(hl, wrapping_add); then!(); pair!(hl, wrapping_add) },
                0x16C => { pair!(bc, wrapping_add); then!(); pair!(bc, wrapping_add); then!(); pair!(bc, wrapping_add) },
                0x16D => { pair!(hl, wrapping_add); then!(); pair!(hl, wrapping_add) },
                0x16E => { count!(l, inc); then!(); count!(l, inc) },
                0x16F => { put!(h, get!(b), 1, 4); then!(); put!(l, get!(c), 1, 4) },
                0x170 => { put!(b, get!(h), 1, 4); then!(); put!(c, get!(l), 1, 4) },
                0x171 => { put!(d, get!(h), 1, 4); then!(); put!(e, get!(l), 1, 4) },
                0x172 => { with!(add, get!(d), 1, 4); then!(); put!(d, get!(a), 1, 4) },
                0x173 => { with!(add, get!(e), 1, 4); then!(); put!(e, get!(a), 1, 4) },
                0x174 => { along!(load_a, wrapping_add); then!(); put!(b, get!(a), 1, 4) },
                0x175 => { along!(load_a, wrapping_add); then!(); put!(c, get!(a), 1, 4) },
                0x176 => { along!(load_a, wrapping_add); then!(); put!(d, get!(a), 1, 4) },
                0x177 => { along!(load_a, wrapping_add); then!(); put!(e, get!(a), 1, 4) },
                0x178 => { along!(load_a, wrapping_sub); then!(); put!(d, get!(a), 1, 4) },
                0x179 => { along!(load_a, wrapping_sub); then!(); put!(e, get!(a), 1, 4) },
                0x17A => { put!(a, get!(b), 1, 4); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1) },
                0x17B => { put!(a, get!(c), 1, 4); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1) },
                0x17C => { put!(a, get!(d), 1, 4); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1) },
                0x17D => { put!(a, get!(e), 1, 4); then!(); store_more!(r.a); r.hl = r.hl.wrapping_add(1) },
                0x17E => { store!(r.hl, low, 2, 12); then!(); pair!(hl, wrapping_add) },
                0x17F => { pair!(hl, wrapping_sub); then!(); store_more!(get!(d)) },
                0x180 => { pair!(hl, wrapping_sub); then!(); store_more!(get!(e)) },
                0x181 => { with!(or, get!(a), 1, 4); then!(); relative!(low, !r.flag(Z)) },
                0x182 => { with!(or, get!(a), 1, 4); then!(); relative!(low, r.flag(Z)) },
                0x183 => { with!(and, get!(a), 1, 4); then!(); relative!(low, !r.flag(Z)) },
                0x184 => { with!(and, get!(a), 1, 4); then!(); relative!(low, r.flag(Z)) },
                0x185 => { with!(sub, get!(d), 1, 4); then!(); with!(add, low, 2, 8) },
                0x186 => { with!(sub, get!(e), 1, 4); then!(); with!(add, low, 2, 8) },
                0x187 => { count!(b, dec); then!(); relative!(low, !r.flag(Z)) },
                0x188 => { count!(c, dec); then!(); relative!(low, !r.flag(Z)) },
                0x189 => { count!(d, dec); then!(); relative!(low, !r.flag(Z)) },
                0x18A => { count!(e, dec); then!(); relative!(low, !r.flag(Z)) },
                0x18B => { count!(a, dec); then!(); relative!(low, !r.flag(Z)) },
                _ => stop!(),
            }
        };
        r.pc = base.wrapping_add(at as u16);
        r.set_bc(bc);
        r.set_de(de);
        self.registers = r;
        self.cycles = stretch.end.wrapping_add_signed(-left);
    }
}
