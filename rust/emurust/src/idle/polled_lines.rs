//! What a loop that polls LY has in A and the flags, line by line, so that it is found out once.

use crate::cpu::registers::Registers;

/// Lines of a frame.
const LINES: usize = 154;

/// A loop, which begins at PC, and the registers that it does not change: for these the rest holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Poll {
    pub registers: Registers,
    /// They are not told apart, as it uses no register but A.
    pub only_a: bool,
    /// The banks of ROM that are switched in, of which a loop may lie in both.
    pub banks: (usize, usize),
    /// Cycles of a pass.
    pub cycles: u64,
}

/// What the last loop that polled LY and read nothing else was seen to do.
#[derive(Clone)]
pub(crate) struct PolledLines {
    poll: Option<Poll>,
    /// A and F after passes that read this LY.
    after: [[u8; 2]; LINES],
    /// Passes that read this LY, after those that read the one before, lead to that.
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

    /// Forgets everything unless the loop is still this one. A and F do not matter.
    pub fn look_at(&mut self, mut poll: Poll) {
        (poll.registers.a, poll.registers.f) = (0, 0);
        if self.poll != Some(poll) {
            self.poll = Some(poll);
            self.follows = [false; LINES];
        }
    }

    /// The registers in line `ly`, if those in the line before were `before` and that is known.
    pub fn next(&self, before: Registers, ly: u8) -> Option<Registers> {
        let ly = usize::from(ly);
        let known = self.follows[ly] && self.after[ly - 1] == [before.a, before.f];
        let [a, f] = self.after[ly];
        known.then_some(Registers { a, f, ..before })
    }

    /// Keeps that the registers `before` in the line before become `after` in line `ly`.
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
                // What was known of the next line had another line before it.
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
