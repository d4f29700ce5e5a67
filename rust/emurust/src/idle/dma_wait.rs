//! Waiting for OAM DMA the way games do: a countdown in HRAM, taken in one go.

use crate::cpu::registers::{C, N, Z};
use crate::machine::Machine;

/// `jr nz` back to the instruction of one byte before it.
const BACK: [u8; 2] = [0x20, 0xFD];
/// Cycles of `dec` and of a `jr` that jumps.
const PASS: u64 = 16;

impl Machine {
    /// Runs instructions up to `end`, or to one that bails out, while OAM DMA is under way.
    pub(crate) fn run_beside_dma(&mut self, end: u64) {
        while self.cycles < end && !self.bail {
            if !self.dma.active {
                return self.run_fast(end, true);
            }
            if self.ime_delay {
                self.step_behind_ei();
                continue;
            }
            self.skip_count_down(end);
            if self.cycles < end {
                self.step_once();
            }
        }
    }

    /// Skips passes of `dec` of a register with `jr nz` back to it, both in HRAM: as many as end before
    /// the slice does while the loop goes on.
    ///
    /// Each fetch from HRAM copies the bytes that are due. So does the slice's end, before anybody sees
    /// the sprites. The source must not change meanwhile: VRAM may be blocked, cartridge RAM may move.
    fn skip_count_down(&mut self, end: u64) {
        let (steady, pc) = (!(0x80..0xC0).contains(&self.dma.source), self.registers.pc);
        let code = self.hram.get(usize::from(pc.wrapping_sub(0xFF80))..);
        let Some([dec, back @ ..]) = code.and_then(|code| code.first_chunk::<3>()) else {
            return;
        };
        if !steady || *back != BACK {
            return;
        }
        let r = &mut self.registers;
        let counter = match dec {
            0x05 => &mut r.b,
            0x0D => &mut r.c,
            0x15 => &mut r.d,
            0x1D => &mut r.e,
            0x3D => &mut r.a,
            _ => return,
        };
        let going_on = u64::from(counter.wrapping_sub(1));
        let passes = going_on.min((end - self.cycles - 1) / PASS);
        // The flags will be those of the next pass, which begins before the slice ends.
        *counter = counter.wrapping_sub(passes as u8);
        self.cycles += PASS * passes;
        // The last pass does so too, if its second instruction begins before that.
        if passes == going_on && self.cycles + 4 < end {
            *counter = 0;
            r.f = r.f & C | Z | N;
            r.pc += 3;
            self.cycles += PASS - 4;
        }
    }
}
