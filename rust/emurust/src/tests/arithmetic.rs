//! Lazy flags are the flags of the plain arithmetic.

use crate::cpu::lazy_flags::LazyFlags;
use crate::cpu::registers::Registers;

/// Registers with each set of flags.
fn flagged(a: u8) -> impl Iterator<Item = Registers> {
    (0..16).map(move |flags| Registers {
        a,
        f: flags << 4,
        ..Registers::handed_over()
    })
}

/// Compares results and flags for every A, operand and set of flags.
macro_rules! same {
    ($($operation:ident)*) => { $(
        for (a, value) in (0..=255).flat_map(|a| (0..=255).map(move |value| (a, value))) {
            for mut plain in flagged(a) {
                let mut flags = LazyFlags::of(plain.f);
                let lazy = flags.$operation(a, value);
                plain.$operation(value);
                let name = stringify!($operation);
                assert_eq!((lazy, flags.byte()), (plain.a, plain.f), "{name} {a} {value}");
            }
        }
    )* };
}

/// The same for every value and set of flags.
macro_rules! same_of_one {
    ($($operation:ident)*) => { $(
        for value in 0..=255 {
            for mut plain in flagged(0) {
                let mut flags = LazyFlags::of(plain.f);
                let lazy = flags.$operation(value);
                let expected = plain.$operation(value);
                let name = stringify!($operation);
                assert_eq!((lazy, flags.byte()), (expected, plain.f), "{name} {value}");
            }
        }
    )* };
}

#[test]
fn eight_bits_with_eight_bits_give_the_same() {
    same!(add adc sub sbc and xor or cp);
}

#[test]
fn eight_bits_alone_give_the_same() {
    same_of_one!(inc dec rlc rrc rl rr sla sra swap srl);
    for value in 0..=255 {
        for plain in flagged(value) {
            let mut corrected = plain;
            corrected.daa();
            let mut flags = LazyFlags::of(plain.f);
            let lazy = flags.daa(value);
            assert_eq!(
                (lazy, flags.byte()),
                (corrected.a, corrected.f),
                "daa {value}"
            );
            for bit in 0..8 {
                let (mut looked, mut flags) = (plain, LazyFlags::of(plain.f));
                looked.bit(value, 1 << bit);
                flags.bit(value, 1 << bit);
                assert_eq!(flags.byte(), looked.f, "bit {bit} {value}");
            }
        }
    }
}

#[test]
fn sixteen_bits_give_the_same() {
    let edges = [
        0, 1, 0xFE, 0xFF, 0x100, 0x7FF, 0x800, 0xFFF, 0x1000, 0x7FFF, 0x8000, 0xFFFF,
    ];
    for plain in flagged(0) {
        for (hl, value) in edges.iter().flat_map(|hl| edges.map(|value| (*hl, value))) {
            let (mut sum, mut flags) = (Registers { hl, ..plain }, LazyFlags::of(plain.f));
            let lazy = flags.add_hl(hl, value);
            sum.add_hl(value);
            assert_eq!(
                (lazy, flags.byte()),
                (sum.hl, sum.f),
                "{hl:04X} + {value:04X}"
            );
        }
        for (sp, value) in edges
            .iter()
            .flat_map(|sp| (0..=255).map(|value| (*sp, value)))
        {
            let (mut sum, mut flags) = (Registers { sp, ..plain }, LazyFlags::of(plain.f));
            let lazy = flags.sp_plus(sp, value);
            let expected = sum.sp_plus(value);
            assert_eq!(
                (lazy, flags.byte()),
                (expected, sum.f),
                "SP {sp:04X} + {value}"
            );
        }
    }
}
