//! Interrupts, HALT and the instructions that switch interrupts.

use crate::machine::Machine;

impl Machine {
    /// Looks for an interrupt, at the beginning of a slice only. True if one was dispatched.
    #[inline]
    pub(crate) fn look_for_interrupt(&mut self) -> bool {
        if self.interrupt_queued {
            return false;
        }
        let pending = self.interrupt_flags & self.interrupt_enable & 0x1F;
        if pending == 0 {
            return false;
        }
        // PC points at the HALT. If EI was right before it, the handler returns to the HALT.
        if self.halted && !(self.ime && self.halted_behind_ei) {
            self.registers.pc = self.registers.pc.wrapping_add(1);
        }
        self.halted = false;
        let dispatched = self.ime;
        if dispatched {
            self.dispatch();
        }
        dispatched
    }

    fn dispatch(&mut self) {
        self.ime = false;
        self.cycles += 8;
        let [low, high] = self.registers.pc.to_le_bytes();
        self.push_byte(high);
        self.cycles += 4;
        let pending = self.interrupt_flags & self.interrupt_enable & 0x1F;
        if pending == 0 {
            self.registers.pc = 0;
            return;
        }
        let number = pending.trailing_zeros() as u16;
        self.interrupt_flags &= !(1 << number);
        self.push_byte(low);
        self.cycles += 8;
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

    /// EI takes effect behind the next instruction.
    #[inline]
    pub(crate) fn enable_interrupts(&mut self) {
        self.ime_delay = true;
        self.bail |= self.pending();
        self.cycles += 4;
    }

    /// Runs the instruction behind an EI. It may be a DI, and another EI delays nothing further.
    ///
    /// Whether the slice ends here depends on interrupts alone, whatever the instruction wanted: a
    /// HALT that is not the slice's last instruction runs once more.
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
