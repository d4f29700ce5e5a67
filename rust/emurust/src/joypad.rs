//! The eight buttons and FF00.

/// The joypad. In the nibbles 0 is pressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joypad {
    /// Right, left, up, down from bit 0 on.
    pub directions: u8,
    /// A, B, select, start from bit 0 on.
    pub buttons: u8,
    /// FF00 as it reads: computed when it is written, not when a button changes.
    pub register: u8,
}

impl Joypad {
    pub fn new() -> Self {
        Self {
            directions: 0xF,
            buttons: 0xF,
            register: 0,
        }
    }

    /// What FF00 becomes when `value` is written.
    pub fn selected(&self, value: u8) -> u8 {
        let mut lines = 0xF;
        if value & 0x10 == 0 {
            lines &= self.directions;
        }
        if value & 0x20 == 0 {
            lines &= self.buttons;
        }
        0xC0 | value & 0x30 | lines
    }

    /// Holds exactly these buttons: bit 0 A, 1 B, 2 select, 3 start, 4 right, 5 left, 6 up,
    /// 7 down. True if that raises the interrupt.
    pub fn hold(&mut self, pressed: u8) -> bool {
        let buttons = !pressed & 15;
        let directions = !pressed >> 4;
        let fell = self.buttons & !buttons | self.directions & !directions;
        self.buttons = buttons;
        self.directions = directions;
        fell != 0
    }

    /// The buttons held, as [`Joypad::hold`] takes them.
    pub fn held(&self) -> u8 {
        !(self.buttons | self.directions << 4)
    }
}
