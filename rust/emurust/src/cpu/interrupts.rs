//! Interrupts, HALT and the instructions that switch interrupts.

use crate::machine::Machine;

impl Machine {
    /// Looks for an interrupt, at the beginning of a slice only. True if one was dispatched.
    #[inline]
    pub(crate) fn look_for_interrupt(&mut self) -> bool {
        if self.interrupt_queued {
            // Only possible in a state that was made by hand.
            self.interrupt_queued = false;
            self.wake();
            return false;
        }
        if self.ime_delay || !self.pending() {
            return false;
        }
        // If EI came right before the HALT, the handler returns to the HALT.
        if self.ime && self.halted_behind_ei {
            self.halted = false;
        }
        self.wake();
        let dispatched = self.ime;
        if dispatched {
            self.dispatch();
        }
        dispatched
    }

    /// Ends a HALT, at which PC points.
    fn wake(&mut self) {
        if self.halted {
            self.halted = false;
            self.registers.pc = self.registers.pc.wrapping_add(1);
        }
    }

    /// Dispatches in 20 cycles, all of them after the writes. The interrupt is chosen between the two
    /// writes, for the first one may change IE or IF.
    fn dispatch(&mut self) {
        self.ime = false;
        let [low, high] = self.registers.pc.to_le_bytes();
        self.push_byte(high);
        let pending = self.interrupt_flags & self.interrupt_enable & 0x1F;
        if pending == 0 {
            // None is left: no time passes and SP stays.
            self.registers.sp = self.registers.sp.wrapping_add(1);
            self.registers.pc = 0;
            return;
        }
        let number = pending.trailing_zeros() as u16;
        self.interrupt_flags &= !(1 << number);
        self.push_byte(low);
        self.cycles += 20;
        self.registers.pc = 0x40 + 8 * number;
    }

    /// Whether an enabled interrupt waits.
    #[inline(always)]
    pub(crate) fn pending(&self) -> bool {
        self.interrupt_flags & self.interrupt_enable & 0x1F != 0
    }

    #[inline]
    pub(crate) fn halt(&mut self) {
        self.halted = true;
        self.halted_behind_ei = false;
        self.bail = true;
        // PC stays at the HALT.
        self.registers.pc = self.registers.pc.wrapping_sub(1);
        self.cycles += 4;
    }

    #[inline]
    pub(crate) fn disable_interrupts(&mut self) {
        self.ime = false;
        self.ime_delay = false;
        self.cycles += 4;
    }

    /// EI takes effect after the next instruction.
    #[inline]
    pub(crate) fn enable_interrupts(&mut self) {
        self.ime_delay = true;
        self.cycles += 4;
    }

    /// Runs the instruction behind an EI. It may be a DI. Another EI delays nothing further.
    ///
    /// Whether the slice ends here depends on interrupts alone, even if the instruction bails out: a HALT
    /// that is not the slice's last instruction runs once more.
    pub(crate) fn step_behind_ei(&mut self) {
        self.step();
        if self.ime_delay {
            self.ime_delay = false;
            self.ime = true;
            self.halted_behind_ei = self.halted;
            self.bail = self.pending();
        }
    }

    #[inline]
    pub(crate) fn return_and_enable(&mut self) {
        self.ime = true;
        self.bail |= self.pending();
        self.cycles += 4;
        self.return_from_call();
    }
}
