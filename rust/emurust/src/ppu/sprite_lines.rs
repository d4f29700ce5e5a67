//! The sprites in each line, kept as long as the sprites' table stays the same.

use super::LAST_SHOWN;

const LINES: usize = LAST_SHOWN as usize + 1;

/// For each line of the picture a mask of the sprites in it, bit 0 the first in OAM.
#[derive(Clone)]
pub(crate) struct SpriteLines {
    /// The table that `masks` was made of, or will be.
    oam: [u8; 160],
    height: u8,
    /// Whether the masks are made: when a table is met for the second time. It may be in the making.
    made: bool,
    masks: [u64; LINES],
}

impl SpriteLines {
    pub fn new() -> Self {
        Self {
            oam: [0; 160],
            height: 0,
            made: false,
            masks: [0; LINES],
        }
    }

    /// The sprites in a line; None if they have to be searched.
    pub fn of_line(&mut self, oam: &[u8; 160], height: u8, line: u8) -> Option<u64> {
        if self.height != height || self.oam != *oam {
            self.height = height;
            self.oam = *oam;
            self.made = false;
            return None;
        }
        if !self.made {
            self.make();
        }
        self.masks.get(usize::from(line)).copied()
    }

    /// The same, if the sprites' table is still that of the last call.
    #[inline]
    pub fn of_next_line(&self, line: u8) -> Option<u64> {
        let mask = self.masks.get(usize::from(line)).copied();
        mask.filter(|_| self.made)
    }

    fn make(&mut self) {
        self.made = true;
        self.masks = [0; LINES];
        for (number, sprite) in self.oam.chunks_exact(4).enumerate() {
            // Y is the top edge plus 16.
            let end = (usize::from(sprite[0]) + usize::from(self.height)).saturating_sub(16);
            let start = usize::from(sprite[0]).saturating_sub(16);
            for mask in self.masks[..end.min(LINES)].iter_mut().skip(start) {
                *mask |= 1 << number;
            }
        }
    }
}
