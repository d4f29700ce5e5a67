//! Reads right behind the end of a line: with block runs and without.

use super::skip::first_difference;
use crate::Cartridge;

/// Subroutines that only return.
const RETURN: u16 = 0x3000;
const RETURN_IF_ZERO: u16 = 0x3010;
/// Instructions right before the read: all cycles from 4 to 24, with branches and without.
#[rustfmt::skip]
const BEFORE: [&[u8]; 14] = [
    &[0x00],                         // nop
    &[0x36, 0x41],                   // ld [hl], n
    &[0xFA, 0x80, 0xC0],             // ld a, [nn]
    &[0xE8, 0x00],                   // add sp, 0
    &[0x21, 0x41, 0xFF],             // ld hl, nn
    &[0x18, 0x00],                   // jr to what follows
    &[0x20, 0x00],                   // jr nz, taken
    &[0x28, 0x00],                   // jr z, not taken
    &[0x20, 0x01, 0x00],             // jr nz over a nop, taken
    &[0x28, 0x01, 0x00],             // jr z over a nop, not taken
    &[0xCD, 0x00, 0x30],             // call, and return
    &[0xC4, 0x10, 0x30],             // call nz, and return or not
    &[0xC4, 0x10, 0x30, 0x05, 0x20, 0xFD], // and a loop that counts down
    &[0xC5, 0xC1, 0xC5, 0xC1],       // push, pop
];

/// Nops behind the read: so many that the read's block is nearly as long as a block can be, and longer
/// than a line.
const TAIL: usize = 112;

/// Reads a register at HL again and again, each time behind such an instruction, and stores the values.
fn reading_program(before: &[u8], register: u8, nops: usize, tail: usize) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    let start = [0x11, 0x00, 0xC0, 0xF6, 0x01, 0x31, 0x00, 0xD0]; // de = C000, no Z, sp = D000
    let read = [0x46, 0x78, 0x12, 0x1C]; // ld b, [hl]; ld a, b; ld [de], a; inc e
    let again = [0xF6, 0x01, 0x18]; // or 1; jr
    let mut code = start.to_vec();
    let begin = code.len();
    code.extend([0x21, register, 0xFF]);
    code.extend(vec![0; nops]);
    code.extend(before);
    code.extend(read);
    code.extend(vec![0; tail]);
    code.extend(again);
    code.push((begin as i64 - code.len() as i64 - 1) as u8);
    rom[0x150..0x150 + code.len()].copy_from_slice(&code);
    rom[0x14D] = 0xE7; // the header's checksum
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    rom[usize::from(RETURN)] = 0xC9;
    rom[usize::from(RETURN_IF_ZERO)..][..2].copy_from_slice(&[0xC8, 0xC9]);
    rom
}

#[test]
fn a_read_right_behind_a_lines_end_sees_what_it_sees_plainly() {
    for (number, before) in BEFORE.iter().enumerate() {
        for (register, tail) in [(0x41, 0), (0x41, TAIL), (0x44, 0), (0x44, TAIL)] {
            for nops in 0..8 {
                let rom = reading_program(before, register, nops, tail);
                let difference = first_difference(&Cartridge::new(rom).expect("a cartridge"), 0);
                let program = (number, register, tail, nops);
                assert_eq!(
                    difference, None,
                    "instruction, register, tail, nops: {program:?}"
                );
            }
        }
    }
}
