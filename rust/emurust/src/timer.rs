//! DIV and TIMA: a 16-bit counter of all cycles, and the timer that counts falling edges of one
//! of its bits.

/// The timer. It is lazy: [`Timer::tick`] brings it up to the processor's cycle counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// Counts all cycles; DIV is its upper byte.
    pub counter: u16,
    pub tima: u8,
    pub tma: u8,
    pub tac: u8,
    /// TIMA has overflowed: 1 in the 4 cycles in which it reads 0, 2 in the 4 in which TMA is
    /// loaded, else 0.
    pub reload: u8,
    /// The processor's cycle counter when this unit was brought up to it last.
    pub last_cycles: u64,
    /// Cycles to the next interrupt as of the last look.
    pub event: u64,
}

/// `event` if no interrupt comes.
pub(crate) const NEVER: u64 = 1 << 31;

impl Timer {
    pub fn new() -> Self {
        Self {
            counter: 0,
            tima: 0,
            tma: 0,
            tac: 0,
            reload: 0,
            last_cycles: 0,
            event: 0,
        }
    }

    /// The bit of the counter whose falling edges TIMA counts.
    #[inline(always)]
    fn bit(&self) -> u32 {
        match self.tac & 3 {
            0 => 9,
            1 => 3,
            2 => 5,
            _ => 7,
        }
    }

    #[inline(always)]
    fn running(&self) -> bool {
        self.tac & 4 != 0
    }

    /// Brings the timer up to the processor's cycle counter. True if its interrupt is raised.
    #[inline]
    pub fn tick(&mut self, cycles: u64) -> bool {
        let passed = cycles - self.last_cycles;
        if passed == 0 {
            return false;
        }
        self.last_cycles = cycles;
        let mut raised = false;
        if self.running() || self.reload != 0 {
            raised = self.run(passed);
        } else {
            self.counter = self.counter.wrapping_add(passed as u16);
        }
        self.event = self.cycles_to_interrupt();
        raised
    }

    fn run(&mut self, passed: u64) -> bool {
        let mut raised = false;
        for _ in 0..passed {
            raised |= self.cycle();
        }
        raised
    }

    /// One cycle.
    fn cycle(&mut self) -> bool {
        let before = self.counter >> self.bit() & 1;
        self.counter = self.counter.wrapping_add(1);
        let mut raised = false;
        if self.running() && before == 1 && self.counter >> self.bit() & 1 == 0 {
            raised = self.count();
        }
        raised
    }

    fn count(&mut self) -> bool {
        self.tima = self.tima.wrapping_add(1);
        if self.tima == 0 {
            self.tima = self.tma;
            return true;
        }
        false
    }

    /// Cycles to the next interrupt.
    pub fn cycles_to_interrupt(&self) -> u64 {
        if !self.running() {
            return NEVER;
        }
        let bit = self.bit();
        let edges = 0x100 - u64::from(self.tima);
        (edges << (bit + 1)) - (u64::from(self.counter) & ((1 << (bit + 1)) - 1))
    }

    /// FF04 is written, with whatever value.
    pub fn reset_counter(&mut self) {
        self.counter = 0;
    }
}
