//! The serial port, with nothing plugged in.

/// Cycles from the write to FF02 to the end of the transfer.
const TRANSFER: u64 = 1024;
/// `event` if this side's clock is not selected.
pub(crate) const NEVER: u64 = 1 << 31;

/// The serial port. FF01 always reads FF, so it is not kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial {
    /// FF02 as it reads.
    pub control: u8,
    /// A transfer is under way.
    pub active: bool,
    /// The transfer runs by this side's clock.
    pub internal: bool,
    /// The processor's cycle counter at which the transfer ends.
    pub event: u64,
}

impl Serial {
    pub fn new() -> Self {
        Self {
            control: 0x7E,
            active: false,
            internal: false,
            event: NEVER,
        }
    }

    /// Writes FF02.
    pub fn write_control(&mut self, value: u8, cycles: u64) {
        self.control = value | 0x7E;
        self.active = value & 0x81 == 0x81;
        self.internal = value & 1 != 0;
        // An event is set even if nothing is sent. It then stays, and passes without effect.
        self.event = if self.internal {
            cycles + TRANSFER
        } else {
            NEVER
        };
    }

    /// Cycles until a transfer ends.
    #[inline]
    pub fn cycles_to_event(&self, cycles: u64) -> u64 {
        if self.active {
            self.event.saturating_sub(cycles)
        } else {
            NEVER
        }
    }

    /// Brings the port up to the processor's cycle counter. True if its interrupt is raised.
    #[inline]
    pub fn tick(&mut self, cycles: u64) -> bool {
        if !self.active || cycles < self.event {
            return false;
        }
        self.active = false;
        self.control &= 0x7F;
        self.event = NEVER;
        true
    }
}
