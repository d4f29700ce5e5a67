//! The eight buttons and FF00.

/// The joypad. In the nibbles 0 is pressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joypad {
    /// Right, left, up, down from bit 0 on.
    pub directions: u8,
    /// A, B, select, start from bit 0 on.
    pub buttons: u8,
}

impl Joypad {
    pub fn new() -> Self {
        Self {
            directions: 0xF,
            buttons: 0xF,
        }
    }

    /// FF00 as it reads from now on, after `value` was written to it. With both halves selected, or none,
    /// it reads as if no button were held. The bits that select never read as written.
    pub fn selected(&self, value: u8) -> u8 {
        let lines = match value >> 4 & 3 {
            1 => self.buttons,
            2 => self.directions,
            _ => 0xF,
        };
        0xC0 | lines
    }

    /// Holds exactly these buttons: bit 0 A, 1 B, 2 select, 3 start, 4 right, 5 left, 6 up,
    /// 7 down. True if that raises the interrupt: any press does, selected or not.
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
