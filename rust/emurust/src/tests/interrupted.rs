//! Interrupts of a program that sleeps, or waits for OAM DMA: with skips and without.

use super::skip::first_difference;
use crate::Cartridge;

/// A cartridge with routines at these places, an interrupt's that stores STAT, LY and PC, and a start at
/// 0150.
fn cartridge(start: &[u8], routines: &[(usize, &[u8])]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x14D] = 0xE7; // the header's checksum
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    // push af; push hl; ldh a, [STAT]; ld [de], a; inc e; ldh a, [LY]; ld [de], a; inc e
    // ld hl, sp + 4; ld a, [hl]; ld [de], a; inc e; pop hl; pop af; reti
    let keep = [
        0xF5, 0xE5, 0xF0, 0x41, 0x12, 0x1C, 0xF0, 0x44, 0x12, 0x1C, 0xF8, 0x04, 0x7E, 0x12, 0x1C,
        0xE1, 0xF1, 0xD9,
    ];
    for (place, code) in [
        (0x48, &[0xC3, 0x80, 0x00][..]),
        (0x50, &[0xC3, 0x80, 0x00]),
        (0x80, &keep),
    ] {
        rom[place..place + code.len()].copy_from_slice(code);
    }
    for (place, code) in routines {
        rom[*place..place + code.len()].copy_from_slice(code);
    }
    // de = C000, sp = D000
    let code = [&[0x11, 0x00, 0xC0, 0x31, 0x00, 0xD0], start].concat();
    rom[0x150..0x150 + code.len()].copy_from_slice(&code);
    rom
}

/// `ld a, n; ldh [n], a` for each register.
fn written(registers: &[(u8, u8)]) -> Vec<u8> {
    registers
        .iter()
        .flat_map(|&(register, value)| [0x3E, value, 0xE0, register])
        .collect()
}

#[test]
fn the_timer_wakes_in_the_same_mode_of_each_line() {
    for period in [1, 3, 7, 11, 29, 31, 57, 63, 97, 113] {
        // TMA, TAC: each 16 cycles; IE: the timer. ei; halt; nop; jr
        let timer = written(&[(0x06, 0u8.wrapping_sub(period)), (0x07, 5), (0xFF, 4)]);
        let code = [&timer[..], &[0xFB, 0x76, 0x00, 0x18, 0xFC]].concat();
        let made = Cartridge::new(cartridge(&code, &[])).expect("a cartridge");
        assert_eq!(
            first_difference(&made, 0),
            None,
            "each {period} times 16 cycles"
        );
    }
}

#[test]
fn an_interrupt_finds_the_wait_for_dma_at_the_same_instruction() {
    // In ROM, to be copied to FF80: ldh [DMA], a; ld a, n; dec a; jr nz; ret
    for (count, nops) in [30, 38, 39, 40]
        .iter()
        .flat_map(|count| (0..12).map(move |nops| (*count, nops)))
    {
        let wait = [0xE0, 0x46, 0x3E, count, 0x3D, 0x20, 0xFD, 0xC9];
        // hl = 0200; c = 80; b = 8; ld a, [hl+]; ldh [c], a; inc c; dec b; jr nz
        let copy = [
            0x21, 0x00, 0x02, 0x0E, 0x80, 0x06, 0x08, 0x2A, 0xE2, 0x0C, 0x05, 0x20, 0xFA,
        ];
        // STAT's mode 0, and the timer.
        let sources = written(&[(0x41, 8), (0x06, 0x83), (0x07, 5), (0xFF, 6)]);
        let pass = [&vec![0; nops][..], &[0x3E, 0xC0, 0xCD, 0x80, 0xFF, 0x18]].concat();
        let back = 0u8.wrapping_sub(pass.len() as u8 + 1);
        let code = [&copy[..], &sources, &[0xFB], &pass, &[back]].concat();
        let made = Cartridge::new(cartridge(&code, &[(0x200, &wait)])).expect("a cartridge");
        assert_eq!(
            first_difference(&made, 0),
            None,
            "{count} passes, {nops} nops"
        );
    }
}
