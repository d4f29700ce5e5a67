//! Random programs that wait: for LY, STAT, a flag or an interrupt, with everything that may disturb them.

const SIZE: usize = 0x8000;
/// Set by the interrupts' routine.
const FLAG: u16 = 0xC000;

/// Numbers that look random, by a seed (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: u64) -> u8 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ x >> 31) % count) as u8
    }

    fn one(&mut self, of: &[u8]) -> u8 {
        of[usize::from(self.below(of.len() as u64))]
    }
}

struct Program {
    rom: Vec<u8>,
    at: usize,
    draw: Draw,
}

impl Program {
    fn emit(&mut self, bytes: &[u8]) {
        self.rom[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn set(&mut self, register: u8, value: u8) {
        self.emit(&[0x3E, value, 0xE0, register]); // ld a, n; ldh [n], a
    }

    fn nops(&mut self, below: u64) {
        for _ in 0..self.draw.below(below) {
            self.emit(&[0x00]);
        }
    }

    /// A conditional jump back.
    fn back(&mut self, to: usize) {
        let away = (to as i64 - self.at as i64 - 2) as u8;
        let code = self.draw.one(&[0x20, 0x20, 0x20, 0x28, 0x30, 0x38]);
        if self.draw.below(4) == 0 {
            // Out by one jump, back by another.
            self.emit(&[code ^ 0x08, 2, 0x18, away.wrapping_sub(2)]);
        } else {
            self.emit(&[code, away]);
        }
    }

    fn wait_for_line(&mut self) {
        let line = self.draw.below(154);
        let kind = self.draw.below(5);
        match kind {
            0 => self.emit(&[0x21, 0x44, 0xFF, 0x3E, line]), // ld hl, LY; ld a, n
            1 => self.emit(&[0x06, line]),                   // ld b, n
            2 => self.emit(&[0x3E, line, 0xEA, 0x10, 0xC0]), // a variable
            _ => {}
        }
        let start = self.at;
        match kind {
            0 => self.emit(&[0xBE]),                               // cp [hl]
            1 => self.emit(&[0xFA, 0x44, 0xFF, 0xB8]),             // ld a, [LY]; cp b
            2 => self.emit(&[0xF0, 0x44, 0x21, 0x10, 0xC0, 0xBE]), // compare with the variable
            _ => self.emit(&[0xF0, 0x44, 0xFE, line]),             // ldh a, [LY]; cp n
        }
        self.nops(5);
        self.back(start);
    }

    fn wait_for_status(&mut self) {
        let start = self.at;
        match self.draw.below(3) {
            0 => {
                let (mask, value) = (self.draw.one(&[3, 3, 4, 7]), self.draw.below(4));
                self.emit(&[0xF0, 0x41, 0xE6, mask, 0xFE, value]);
            }
            1 => {
                let bit = self.draw.below(3);
                self.emit(&[0xF0, 0x41, 0xCB, 0x47 | bit << 3]); // bit n, a
            }
            _ => {
                let bit = self.draw.below(3);
                self.emit(&[0x21, 0x41, 0xFF]);
                self.emit(&[0xCB, 0x46 | bit << 3]); // bit n, [hl]
            }
        }
        self.nops(3);
        self.back(start);
    }

    fn wait_for_flag(&mut self) {
        self.set(0xFF, 0x1F);
        let tac = 4 | self.draw.below(4);
        self.set(0x07, tac);
        self.emit(&[0xAF, 0xEA, 0, 0xC0, 0xFB]); // xor a; ld [FLAG], a; ei
        let start = self.at;
        self.emit(&[0xFA, 0, 0xC0, 0xB7]); // ld a, [FLAG]; or a
        self.nops(4);
        let away = (start as i64 - self.at as i64 - 2) as u8;
        self.emit(&[0x28, away]);
    }

    fn wait_for_request(&mut self) {
        self.emit(&[0xF3]); // di
        let start = self.at;
        let mask = self.draw.one(&[0x01, 0x02, 0x03, 0x07]);
        self.emit(&[0xF0, 0x0F, 0xE6, mask]);
        self.nops(2);
        let away = (start as i64 - self.at as i64 - 2) as u8;
        self.emit(&[0x28, away]);
        self.set(0x0F, 0);
    }

    fn halt(&mut self) {
        let enabled = 1 | self.draw.below(32);
        self.set(0xFF, enabled);
        if self.draw.below(4) == 0 {
            self.set(0x0F, 0);
        }
        let how = self.draw.one(&[0xF3, 0xFB, 0x00]);
        self.emit(&[how]);
        self.nops(2);
        self.emit(&[0x76, 0x00]);
    }

    fn disturb(&mut self) {
        let any = self.draw.below(256);
        let (register, value) = match self.draw.below(16) {
            0 => (
                0x41,
                self.draw
                    .one(&[0, 0, 0, 0x08, 0x10, 0x20, 0x40, 0x40, 0x50]),
            ),
            1 => (0x45, self.draw.below(160)),
            2 => (0x43, any),
            3 => (0x42, any),
            4 => (0x4A, self.draw.below(150)),
            5 => (0x4B, self.draw.below(170)),
            6 => (0x07, self.draw.below(8)),
            7 => (0x06, any),
            8 => (0x05, any),
            9 => (0x04, 0),
            10 => (0x02, self.draw.one(&[0x81, 0x80, 0x01])),
            11 => (0x46, 0xC0),
            12 => (0x0F, any & 0x1F),
            13 => (0x40, 0x80 | any),
            14 => (0x47, any),
            _ => {
                if self.draw.below(8) == 0 {
                    self.set(0x40, any & 0x7F); // the LCD off, and soon on again
                    self.delay();
                }
                (0x40, 0x80 | any)
            }
        };
        self.set(register, value);
    }

    /// A write right behind EI, which does not end a slice, and often another one soon.
    fn disturb_behind_ei(&mut self) {
        let any = self.draw.below(256);
        let register = self
            .draw
            .one(&[0x04, 0x05, 0x05, 0x07, 0x07, 0x02, 0x40, 0x41, 0x45, 0x0F]);
        let value = match register {
            0x07 => self.draw.below(8),
            0x02 => self.draw.one(&[0x81, 0x80]),
            0x40 => self.draw.one(&[0x91, 0xB3, 0x11]),
            0x05 => self.draw.one(&[0xFF, 0xFE, 0xF0, any]),
            _ => any,
        };
        self.emit(&[0x3E, value, 0xFB, 0xE0, register]); // ld a, n; ei; ldh [n], a
        self.nops(6);
        match self.draw.below(4) {
            0 => self.emit(&[0xE0, 0x00]),                // ldh [P1], a
            1 => self.emit(&[0x21, 0x00, 0xFF, 0x36, 0]), // ld hl, P1; ld [hl], 0
            2 => self.emit(&[0xF3]),
            _ => {}
        }
        self.delay();
        if register == 0x40 {
            self.set(0x40, 0x91);
        }
    }

    /// Waits for a line below that in a register, and asks only while a bit of LY is set. An interrupt may
    /// change it.
    fn wait_by_register(&mut self) {
        let (bit, line) = (self.draw.below(8), self.draw.below(150));
        let register = self.draw.below(4);
        if self.draw.below(2) == 0 {
            self.emit(&[0x06 | register << 3, line]);
        }
        self.emit(&[0xB7]); // or a
        let start = self.at;
        // ldh a, [LY]; bit n, a; jr z, behind the comparison; cp r
        self.emit(&[0xF0, 0x44, 0xCB, 0x47 | bit << 3, 0x28, 1, 0xB8 | register]);
        self.nops(2);
        let away = (start as i64 - self.at as i64 - 2) as u8;
        let code = self.draw.one(&[0x30, 0x20]);
        self.emit(&[code, away]);
    }

    /// Counts down; not always by the shortest loop.
    fn delay(&mut self) {
        let (register, count) = (self.draw.one(&[0, 1, 2, 3, 7]), self.draw.below(256));
        self.emit(&[0x06 | register << 3, count]);
        let start = self.at;
        self.emit(&[0x05 | register << 3]);
        if self.draw.below(4) == 0 {
            self.nops(2);
        }
        let away = (start as i64 - self.at as i64 - 2) as u8;
        self.emit(&[0x20, away]);
    }

    /// Writes bytes into OAM, tiles or WRAM, which OAM DMA may copy.
    fn fill(&mut self) {
        let place = self.draw.one(&[0xFE, 0xC0, 0x80, 0x98]);
        let (low, count, step) = (
            self.draw.below(96),
            self.draw.below(60),
            self.draw.below(256),
        );
        self.emit(&[0x21, low | 1, place, 0x06, count | 1]);
        self.emit(&[0x22, 0xC6, step, 0x05, 0x20, 0xFA]); // ld [hl+], a; add n; dec b; jr nz
    }

    /// A routine at FF80 that begins OAM DMA from A and waits, not always to its end.
    fn routine(&mut self) {
        let (register, count) = (self.draw.one(&[0, 1, 2, 3, 7]), self.draw.below(64));
        let code = [
            0xE0,
            0x46,
            0x06 | register << 3,
            count,
            0x05 | register << 3,
            0x20,
            0xFD,
            0xC9,
        ];
        for (place, byte) in (0x80..).zip(code) {
            self.set(place, byte);
        }
    }

    fn transfer(&mut self) {
        let source = self
            .draw
            .one(&[0xC0, 0xC0, 0xDF, 0x80, 0x98, 0xA0, 0xFE, 0x02]);
        self.emit(&[0x3E, source, 0xCD, 0x80, 0xFF]); // ld a, n; call FF80
    }

    fn interrupt(&mut self) {
        self.emit(&[0xF5, 0x3E, 1, 0xEA, FLAG as u8, (FLAG >> 8) as u8]);
        if self.draw.below(3) == 0 {
            let (register, line) = (self.draw.below(4), self.draw.below(150));
            self.emit(&[0x06 | register << 3, line]);
        }
        if self.draw.below(3) == 0 {
            self.emit(&[0xF0, 0x44, 0xE0, 0x43]); // SCX by LY
        }
        self.emit(&[0xF1, 0xD9]);
    }
}

/// A cartridge of 32 KB without a mapper; the same for the same seed.
pub(crate) fn waiting_program(seed: u64) -> Vec<u8> {
    let mut p = Program {
        rom: vec![0; SIZE],
        at: 0x200,
        draw: Draw(seed),
    };
    for vector in (0x40..0x68).step_by(8) {
        let [low, high, ..] = p.at.to_le_bytes();
        p.rom[vector..vector + 3].copy_from_slice(&[0xC3, low, high]);
        p.interrupt();
    }
    let [low, high, ..] = p.at.to_le_bytes();
    p.rom[0x101..0x104].copy_from_slice(&[0xC3, low, high]);
    p.emit(&[0x31, 0xF0, 0xDF]);
    p.routine();
    let again = p.at;
    for _ in 0..40 {
        match p.draw.below(16) {
            0..3 => p.wait_for_line(),
            3 | 4 => p.wait_for_status(),
            5 => p.wait_for_flag(),
            6 => p.wait_for_request(),
            7 => p.halt(),
            8 => p.delay(),
            9 => p.fill(),
            10 => p.transfer(),
            11 | 12 => p.disturb_behind_ei(),
            13 => p.wait_by_register(),
            _ => p.disturb(),
        }
        p.nops(4);
    }
    let [low, high, ..] = again.to_le_bytes();
    p.emit(&[0xC3, low, high]);
    let sum = p.rom[0x134..0x14D]
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_sub(byte.wrapping_add(1)));
    p.rom[0x14D] = sum;
    p.rom
}
