//! A ROM bank's code, decoded once for all machines that play the cartridge.
//!
//! There is an [`Op`] at each address, as if an instruction began there. An op knows how long the
//! instructions from it to the end of its block take; the end is the next branch. So cycles are
//! counted once for a block. Instructions that often come together are one op, a superop.

use crate::fast::superops::superop;
use crate::memory::cartridge::BANK;

/// Bits 0 to 8: the kind. Bits 9 to 15: cycles to the block's end, in fours. From bit 16 on: the two
/// bytes behind the opcode, or what the kind says.
pub(crate) type Op = u32;

/// Smaller kinds are opcodes. From here on: behind CB, `rlc` to `srl` as in the byte behind it.
pub(crate) const SHIFTS: u32 = 0x100;
/// `bit`, `res`, `set` of 8 registers each; the operand is the bit's mask.
pub(crate) const BITS: u32 = 0x140;
/// Superops begin here.
const SUPEROPS: Op = 0x158;
/// An op's bits that hold its kind.
const KIND: Op = 0x1FF;
/// Not plain: only [`crate::machine::Machine::step`] runs it.
const NOT_PLAIN: Op = 0x10;
/// `jr nz` to the instruction before it.
pub(crate) const BACK_BY_ONE: u16 = 0xFD20;
/// Bytes looked at for an op. An instruction closer to the end of its bank is not plain.
pub(crate) const FETCHED: usize = 4;
/// The most cycles that an op can hold.
const LONGEST_BLOCK: u32 = 4 * 127;
/// An op's bits that hold the cycles.
const CYCLES: Op = 0xFE00;

/// Bytes of each instruction, as digits.
#[rustfmt::skip]
const LENGTHS: &[u8; 256] = b"\
    1311112111111121131111212111112123111121211111212311112121111121\
    1111111111111111111111111111111111111111111111111111111111111111\
    1111111111111111111111111111111111111111111111111111111111111111\
    1133312111323321113131211131312121111121213111212111112121311121";
/// Cycles of each instruction in fours, 0 if it is not plain. Of branches: if they are not taken.
#[rustfmt::skip]
const FOURS: &[u8; 256] = b"\
    1322112102221121032211213222112123221121222211212322333122221121\
    1111112111111121111111211111112111111121111111212222220211111121\
    1111112111111121111111211111112111111121111111211111112111111121\
    2334342424323624233034242430302433200424414000243320042432400024";

/// Cycles from an op to its block's end.
#[inline(always)]
pub(crate) fn rest(op: Op) -> i64 {
    i64::from(op >> 7 & 0x1FC)
}

/// The op of a single instruction, without its block's cycles.
#[inline(always)]
pub(crate) fn decode(bytes: [u8; FETCHED]) -> Op {
    let [code, low, high, _] = bytes.map(u32::from);
    match (code, low) {
        (0xCB, 0..0x40) => SHIFTS + low,
        (0xCB, _) => (BITS + (low >> 6) * 8 - 8 + (low & 7)) | 1 << (low >> 3 & 7) << 16,
        _ => code | low << 16 | high << 24,
    }
}

/// The first instruction of an op, if the op is a superop.
pub(crate) fn alone(op: Op, rom: &[u8; BANK], at: usize) -> Op {
    match rom[at..].first_chunk::<FETCHED>() {
        Some(bytes) if op & KIND >= SUPEROPS => decode(*bytes) | op & CYCLES,
        _ => op,
    }
}

/// By how many cycles the first instruction that ends at or behind a point in time ends behind it.
///
/// The point lies `left` cycles behind the end of a block, or before it if `left` is negative. The
/// search begins at an op of the block, at `at`. The result is 0 or more if the point is past
/// already. None if the instruction is the block's last, which may be a branch.
pub(crate) fn late_cycles(rom: &[u8; BANK], mut at: usize, op: Op, left: i64) -> Option<u64> {
    let mut rest = rest(op);
    if left + rest <= 0 {
        return Some((left + rest).unsigned_abs());
    }
    loop {
        let bytes = rom.get(at..)?.first_chunk::<FETCHED>()?;
        rest -= i64::from(cycles(*bytes));
        if rest <= 0 {
            return None;
        }
        if left + rest <= 0 {
            return Some((left + rest).unsigned_abs());
        }
        at += length(bytes[0]);
    }
}

/// Decodes a bank.
pub(crate) fn decode_bank(rom: &[u8]) -> Box<[Op]> {
    let mut ops = vec![NOT_PLAIN; BANK].into_boxed_slice();
    for at in (0..=BANK - FETCHED).rev() {
        let Some(bytes) = rom[at..].first_chunk::<FETCHED>() else {
            continue;
        };
        let (length, fours) = (length(bytes[0]), cycles(*bytes) / 4);
        let behind = match ends_block(*bytes) {
            true => 0,
            false => rest(ops[at + length]) as u32,
        };
        let sum = behind + 4 * fours;
        if fours != 0 && sum <= LONGEST_BLOCK {
            ops[at] = decode(*bytes) | sum << 7;
        }
        if counts_down(*bytes) {
            ops[at] = decode(*bytes);
        } else if let Some((op, length)) = superop(&rom[at..BANK])
            && all_plain(&rom[at..at + length], &ops[at..])
        {
            ops[at] = op | ops[at] & CYCLES;
        }
    }
    ops
}

/// Whether all these instructions are plain, and so belong to one block.
fn all_plain(mut code: &[u8], mut ops: &[Op]) -> bool {
    while let [first, ..] = code {
        if ops[0] == NOT_PLAIN {
            return false;
        }
        let length = length(*first);
        (code, ops) = (&code[length..], &ops[length..]);
    }
    true
}

fn length(code: u8) -> usize {
    usize::from(LENGTHS[usize::from(code)] - b'0')
}

/// Cycles of an instruction; 0 if it is not plain.
fn cycles([code, low, ..]: [u8; FETCHED]) -> u32 {
    match (code, low) {
        (0xCB, 0..0x40) if low & 7 == 6 => 0,
        (0xCB, 0x40..0x80) if low & 7 == 6 => 12,
        (0xCB, 0x80..) if low & 7 == 6 => 16,
        _ => 4 * u32::from(FOURS[usize::from(code)] - b'0'),
    }
}

fn ends_block(bytes: [u8; FETCHED]) -> bool {
    match bytes[0] {
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 | 0xC3 | 0xC9 | 0xCD | 0xD9 | 0xE9 => true,
        code @ 0xC0..0xE0 => matches!(code & 7, 0 | 2 | 4 | 7),
        code => code >= 0xE0 && code & 7 == 7,
    }
}

/// Whether this is a loop that only counts a register down. It is a block of its own without cycles.
fn counts_down([code, low, high, _]: [u8; FETCHED]) -> bool {
    let counts = matches!(code, 0x05 | 0x0D | 0x15 | 0x1D | 0x3D);
    counts && u16::from_le_bytes([low, high]) == BACK_BY_ONE
}
