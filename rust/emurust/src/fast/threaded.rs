//! Threaded code: each op ends in a call of the next one's handler.
//!
//! Optimised, such a call is a jump, and a run takes no stack. Rust does not promise that. So without
//! optimisation [`Machine::run_blocks`](crate::machine::Machine::run_blocks) goes from op to op, and a
//! test plays the longest run on a small stack.

use crate::fast::block::{Context, Line, ROM};
use crate::fast::decode::{FETCHED, Op, alone, decode, rest};
use crate::fast::handlers::handler;
use crate::memory::mmio::WRAM_BEGINS;
use crate::ppu::LINE;

/// Cycles of the longest instruction.
pub(crate) const LONGEST: i64 = 24;

/// The values that ops hand on: `(at, left, A, HL, op)`. `at` stands for PC and is relative to the
/// code's memory; a number beyond that memory is an address somewhere else. `left` are the cycles
/// left when the block will be over; only code in ROM has blocks.
pub(crate) type Passed = (usize, i64, u8, u16, Op);

type Handler = for<'a, 'b> fn(&'b mut Context<'a>, usize, i64, u8, u16, Op);

/// The handlers by kind of op.
pub(crate) struct Handlers<const KIND: u8>;

macro_rules! sixteens {
    ($($upper:literal)*) => { &[$(
        handler::<KIND, { $upper << 4 }, false>, handler::<KIND, { $upper << 4 | 1 }, false>,
        handler::<KIND, { $upper << 4 | 2 }, false>, handler::<KIND, { $upper << 4 | 3 }, false>,
        handler::<KIND, { $upper << 4 | 4 }, false>, handler::<KIND, { $upper << 4 | 5 }, false>,
        handler::<KIND, { $upper << 4 | 6 }, false>, handler::<KIND, { $upper << 4 | 7 }, false>,
        handler::<KIND, { $upper << 4 | 8 }, false>, handler::<KIND, { $upper << 4 | 9 }, false>,
        handler::<KIND, { $upper << 4 | 10 }, false>, handler::<KIND, { $upper << 4 | 11 }, false>,
        handler::<KIND, { $upper << 4 | 12 }, false>, handler::<KIND, { $upper << 4 | 13 }, false>,
        handler::<KIND, { $upper << 4 | 14 }, false>, handler::<KIND, { $upper << 4 | 15 }, false>,
    )*] };
}

impl<const KIND: u8> Handlers<KIND> {
    pub const ALL: &'static [Handler; 512] = sixteens!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    );
}

/// Goes on with the op at `at`.
#[inline(always)]
pub(crate) fn next_op<const KIND: u8>(c: &mut Context, at: usize, left: i64, a: u8, hl: u16) {
    let op = match KIND {
        ROM => c.ops.get(at).copied(),
        _ => fetch_from_ram(c, at),
    };
    match op {
        Some(op) if left > 0 => run::<KIND>(c, at, left, a, hl, op),
        Some(op) => at_the_end::<KIND>(c, at, left, a, hl, op),
        None => finish(c, at, left, a, hl),
    }
}

/// Runs an op, and with it all that follow.
#[inline(always)]
fn run<const KIND: u8>(c: &mut Context, at: usize, left: i64, a: u8, hl: u16, op: Op) {
    if cfg!(debug_assertions) {
        c.end = (at, left, a, hl, op);
        return;
    }
    Handlers::<KIND>::ALL[(op & 0x1FF) as usize](c, at, left, a, hl, op)
}

#[inline(always)]
fn fetch_from_ram(c: &Context, at: usize) -> Option<Op> {
    let memory: &[u8] = if c.base == WRAM_BEGINS {
        c.wram
    } else {
        c.hram
    };
    let code = memory.get(at..)?.first_chunk::<FETCHED>()?;
    Some(decode(*code))
}

/// The block ends behind the run's end, which may be a line's end. Or the block in progress has to be
/// measured.
#[inline(never)]
fn at_the_end<const KIND: u8>(c: &mut Context, at: usize, mut left: i64, a: u8, hl: u16, op: Op) {
    if c.measured != 0 {
        left -= c.measured;
        c.measured = 0;
        c.line.behind = Some(LINE as i64 - left - rest(op));
        return next_op::<KIND>(c, at, left, a, hl);
    }
    let over = left + rest(op);
    let pc = c.base.wrapping_add(at as u16);
    // No two lines are passed in advance: one is left of a block that is longer.
    let near = over <= 0 || left > -(LINE as i64);
    if !c.last_line && near {
        if c.block_run.goes_on(pc, c.predictor) {
            let behind = None;
            (c.line_before, c.line) = (
                c.line,
                Line {
                    at,
                    op,
                    left,
                    behind,
                },
            );
            let may_be_last = over > 0 && left > -LONGEST && !c.mmio.blank;
            left += LINE as i64;
            if !may_be_last {
                return next_op::<KIND>(c, at, left, a, hl);
            }
            c.measured = 1 - left;
            return run::<KIND>(c, at, 1, a, hl, op);
        }
        c.predictor.learn(pc, false);
        *c.stopped_at = pc;
        c.last_line = true;
    }
    if over <= 0 {
        return finish(c, at, over, a, hl);
    }
    let op = match KIND {
        ROM => alone(op, c.code(), at),
        _ => op,
    };
    run::<KIND>(c, at, left, a, hl, op)
}

/// Ends the run.
#[inline(never)]
pub(crate) fn finish(c: &mut Context, at: usize, left: i64, a: u8, hl: u16) {
    let left = left - c.measured;
    c.end = (at, left, a, hl, 0);
    c.over = true;
}
