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
    /// The reload after TIMA's overflow: 1 in the first 4 cycles, in which TIMA reads 0; 2 in the 4 behind
    /// the interrupt, in which it cannot be written; else 0.
    pub reload: u8,
    /// Cycles left of the reload's step.
    pub reload_left: u8,
    /// The processor's cycle counter when the timer was last brought up to it.
    pub last_cycles: u64,
    /// Cycles to the next interrupt, as of the last look.
    pub event: u64,
}

/// Cycles of each step of the reload.
const STEP: u8 = 4;
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
            reload_left: 0,
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

    fn run(&mut self, mut passed: u64) -> bool {
        let mut raised = false;
        while passed > 0 {
            if self.reload == 0 {
                let quiet = passed.min(self.cycles_to_interrupt() - 1);
                self.count(quiet);
                passed -= quiet;
            }
            if passed > 0 {
                raised |= self.cycle();
                passed -= 1;
            }
        }
        raised
    }

    /// Takes so many cycles at once, in which TIMA does not overflow.
    fn count(&mut self, cycles: u64) {
        if self.running() {
            let shift = self.bit() + 1;
            let since_edge = u64::from(self.counter) & ((1 << shift) - 1);
            self.tima += ((since_edge + cycles) >> shift) as u8;
        }
        self.counter = self.counter.wrapping_add(cycles as u16);
    }

    /// Takes one cycle.
    fn cycle(&mut self) -> bool {
        let mut raised = false;
        if self.reload != 0 {
            self.reload_left -= 1;
            if self.reload_left == 0 {
                raised = self.reload_step();
            }
        }
        let before = self.signal();
        self.counter = self.counter.wrapping_add(1);
        self.fall(before);
        raised
    }

    /// Ends a step of the reload.
    fn reload_step(&mut self) -> bool {
        if self.reload == 1 {
            self.reload = 2;
            self.reload_left = STEP;
            true
        } else {
            self.reload = 0;
            false
        }
    }

    /// The signal whose falling edges TIMA counts.
    fn signal(&self) -> bool {
        self.running() && self.counter >> self.bit() & 1 == 1
    }

    /// Counts if the signal was high and is low now.
    fn fall(&mut self, before: bool) {
        if before && !self.signal() {
            self.tima = self.tima.wrapping_add(1);
            if self.tima == 0 {
                self.tima = self.tma;
                self.reload = 1;
                self.reload_left = STEP;
            }
        }
    }

    /// Cycles to the next interrupt, or to the next overflow if that comes first.
    pub fn cycles_to_interrupt(&self) -> u64 {
        if self.reload == 1 {
            return self.reload_left.into();
        }
        if !self.running() {
            return NEVER;
        }
        let bit = self.bit();
        let edges = 0x100 - u64::from(self.tima);
        (edges << (bit + 1)) - (u64::from(self.counter) & ((1 << (bit + 1)) - 1))
    }

    /// Reads FF05.
    pub fn read_tima(&self) -> u8 {
        if self.reload == 1 { 0 } else { self.tima }
    }

    /// Writes FF04; any value does the same.
    pub fn write_div(&mut self) {
        let before = self.signal();
        self.counter = 0;
        self.fall(before);
    }

    /// Writes FF05. In the reload's first step the value takes TMA's place, and the step goes on.
    pub fn write_tima(&mut self, value: u8) {
        if self.reload != 2 {
            self.tima = value;
        }
    }

    /// Writes FF06.
    pub fn write_tma(&mut self, value: u8) {
        self.tma = value;
        if self.reload != 0 {
            self.tima = value;
        }
    }

    /// Writes FF07.
    pub fn write_tac(&mut self, value: u8) {
        let before = self.signal();
        self.tac = value & 7;
        self.fall(before);
    }
}
