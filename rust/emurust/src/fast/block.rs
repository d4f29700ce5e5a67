//! A block run: plain instructions one after the other, with the registers at hand.
//!
//! Most instructions touch only registers, ROM, WRAM and HRAM. Nothing there looks at a clock, so it
//! does not matter when within an instruction its cycles are counted. [`Machine::run_blocks`] runs
//! these until it meets another one. [`Machine::step`] then runs that; it remains the authority.

use crate::cpu::lazy_flags::LazyFlags;
use crate::fast::decode::{Op, late_cycles, rest};
use crate::fast::entry::BlockRun;
use crate::fast::threaded::{Handlers, LONGEST, Passed, next_op};
use crate::idle::predictor::IdlePredictor;
use crate::machine::Machine;
use crate::memory::cartridge::BANK;
use crate::memory::mmio::{HRAM_BEGINS, Mmio, WRAM_BEGINS};
use crate::ppu::LINE;

/// Where code lies: what the handlers are compiled for. In RAM, which is WRAM or HRAM, each
/// instruction is decoded as it comes.
pub(crate) const ROM: u8 = 0;
pub(crate) const RAM: u8 = 1;

/// The state that all ops of a run see, besides what they hand on to each other.
pub(crate) struct Context<'a> {
    pub bc: u16,
    pub de: u16,
    pub sp: u16,
    pub flags: LazyFlags,
    /// Where the memory of the code begins.
    pub base: u16,
    pub ops: &'a [Op; BANK],
    pub wram: &'a mut [u8; 8192],
    pub hram: &'a mut [u8; 127],
    pub lower: &'a [u8; BANK],
    pub upper: &'a [u8; BANK],
    pub mmio: Mmio<'a>,
    /// An interrupt waits; it comes if interrupts are on.
    pub pending: bool,
    pub ime: bool,
    pub block_run: &'a mut BlockRun,
    pub predictor: &'a mut IdlePredictor,
    pub stopped_at: &'a mut u16,
    /// The last line that was passed, and the one before.
    pub line: Line,
    pub line_before: Line,
    /// Not 0 while the end of a block is being measured: this much was added to `left`, which is 1 up
    /// to the block's end and less behind it.
    pub measured: i64,
    /// The run does not go on by another line.
    pub last_line: bool,
    /// The state as the run ended. Without optimisation, also the op that comes next.
    pub end: Passed,
    pub over: bool,
}

/// A line that a run passed: the op from which a block went on behind the line's end, and `left` at
/// that moment. A line is passed before its end is reached.
#[derive(Clone, Copy, Default)]
pub(crate) struct Line {
    pub at: usize,
    pub op: Op,
    pub left: i64,
    /// How far behind the line's end the block ended. It may have ended in a branch, whose time is not
    /// known before.
    pub behind: Option<i64>,
}

impl Context<'_> {
    /// The bank that the code is in.
    pub fn code(&self) -> &[u8; BANK] {
        if self.base == 0 {
            self.lower
        } else {
            self.upper
        }
    }

    /// Takes back the last line if the run ended before that line's end.
    fn give_back(&mut self, more: u64) {
        if self.block_run.more < more && self.end.1 > LINE as i64 {
            self.end.1 -= LINE as i64;
            self.block_run.end -= LINE;
            self.block_run.more += 1;
            self.line = self.line_before;
        }
    }

    /// [`BlockRun::late_cycles`], where the run ends so soon behind the line that it matters.
    fn late_cycles(&self) -> u64 {
        let passed = LINE as i64 - self.end.1;
        let Line {
            at,
            op,
            left,
            behind,
        } = self.line;
        if passed >= 2 * LONGEST {
            return 0;
        }
        let within = late_cycles(self.code(), at, op, left);
        within.unwrap_or(behind.unwrap_or(passed).unsigned_abs())
    }
}

impl Machine {
    /// Runs plain instructions up to the end; `KIND` says where the code lies. The run does not go on
    /// to a further line if the program has stayed in one place, where it may wait.
    pub(crate) fn run_blocks<const KIND: u8>(&mut self, block_run: &mut BlockRun) {
        let pending = self.interrupt_flags & self.interrupt_enable & 0x1F != 0;
        let calm = block_run.quiet && !(self.ime && pending);
        let BlockRun {
            open,
            blank,
            end,
            more,
            ..
        } = *block_run;
        let r = &mut self.registers;
        let rom = &self.cartridge.rom;
        let (base, place) = match r.pc {
            0..0x4000 => (0, self.lower_rom),
            0x4000..0x8000 => (0x4000, self.upper_rom),
            WRAM_BEGINS..0xE000 => (WRAM_BEGINS, 0),
            _ => (HRAM_BEGINS, 0),
        };
        let (Some(lower), Some(upper), Some(ops)) = (
            rom[self.lower_rom..].first_chunk::<BANK>(),
            rom[self.upper_rom..].first_chunk::<BANK>(),
            self.cartridge.code(place).first_chunk::<BANK>(),
        ) else {
            return;
        };
        let at = usize::from(r.pc - base);
        let block = if KIND == ROM { rest(ops[at]) } else { 0 };
        let mut context = Context {
            bc: r.bc(),
            de: r.de(),
            sp: r.sp,
            flags: LazyFlags::of(r.f),
            base,
            ops,
            wram: &mut self.wram,
            hram: &mut self.hram,
            lower,
            upper,
            mmio: Mmio {
                vram: &mut self.ppu.vram,
                oam: &mut self.ppu.oam,
                p1: &mut self.io_written[0],
                joypad: self.joypad,
                scroll: (&mut self.ppu.scy, &mut self.ppu.scx),
                open,
                blank,
                calm,
            },
            pending,
            ime: self.ime,
            block_run,
            predictor: &mut self.line_predictor,
            stopped_at: &mut self.stopped_at,
            line: Line::default(),
            line_before: Line::default(),
            measured: 0,
            last_line: false,
            end: (at, 0, r.a, r.hl, 0),
            over: false,
        };
        let c = &mut context;
        let left = (end - self.cycles) as i64 - block;
        next_op::<KIND>(c, at, left, r.a, r.hl);
        while !c.over {
            let (at, left, a, hl, op) = c.end;
            Handlers::<KIND>::ALL[(op & 0x1FF) as usize](c, at, left, a, hl, op);
        }
        context.give_back(more);
        context.block_run.late_cycles = context.late_cycles();
        self.ime = context.ime;
        let (at, left, a, hl, _) = context.end;
        (r.a, r.f, r.hl, r.sp) = (a, context.flags.byte(), hl, context.sp);
        r.set_bc(context.bc);
        r.set_de(context.de);
        r.pc = base.wrapping_add(at as u16);
        self.cycles = block_run.end.wrapping_add_signed(-left);
    }
}
