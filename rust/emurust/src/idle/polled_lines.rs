//! A and the flags of a loop that polls LY, line by line, so that each is computed only once.

use crate::cpu::registers::Registers;

/// Lines of a frame.
const LINES: usize = 154;

/// A loop: PC at its beginning, and the registers that it leaves alone. The rest depends on them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Poll {
    pub registers: Registers,
    /// The registers are not told apart, because the loop uses none other than A.
    pub only_a: bool,
    /// The ROM banks that are switched in; a loop may lie in both.
    pub banks: (usize, usize),
    /// Cycles of a pass.
    pub cycles: u64,
}

/// The observed behaviour of the last loop that polled LY and read nothing else.
#[derive(Clone)]
pub(crate) struct PolledLines {
    poll: Option<Poll>,
    /// A and F after passes that read this LY.
    after: [[u8; 2]; LINES],
    /// Whether passes that read this LY after the LY before lead to these values.
    follows: [bool; LINES],
}

impl PolledLines {
    pub fn new() -> Self {
        Self {
            poll: None,
            after: [[0; 2]; LINES],
            follows: [false; LINES],
        }
    }

    /// Forgets everything unless this is still the same loop. A and F do not matter.
    pub fn look_at(&mut self, mut poll: Poll) {
        (poll.registers.a, poll.registers.f) = (0, 0);
        if self.poll != Some(poll) {
            self.poll = Some(poll);
            self.follows = [false; LINES];
        }
    }

    /// The registers in line `ly`, if they are known for these registers in the line before.
    pub fn next(&self, before: Registers, ly: u8) -> Option<Registers> {
        let ly = usize::from(ly);
        let known = self.follows[ly] && self.after[ly - 1] == [before.a, before.f];
        let [a, f] = self.after[ly];
        known.then_some(Registers { a, f, ..before })
    }

    /// Remembers that the registers `before` in the line before become `after` in line `ly`.
    pub fn keep(&mut self, before: Registers, ly: u8, after: Registers) {
        let ly = usize::from(ly);
        if (Registers {
            a: before.a,
            f: before.f,
            ..after
        }) != before
        {
            return;
        }
        for (line, registers) in [(ly - 1, before), (ly, after)] {
            let both = [registers.a, registers.f];
            if self.after[line] != both {
                // The next line's values followed from others in this line.
                self.after[line] = both;
                self.follows[line] = false;
                if let Some(next) = self.follows.get_mut(line + 1) {
                    *next = false;
                }
            }
        }
        self.follows[ly] = true;
    }
}
