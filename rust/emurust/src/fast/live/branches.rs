//! Jumps, calls and returns. A block counts the cycles of a branch as if it were not taken.

use super::{Done, Exit, Live};
use crate::fast::block::ROM;

impl<const KIND: u8, const MMIO: bool> Live<'_, '_, KIND, MMIO> {
    /// Whether the branch of this opcode is taken.
    #[inline(always)]
    pub fn condition(&self, code: u32) -> bool {
        match code >> 3 & 3 {
            0 => !self.c.flags.z(),
            1 => self.c.flags.z(),
            2 => !self.c.flags.c(),
            _ => self.c.flags.c(),
        }
    }

    /// Branches to `at`, in `cycles` altogether, of which the block does not count `more`.
    #[inline(always)]
    fn branch(&mut self, at: usize, more: i64, cycles: i64) {
        self.at = at;
        self.left -= if KIND == ROM { more } else { cycles };
        self.enter_block();
    }

    /// The place of an address in the code's memory.
    #[inline(always)]
    fn place(&self, target: u16) -> usize {
        target.wrapping_sub(self.c.base).into()
    }

    /// The address behind an instruction of this length.
    #[inline(always)]
    fn behind(&self, length: u16) -> u16 {
        self.c.base.wrapping_add(self.at as u16 + length)
    }

    #[inline(always)]
    pub fn relative(&mut self, away: u8, taken: bool) {
        if taken {
            self.relative_always(away, 4);
        } else {
            self.pass_by(2, 8);
        }
    }

    /// Jumps; the block does not count `more` of the cycles.
    #[inline(always)]
    pub fn relative_always(&mut self, away: u8, more: i64) {
        let at = (self.at + 2).wrapping_add_signed(isize::from(away as i8));
        self.branch(at, more, 12);
    }

    #[inline(always)]
    pub fn jump(&mut self, taken: bool) {
        if taken {
            self.branch(self.place(self.word), 4, 16);
        } else {
            self.pass_by(3, 12);
        }
    }

    /// Jumps to an address; the block counts all cycles.
    #[inline(always)]
    pub fn jump_always(&mut self, target: u16, cycles: i64) {
        self.branch(self.place(target), 0, cycles);
    }

    #[inline(always)]
    pub fn call(&mut self, taken: bool) -> Done {
        if taken {
            return self.call_always(12);
        }
        self.pass_by(3, 12);
        Ok(())
    }

    /// Calls; the block does not count `more` of the cycles.
    #[inline(always)]
    pub fn call_always(&mut self, more: i64) -> Done {
        self.push_word(self.behind(3))?;
        self.branch(self.place(self.word), more, 24);
        Ok(())
    }

    #[inline(always)]
    pub fn restart(&mut self, target: u16) -> Done {
        self.push_word(self.behind(1))?;
        self.branch(self.place(target), 0, 16);
        Ok(())
    }

    #[inline(always)]
    pub fn return_if(&mut self, taken: bool) -> Done {
        self.return_or(taken, Exit::Stop)
    }

    /// [`return_if`](Self::return_if) as a further instruction of a superop.
    #[inline(always)]
    pub fn return_more(&mut self, taken: bool) -> Done {
        self.return_or(taken, Exit::Split)
    }

    #[inline(always)]
    fn return_or(&mut self, taken: bool, otherwise: Exit) -> Done {
        if taken {
            let target = self.pop_word(otherwise)?;
            self.branch(self.place(target), 12, 20);
        } else {
            self.pass_by(1, 8);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn return_always(&mut self) -> Done {
        let target = self.pop_word(Exit::Stop)?;
        self.branch(self.place(target), 0, 16);
        Ok(())
    }

    /// RETI; it stops where an interrupt waits.
    #[inline(always)]
    pub fn return_enabling(&mut self) -> Done {
        if self.c.pending {
            return Err(Exit::Stop);
        }
        let target = self.pop_word(Exit::Stop)?;
        self.c.ime = true;
        self.branch(self.place(target), 0, 16);
        Ok(())
    }
}
