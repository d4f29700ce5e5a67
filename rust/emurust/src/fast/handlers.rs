//! What each op of a [`crate::fast::block`] does: all plain instructions, and fused ones.
//!
//! There is one function for each, made from a `match` on a constant; it ends in a call of the next
//! op's ([`crate::threaded`]), with what is needed most in the host's registers.
//!
//! The file is longer than others: it is one table.

use crate::cpu::lazy_flags::LazyFlags;
use crate::fast::block::{Context, ROM};
use crate::fast::decode::{BACK_BY_ONE, Op, rest};
use crate::fast::threaded::{finish, next_op};
use crate::memory::mmio::{hram_at, in_hram, in_wram, wram_at};

/// Does the op and goes on. `at` stands in place of PC; `left` in place of the cycle counter: cycles
/// left when the block in progress will be over. `a` and `hl` are registers.
///
/// Each arm looks first whether it can do what it should, and changes registers only then.
#[rustfmt::skip]
#[inline(never)]
#[allow(unused_assignments)]
pub(crate) fn handler<const KIND: u8, const CODE: u32, const MMIO: bool>(
    c: &mut Context, mut at: usize, mut left: i64, mut a: u8, mut hl: u16, op: Op,
) {
    let word = (op >> 16) as u16;
    let [low, high] = word.to_le_bytes();

    /// The rest of the new block is counted.
    macro_rules! block { () => {
        if KIND == ROM { left -= c.ops.get(at).map_or(0, |op| rest(*op)) } } }
    /// The instruction is over.
    macro_rules! next { ($length:expr, $cycles:expr) => {{
        at += $length; if KIND != ROM { left -= $cycles } }} }
    /// It branches, in so many cycles more than the block counts, in so many altogether.
    macro_rules! branch { ($more:expr, $cycles:expr) => {{
        left -= if KIND == ROM { $more } else { $cycles }; block!() }} }
    macro_rules! pass_by { ($length:expr, $cycles:expr) => {{
        next!($length, $cycles); block!() }} }
    /// Another instruction is due.
    macro_rules! stop { () => { return finish(c, at, left + rest(op), a, hl) } }
    macro_rules! go { ($target:expr) => { at = usize::from($target.wrapping_sub(c.base)) } }
    macro_rules! get {
        (h) => { (hl >> 8) as u8 }; (l) => { hl as u8 };
        (b) => { (c.bc >> 8) as u8 }; (c) => { c.bc as u8 };
        (d) => { (c.de >> 8) as u8 }; (e) => { c.de as u8 };
        (a) => { a }; (hl) => { hl };
        (af) => { u16::from_be_bytes([a, c.flags.byte()]) };
        ($name:ident) => { c.$name };
    }
    macro_rules! set {
        (h, $value:expr) => { hl = u16::from($value) << 8 | hl & 0xFF };
        (l, $value:expr) => { hl = hl & 0xFF00 | u16::from($value) };
        (b, $value:expr) => { c.bc = u16::from($value) << 8 | c.bc & 0xFF };
        (c, $value:expr) => { c.bc = c.bc & 0xFF00 | u16::from($value) };
        (d, $value:expr) => { c.de = u16::from($value) << 8 | c.de & 0xFF };
        (e, $value:expr) => { c.de = c.de & 0xFF00 | u16::from($value) };
        (a, $value:expr) => { a = $value }; (hl, $value:expr) => { hl = $value };
        (af, $value:expr) => {{ let [f, upper] = $value.to_le_bytes(); a = upper; c.flags = LazyFlags::of(f) }};
        ($name:ident, $value:expr) => { c.$name = $value };
    }
    /// What an address neither in ROM nor in RAM takes is compiled apart: a call in between would cost
    /// every op the saving of registers.
    macro_rules! mmio { ($done:expr) => {
        if !MMIO { return handler::<KIND, CODE, true>(c, at, left, a, hl, op) }
        else if let Some(value) = $done { value }
        else { stop!() } } }
    macro_rules! read { ($addr:expr) => {{
        let addr: u16 = $addr;
        if let Some(value) = c.wram.get(wram_at(addr)) { *value }
        else if addr < 0x4000 { c.lower[usize::from(addr)] }
        else if addr < 0x8000 { c.upper[usize::from(addr & 0x3FFF)] }
        else if let Some(value) = c.hram.get(hram_at(addr)) { *value }
        else { mmio!(c.mmio.read(addr)) }
    }} }
    macro_rules! write { ($addr:expr, $value:expr) => {{
        let addr: u16 = $addr;
        if let Some(place) = c.wram.get_mut(wram_at(addr)) { *place = $value }
        else if let Some(place) = c.hram.get_mut(hram_at(addr)) { *place = $value }
        else { mmio!(c.mmio.write(addr, $value)) }
    }} }
    macro_rules! put { ($to:ident, $value:expr, $length:expr, $cycles:expr) => {{
        let value = $value; set!($to, value); next!($length, $cycles) }} }
    macro_rules! load { ($to:ident, $addr:expr, $length:expr, $cycles:expr) => {{
        let value = read!($addr); set!($to, value); next!($length, $cycles) }} }
    macro_rules! store { ($addr:expr, $value:expr, $length:expr, $cycles:expr) => {{
        write!($addr, $value); next!($length, $cycles) }} }
    macro_rules! store_a { ($addr:expr, $length:expr, $cycles:expr) => {
        store!($addr, a, $length, $cycles) } }
    macro_rules! load_a { ($addr:expr, $length:expr, $cycles:expr) => {
        load!(a, $addr, $length, $cycles) } }
    /// The three whose access is 4 cycles late, which VRAM and OAM can tell.
    macro_rules! late_access { ($what:ident, $addr:expr) => {{
        if $addr & 0xE000 == 0x8000 || $addr >= 0xFE00 && !in_hram($addr) { stop!() }
        $what!($addr, 1, 8) }} }
    macro_rules! along { ($what:ident, $step:ident) => {{
        $what!(hl, 1, 8); hl = hl.$step(1) }} }
    macro_rules! with { ($operation:ident, $value:expr, $length:expr, $cycles:expr) => {{
        let value = $value; a = c.flags.$operation(a, value); next!($length, $cycles) }} }
    macro_rules! count { ($name:ident, $operation:ident) => {{
        let value = c.flags.$operation(get!($name)); set!($name, value); next!(1, 4) }} }
    macro_rules! count_memory { ($operation:ident) => {{
        let place = if let Some(place) = c.wram.get_mut(wram_at(hl)) { place }
            else if let Some(place) = c.hram.get_mut(hram_at(hl)) { place }
            else { stop!() };
        *place = c.flags.$operation(*place); next!(1, 12) }} }
    macro_rules! pair { ($name:ident, $step:ident) => {{
        let value = get!($name).$step(1); set!($name, value); next!(1, 8) }} }
    macro_rules! add_hl { ($name:ident) => {{ hl = c.flags.add_hl(hl, get!($name)); next!(1, 8) }} }
    macro_rules! rotate { ($operation:ident) => {{
        a = c.flags.$operation(a); c.flags.clear_z(); next!(1, 4) }} }
    macro_rules! shift { ($name:ident, $operation:ident) => {{
        let value = c.flags.$operation(get!($name)); set!($name, value); next!(2, 8) }} }
    macro_rules! push_word { ($value:expr) => {{
        let (sp, bytes) = (c.sp.wrapping_sub(2), $value.to_le_bytes());
        if let Some(place) = c.wram.get_mut(wram_at(sp)..).and_then(<[u8]>::first_chunk_mut) { *place = bytes }
        else if let Some(place) = c.hram.get_mut(hram_at(sp)..).and_then(<[u8]>::first_chunk_mut) { *place = bytes }
        else { stop!() }
        c.sp = sp;
    }} }
    macro_rules! pop_word { () => {{
        let place = if let Some(place) = c.wram.get(wram_at(c.sp)..).and_then(<[u8]>::first_chunk) { place }
            else if let Some(place) = c.hram.get(hram_at(c.sp)..).and_then(<[u8]>::first_chunk) { place }
            else { stop!() };
        c.sp = c.sp.wrapping_add(2);
        u16::from_le_bytes(*place)
    }} }
    macro_rules! push { ($name:ident) => {{ push_word!(get!($name)); next!(1, 16) }} }
    macro_rules! pop { ($name:ident) => {{
        let value = pop_word!(); set!($name, value); next!(1, 12) }} }
    macro_rules! pc { ($length:expr) => { c.base.wrapping_add(at as u16 + $length) } }
    macro_rules! restart { ($target:expr) => {{
        push_word!(pc!(1)); let target: u16 = $target; go!(target); branch!(0, 16) }} }
    macro_rules! return_if { ($taken:expr) => {
        if $taken { let target = pop_word!(); go!(target); branch!(12, 20) }
        else { pass_by!(1, 8) } } }
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
            let value = c.flags.dec(get!($name)); set!($name, value);
            at += 1; left -= 4; block!()
        } else if fit < passes {
            let value = c.flags.dec(get!($name).wrapping_sub(fit as u8 - 1)); set!($name, value);
            left -= 16 * fit;
        } else {
            let value = c.flags.dec(1); set!($name, value);
            left -= 16 * passes - 4; at += 3; block!()
        }
    }} }
    macro_rules! bits {
        (look, $name:ident) => {{ c.flags.bit(get!($name), low); next!(2, 8) }};
        (clear, $name:ident) => { put!($name, get!($name) & !low, 2, 8) };
        (mark, $name:ident) => { put!($name, get!($name) | low, 2, 8) };
    }
    /// A further instruction of a fused op that wants RAM: if it lies elsewhere, one by one.
    macro_rules! more { ($addr:expr) => {
        if !in_wram($addr) && !in_hram($addr) { return next_op::<KIND>(c, at, left, a, hl) } } }
    macro_rules! store_more { ($value:expr) => {{ more!(hl); store!(hl, $value, 1, 8) }} }
    macro_rules! return_more { ($taken:expr) => {{
        if $taken { more!(c.sp); more!(c.sp.wrapping_add(1)) }
        return_if!($taken) }} }
    match CODE {
        0x00 => next!(1, 4), 0x01 => put!(bc, word, 3, 12), 0x02 => store_a!(c.bc, 1, 8),
        0x03 => pair!(bc, wrapping_add), 0x04 => count!(b, inc), 0x05 => count_down!(b),
        0x06 => put!(b, low, 2, 8), 0x07 => rotate!(rlc), 0x09 => add_hl!(bc),
        0x0A => load_a!(c.bc, 1, 8), 0x0B => pair!(bc, wrapping_sub),
        0x0C => count!(c, inc), 0x0D => count_down!(c), 0x0E => put!(c, low, 2, 8),
        0x0F => rotate!(rrc), 0x11 => put!(de, word, 3, 12), 0x12 => late_access!(store_a, c.de),
        0x13 => pair!(de, wrapping_add), 0x14 => count!(d, inc), 0x15 => count_down!(d),
        0x16 => put!(d, low, 2, 8), 0x17 => rotate!(rl),
        0x18 => { at = to!(low); branch!(0, 12) }, 0x19 => add_hl!(de),
        0x1A => late_access!(load_a, c.de), 0x1B => pair!(de, wrapping_sub),
        0x1C => count!(e, inc), 0x1D => count_down!(e), 0x1E => put!(e, low, 2, 8),
        0x1F => rotate!(rr), 0x20 => relative!(low, !c.flags.z()), 0x21 => put!(hl, word, 3, 12),
        0x22 => along!(store_a, wrapping_add), 0x23 => pair!(hl, wrapping_add),
        0x24 => count!(h, inc), 0x25 => count!(h, dec), 0x26 => put!(h, low, 2, 8),
        0x27 => { a = c.flags.daa(a); next!(1, 4) }, 0x28 => relative!(low, c.flags.z()), 0x29 => add_hl!(hl),
        0x2A => along!(load_a, wrapping_add), 0x2B => pair!(hl, wrapping_sub),
        0x2C => count!(l, inc), 0x2D => count!(l, dec), 0x2E => put!(l, low, 2, 8),
        0x2F => put!(a, c.flags.cpl(a), 1, 4), 0x30 => relative!(low, !c.flags.c()),
        0x31 => put!(sp, word, 3, 12), 0x32 => along!(store_a, wrapping_sub),
        0x33 => pair!(sp, wrapping_add), 0x34 => count_memory!(inc),
        0x35 => count_memory!(dec), 0x36 => store!(hl, low, 2, 12),
        0x37 => { c.flags.set_carry(true); next!(1, 4) }, 0x38 => relative!(low, c.flags.c()),
        0x39 => add_hl!(sp), 0x3A => along!(load_a, wrapping_sub),
        0x3B => pair!(sp, wrapping_sub), 0x3C => count!(a, inc), 0x3D => count_down!(a),
        0x3E => put!(a, low, 2, 8), 0x3F => { c.flags.set_carry(!c.flags.c()); next!(1, 4) },
        0x40 => put!(b, get!(b), 1, 4), 0x41 => put!(b, get!(c), 1, 4),
        0x42 => put!(b, get!(d), 1, 4), 0x43 => put!(b, get!(e), 1, 4),
        0x44 => put!(b, get!(h), 1, 4), 0x45 => put!(b, get!(l), 1, 4),
        0x46 => load!(b, hl, 1, 8), 0x47 => put!(b, get!(a), 1, 4),
        0x48 => put!(c, get!(b), 1, 4), 0x49 => put!(c, get!(c), 1, 4),
        0x4A => put!(c, get!(d), 1, 4), 0x4B => put!(c, get!(e), 1, 4),
        0x4C => put!(c, get!(h), 1, 4), 0x4D => put!(c, get!(l), 1, 4),
        0x4E => load!(c, hl, 1, 8), 0x4F => put!(c, get!(a), 1, 4),
        0x50 => put!(d, get!(b), 1, 4), 0x51 => put!(d, get!(c), 1, 4),
        0x52 => put!(d, get!(d), 1, 4), 0x53 => put!(d, get!(e), 1, 4),
        0x54 => put!(d, get!(h), 1, 4), 0x55 => put!(d, get!(l), 1, 4),
        0x56 => load!(d, hl, 1, 8), 0x57 => put!(d, get!(a), 1, 4),
        0x58 => put!(e, get!(b), 1, 4), 0x59 => put!(e, get!(c), 1, 4),
        0x5A => put!(e, get!(d), 1, 4), 0x5B => put!(e, get!(e), 1, 4),
        0x5C => put!(e, get!(h), 1, 4), 0x5D => put!(e, get!(l), 1, 4),
        0x5E => load!(e, hl, 1, 8), 0x5F => put!(e, get!(a), 1, 4),
        0x60 => put!(h, get!(b), 1, 4), 0x61 => put!(h, get!(c), 1, 4),
        0x62 => put!(h, get!(d), 1, 4), 0x63 => put!(h, get!(e), 1, 4),
        0x64 => put!(h, get!(h), 1, 4), 0x65 => put!(h, get!(l), 1, 4),
        0x66 => load!(h, hl, 1, 8), 0x67 => put!(h, get!(a), 1, 4),
        0x68 => put!(l, get!(b), 1, 4), 0x69 => put!(l, get!(c), 1, 4),
        0x6A => put!(l, get!(d), 1, 4), 0x6B => put!(l, get!(e), 1, 4),
        0x6C => put!(l, get!(h), 1, 4), 0x6D => put!(l, get!(l), 1, 4),
        0x6E => load!(l, hl, 1, 8), 0x6F => put!(l, get!(a), 1, 4),
        0x70 => store!(hl, get!(b), 1, 8), 0x71 => store!(hl, get!(c), 1, 8),
        0x72 => store!(hl, get!(d), 1, 8), 0x73 => store!(hl, get!(e), 1, 8),
        0x74 => store!(hl, get!(h), 1, 8), 0x75 => store!(hl, get!(l), 1, 8),
        0x77 => store!(hl, get!(a), 1, 8), 0x78 => put!(a, get!(b), 1, 4),
        0x79 => put!(a, get!(c), 1, 4), 0x7A => put!(a, get!(d), 1, 4),
        0x7B => put!(a, get!(e), 1, 4), 0x7C => put!(a, get!(h), 1, 4),
        0x7D => put!(a, get!(l), 1, 4), 0x7E => late_access!(load_a, hl),
        0x7F => put!(a, get!(a), 1, 4), 0x80 => with!(add, get!(b), 1, 4),
        0x81 => with!(add, get!(c), 1, 4), 0x82 => with!(add, get!(d), 1, 4),
        0x83 => with!(add, get!(e), 1, 4), 0x84 => with!(add, get!(h), 1, 4),
        0x85 => with!(add, get!(l), 1, 4), 0x86 => with!(add, read!(hl), 1, 8),
        0x87 => with!(add, get!(a), 1, 4), 0x88 => with!(adc, get!(b), 1, 4),
        0x89 => with!(adc, get!(c), 1, 4), 0x8A => with!(adc, get!(d), 1, 4),
        0x8B => with!(adc, get!(e), 1, 4), 0x8C => with!(adc, get!(h), 1, 4),
        0x8D => with!(adc, get!(l), 1, 4), 0x8E => with!(adc, read!(hl), 1, 8),
        0x8F => with!(adc, get!(a), 1, 4), 0x90 => with!(sub, get!(b), 1, 4),
        0x91 => with!(sub, get!(c), 1, 4), 0x92 => with!(sub, get!(d), 1, 4),
        0x93 => with!(sub, get!(e), 1, 4), 0x94 => with!(sub, get!(h), 1, 4),
        0x95 => with!(sub, get!(l), 1, 4), 0x96 => with!(sub, read!(hl), 1, 8),
        0x97 => with!(sub, get!(a), 1, 4), 0x98 => with!(sbc, get!(b), 1, 4),
        0x99 => with!(sbc, get!(c), 1, 4), 0x9A => with!(sbc, get!(d), 1, 4),
        0x9B => with!(sbc, get!(e), 1, 4), 0x9C => with!(sbc, get!(h), 1, 4),
        0x9D => with!(sbc, get!(l), 1, 4), 0x9E => with!(sbc, read!(hl), 1, 8),
        0x9F => with!(sbc, get!(a), 1, 4), 0xA0 => with!(and, get!(b), 1, 4),
        0xA1 => with!(and, get!(c), 1, 4), 0xA2 => with!(and, get!(d), 1, 4),
        0xA3 => with!(and, get!(e), 1, 4), 0xA4 => with!(and, get!(h), 1, 4),
        0xA5 => with!(and, get!(l), 1, 4), 0xA6 => with!(and, read!(hl), 1, 8),
        0xA7 => with!(and, get!(a), 1, 4), 0xA8 => with!(xor, get!(b), 1, 4),
        0xA9 => with!(xor, get!(c), 1, 4), 0xAA => with!(xor, get!(d), 1, 4),
        0xAB => with!(xor, get!(e), 1, 4), 0xAC => with!(xor, get!(h), 1, 4),
        0xAD => with!(xor, get!(l), 1, 4), 0xAE => with!(xor, read!(hl), 1, 8),
        0xAF => with!(xor, get!(a), 1, 4), 0xB0 => with!(or, get!(b), 1, 4),
        0xB1 => with!(or, get!(c), 1, 4), 0xB2 => with!(or, get!(d), 1, 4),
        0xB3 => with!(or, get!(e), 1, 4), 0xB4 => with!(or, get!(h), 1, 4),
        0xB5 => with!(or, get!(l), 1, 4), 0xB6 => with!(or, read!(hl), 1, 8),
        0xB7 => with!(or, get!(a), 1, 4), 0xB8 => with!(cp, get!(b), 1, 4),
        0xB9 => with!(cp, get!(c), 1, 4), 0xBA => with!(cp, get!(d), 1, 4),
        0xBB => with!(cp, get!(e), 1, 4), 0xBC => with!(cp, get!(h), 1, 4),
        0xBD => with!(cp, get!(l), 1, 4), 0xBE => with!(cp, read!(hl), 1, 8),
        0xBF => with!(cp, get!(a), 1, 4), 0xC0 => return_if!(!c.flags.z()), 0xC1 => pop!(bc),
        0xC2 => jump!(!c.flags.z()), 0xC3 => { go!(word); branch!(0, 16) },
        0xC4 => call!(!c.flags.z()), 0xC5 => push!(bc), 0xC6 => with!(add, low, 2, 8),
        0xC7 => restart!(0x00), 0xC8 => return_if!(c.flags.z()),
        0xC9 => { let target = pop_word!(); go!(target); branch!(0, 16) },
        0xCA => jump!(c.flags.z()), 0xCC => call!(c.flags.z()),
        0xCD => { push_word!(pc!(3)); go!(word); branch!(0, 24) },
        0xCE => with!(adc, low, 2, 8), 0xCF => restart!(0x08),
        0xD0 => return_if!(!c.flags.c()), 0xD1 => pop!(de), 0xD2 => jump!(!c.flags.c()),
        0xD4 => call!(!c.flags.c()), 0xD5 => push!(de), 0xD6 => with!(sub, low, 2, 8),
        0xD7 => restart!(0x10), 0xD8 => return_if!(c.flags.c()),
        0xD9 => {
            if c.pending { stop!() }
            let target = pop_word!(); c.ime = true; go!(target); branch!(0, 16)
        } 0xDA => jump!(c.flags.c()),
        0xDC => call!(c.flags.c()), 0xDE => with!(sbc, low, 2, 8), 0xDF => restart!(0x18),
        0xE0 => store_a!(0xFF00 | u16::from(low), 2, 12), 0xE1 => pop!(hl),
        0xE2 => store_a!(0xFF00 | u16::from(get!(c)), 1, 8), 0xE5 => push!(hl),
        0xE6 => with!(and, low, 2, 8), 0xE7 => restart!(0x20),
        0xE8 => put!(sp, c.flags.sp_plus(c.sp, low), 2, 16),
        0xE9 => { go!(hl); branch!(0, 4) }, 0xEA => store_a!(word, 3, 16),
        0xEE => with!(xor, low, 2, 8), 0xEF => restart!(0x28),
        0xF0 => load_a!(0xFF00 | u16::from(low), 2, 12), 0xF1 => pop!(af),
        0xF2 => load_a!(0xFF00 | u16::from(get!(c)), 1, 8), 0xF5 => push!(af),
        0xF6 => with!(or, low, 2, 8), 0xF7 => restart!(0x30),
        0xF8 => put!(hl, c.flags.sp_plus(c.sp, low), 2, 12),
        0xF9 => put!(sp, hl, 1, 8), 0xFA => load_a!(word, 3, 16),
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
        0x146 => { let value = read!(hl); c.flags.bit(value, low); next!(2, 12) }
        0x14E => { if hl < 0x8000 { stop!() } let value = read!(hl) & !low; store!(hl, value, 2, 16) }
        0x156 => { if hl < 0x8000 { stop!() } let value = read!(hl) | low; store!(hl, value, 2, 16) }
        0x158 => { put!(a, get!(e), 1, 4); with!(cp, low, 2, 8); relative!(high, !c.flags.z()) },
        0x159 => { put!(a, get!(e), 1, 4); with!(cp, low, 2, 8); relative!(high, c.flags.c()) },
        0x15A => { put!(a, get!(h), 1, 4); with!(cp, low, 2, 8); relative!(high, !c.flags.z()) },
        0x15B => { put!(a, get!(h), 1, 4); with!(cp, low, 2, 8); relative!(high, c.flags.c()) },
        0x15C => { put!(a, get!(l), 1, 4); with!(cp, low, 2, 8); relative!(high, !c.flags.z()) },
        0x15D => { put!(a, get!(l), 1, 4); with!(cp, low, 2, 8); relative!(high, c.flags.c()) },
        0x15E => { late_access!(load_a, c.de); store_more!(a); hl = hl.wrapping_add(1); count!(e, inc) },
        0x15F => { late_access!(load_a, c.de); store_more!(a); hl = hl.wrapping_add(1); pair!(de, wrapping_add) },
        0x160 => { shift!(h, sra); shift!(l, rr) },
        0x161 => { shift!(h, srl); shift!(l, rr) },
        0x162 => { shift!(l, sla); shift!(h, rl) },
        0x163 => { shift!(e, sla); shift!(d, rl) },
        0x164 => { with!(cp, low, 2, 8); relative!(high, !c.flags.z()) },
        0x165 => { with!(cp, low, 2, 8); relative!(high, c.flags.z()) },
        0x166 => { with!(cp, low, 2, 8); relative!(high, !c.flags.c()) },
        0x167 => { with!(cp, low, 2, 8); relative!(high, c.flags.c()) },
        0x168 => { with!(and, low, 2, 8); relative!(high, !c.flags.z()) },
        0x169 => { with!(and, low, 2, 8); relative!(high, c.flags.z()) },
        0x16A => { rotate!(rrc); rotate!(rrc); rotate!(rrc) },
        0x16B => { pair!(hl, wrapping_add); pair!(hl, wrapping_add); pair!(hl, wrapping_add) },
        0x16C => { pair!(bc, wrapping_add); pair!(bc, wrapping_add); pair!(bc, wrapping_add) },
        0x16D => { pair!(hl, wrapping_add); pair!(hl, wrapping_add) },
        0x16E => { count!(l, inc); count!(l, inc) },
        0x16F => { put!(h, get!(b), 1, 4); put!(l, get!(c), 1, 4) },
        0x170 => { put!(b, get!(h), 1, 4); put!(c, get!(l), 1, 4) },
        0x171 => { put!(d, get!(h), 1, 4); put!(e, get!(l), 1, 4) },
        0x172 => { with!(add, get!(d), 1, 4); put!(d, get!(a), 1, 4) },
        0x173 => { with!(add, get!(e), 1, 4); put!(e, get!(a), 1, 4) },
        0x174 => { along!(load_a, wrapping_add); put!(b, get!(a), 1, 4) },
        0x175 => { along!(load_a, wrapping_add); put!(c, get!(a), 1, 4) },
        0x176 => { along!(load_a, wrapping_add); put!(d, get!(a), 1, 4) },
        0x177 => { along!(load_a, wrapping_add); put!(e, get!(a), 1, 4) },
        0x178 => { along!(load_a, wrapping_sub); put!(d, get!(a), 1, 4) },
        0x179 => { along!(load_a, wrapping_sub); put!(e, get!(a), 1, 4) },
        0x17A => { put!(a, get!(b), 1, 4); store_more!(a); hl = hl.wrapping_add(1) },
        0x17B => { put!(a, get!(c), 1, 4); store_more!(a); hl = hl.wrapping_add(1) },
        0x17C => { put!(a, get!(d), 1, 4); store_more!(a); hl = hl.wrapping_add(1) },
        0x17D => { put!(a, get!(e), 1, 4); store_more!(a); hl = hl.wrapping_add(1) },
        0x17E => { store!(hl, low, 2, 12); pair!(hl, wrapping_add) },
        0x17F => { pair!(hl, wrapping_sub); store_more!(get!(d)) },
        0x180 => { pair!(hl, wrapping_sub); store_more!(get!(e)) },
        0x181 => { with!(or, get!(a), 1, 4); relative!(low, !c.flags.z()) },
        0x182 => { with!(or, get!(a), 1, 4); relative!(low, c.flags.z()) },
        0x183 => { with!(and, get!(a), 1, 4); relative!(low, !c.flags.z()) },
        0x184 => { with!(and, get!(a), 1, 4); relative!(low, c.flags.z()) },
        0x185 => { with!(sub, get!(d), 1, 4); with!(add, low, 2, 8) },
        0x186 => { with!(sub, get!(e), 1, 4); with!(add, low, 2, 8) },
        0x187 => { count!(b, dec); relative!(low, !c.flags.z()) },
        0x188 => { count!(c, dec); relative!(low, !c.flags.z()) },
        0x189 => { count!(d, dec); relative!(low, !c.flags.z()) },
        0x18A => { count!(e, dec); relative!(low, !c.flags.z()) },
        0x18B => { count!(a, dec); relative!(low, !c.flags.z()) },
        0x18C => { load_a!(c.bc, 1, 8); pair!(bc, wrapping_add) },
        0x18D => { late_access!(load_a, c.de); pair!(de, wrapping_add) },
        0x18E => { pair!(bc, wrapping_sub); put!(a, get!(b), 1, 4); with!(or, get!(c), 1, 4); relative!(low, !c.flags.z()) },
        0x18F => { put!(a, get!(b), 1, 4); with!(or, get!(c), 1, 4); relative!(low, !c.flags.z()) },
        0x190 => { put!(a, get!(d), 1, 4); with!(or, get!(e), 1, 4); relative!(low, !c.flags.z()) },
        0x191 => { with!(or, get!(a), 1, 4); return_more!(c.flags.z()) },
        0x192 => { with!(or, get!(a), 1, 4); return_more!(!c.flags.z()) },
        0x193 => { with!(and, get!(a), 1, 4); return_more!(c.flags.z()) },
        0x194 => { with!(and, get!(a), 1, 4); return_more!(!c.flags.z()) },
        0x195 => { along!(load_a, wrapping_add); more!(hl); load!(h, hl, 1, 8); put!(l, get!(a), 1, 4) },
        0x196 => { add_hl!(hl); add_hl!(hl) },
        0x197 => { load_a!(word, 3, 16); put!(b, get!(a), 1, 4) },
        0x198 => { load_a!(word, 3, 16); put!(c, get!(a), 1, 4) },
        0x199 => { load_a!(word, 3, 16); put!(d, get!(a), 1, 4) },
        0x19A => { load_a!(word, 3, 16); put!(e, get!(a), 1, 4) },
        0x19B => { write!(0xFF00 | u16::from(high), low); put!(a, low, 2, 8); next!(2, 12) },
        0x19C => { with!(xor, get!(a), 1, 4); store_more!(a); hl = hl.wrapping_add(1) },
        0x19D => { with!(and, low, 2, 8); put!(l, get!(a), 1, 4) },
        0x19E => { with!(or, get!(d), 1, 4); with!(and, low, 2, 8); relative!(high, !c.flags.z()) },
        0x19F => { store!(hl, low, 2, 12); pair!(hl, wrapping_add); pair!(hl, wrapping_add) },
        _ => stop!(),
    }
    next_op::<KIND>(c, at, left, a, hl)
}
