//! The machine within an op, with the registers at hand; its methods are what instructions are made of.
//!
//! All of them are inlined into the handlers, where their arguments are constants.

mod arithmetic;
mod branches;
mod memory;

use crate::cpu::lazy_flags::LazyFlags;
use crate::fast::block::{Context, ROM};
use crate::fast::decode::rest;

/// Registers of 8 bits.
#[derive(Clone, Copy)]
pub(crate) enum Register {
    A,
    B,
    C,
    D,
    E,
    H,
    L,
}

/// Registers of 16 bits.
#[derive(Clone, Copy)]
pub(crate) enum Pair {
    AF,
    BC,
    DE,
    HL,
    SP,
}

/// Why an op does not go on to the next one.
pub(crate) enum Exit {
    /// Another instruction is due: only the authority can run this one.
    Stop,
    /// The address is neither in ROM nor in RAM. The code for that is compiled apart: a call in
    /// between would cost every op the saving of registers.
    Mmio,
    /// The rest of a superop wants an address that is not in RAM: its instructions go one by one.
    Split,
}

/// An instruction, or a piece of one, that may not be possible here.
pub(crate) type Done = Result<(), Exit>;

/// The machine within an op. `KIND` says where the code lies; `MMIO` is set where an address
/// outside ROM and RAM may be tried.
pub(crate) struct Live<'c, 'm, const KIND: u8, const MMIO: bool> {
    pub c: &'c mut Context<'m>,
    /// PC, relative to the code's memory.
    pub at: usize,
    /// Stands for the cycle counter: cycles left when the block in progress will be over.
    pub left: i64,
    pub a: u8,
    pub hl: u16,
    /// The op's operand.
    pub word: u16,
}

#[inline(always)]
fn value_of(register: Register, a: u8, hl: u16, bc: u16, de: u16) -> u8 {
    match register {
        Register::A => a,
        Register::B => (bc >> 8) as u8,
        Register::C => bc as u8,
        Register::D => (de >> 8) as u8,
        Register::E => de as u8,
        Register::H => (hl >> 8) as u8,
        Register::L => hl as u8,
    }
}

impl<const KIND: u8, const MMIO: bool> Live<'_, '_, KIND, MMIO> {
    /// The operand's lower byte.
    #[inline(always)]
    pub fn low(&self) -> u8 {
        self.word as u8
    }

    /// The operand's upper byte.
    #[inline(always)]
    pub fn high(&self) -> u8 {
        (self.word >> 8) as u8
    }

    #[inline(always)]
    pub fn get(&self, register: Register) -> u8 {
        value_of(register, self.a, self.hl, self.c.bc, self.c.de)
    }

    #[inline(always)]
    fn set(&mut self, register: Register, value: u8) {
        let wide = u16::from(value);
        match register {
            Register::A => self.a = value,
            Register::B => self.c.bc = wide << 8 | self.c.bc & 0xFF,
            Register::C => self.c.bc = self.c.bc & 0xFF00 | wide,
            Register::D => self.c.de = wide << 8 | self.c.de & 0xFF,
            Register::E => self.c.de = self.c.de & 0xFF00 | wide,
            Register::H => self.hl = wide << 8 | self.hl & 0xFF,
            Register::L => self.hl = self.hl & 0xFF00 | wide,
        }
    }

    #[inline(always)]
    fn get_pair(&self, pair: Pair) -> u16 {
        match pair {
            Pair::AF => u16::from_be_bytes([self.a, self.c.flags.byte()]),
            Pair::BC => self.c.bc,
            Pair::DE => self.c.de,
            Pair::HL => self.hl,
            Pair::SP => self.c.sp,
        }
    }

    #[inline(always)]
    fn set_pair(&mut self, pair: Pair, value: u16) {
        match pair {
            Pair::AF => {
                let [f, a] = value.to_le_bytes();
                self.a = a;
                self.c.flags = LazyFlags::of(f);
            }
            Pair::BC => self.c.bc = value,
            Pair::DE => self.c.de = value,
            Pair::HL => self.hl = value,
            Pair::SP => self.c.sp = value,
        }
    }

    #[inline(always)]
    pub fn put(&mut self, to: Register, value: u8, length: usize, cycles: i64) {
        self.set(to, value);
        self.next(length, cycles);
    }

    #[inline(always)]
    pub fn put_pair(&mut self, to: Pair, value: u16, length: usize, cycles: i64) {
        self.set_pair(to, value);
        self.next(length, cycles);
    }

    /// Ends the instruction.
    #[inline(always)]
    pub fn next(&mut self, length: usize, cycles: i64) {
        self.at += length;
        if KIND != ROM {
            self.left -= cycles;
        }
    }

    /// Counts the rest of the new block.
    #[inline(always)]
    fn enter_block(&mut self) {
        if KIND == ROM {
            self.left -= self.c.ops.get(self.at).map_or(0, |op| rest(*op));
        }
    }

    /// Ends a branch that is not taken.
    #[inline(always)]
    fn pass_by(&mut self, length: usize, cycles: i64) {
        self.next(length, cycles);
        self.enter_block();
    }
}
