//! The serial port, with nothing plugged in.

/// Cycles in which a byte is sent with this side's clock.
const TRANSFER: u64 = 8 * 512;
/// `event` if no transfer ends.
pub(crate) const NEVER: u64 = 1 << 31;

/// The serial port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial {
    pub data: u8,
    pub control: u8,
    pub active: bool,
    pub internal: bool,
    /// The processor's cycle counter at which the transfer ends.
    pub event: u64,
}

impl Serial {
    pub fn new() -> Self {
        Self {
            data: 0xFF,
            control: 0x7E,
            active: false,
            internal: false,
            event: NEVER,
        }
    }

    /// FF02 is written.
    pub fn write_control(&mut self, value: u8, cycles: u64) {
        self.control = value;
        self.active = value & 0x80 != 0;
        self.internal = value & 1 != 0;
        self.event = if self.active && self.internal {
            cycles + TRANSFER
        } else {
            NEVER
        };
    }

    /// Brings the port up to the processor's cycle counter. True if its interrupt is raised.
    #[inline]
    pub fn tick(&mut self, cycles: u64) -> bool {
        if cycles < self.event {
            return false;
        }
        self.active = false;
        self.control &= 0x7F;
        self.event = NEVER;
        true
    }
}
