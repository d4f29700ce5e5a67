//! How much longer than 172 cycles mode 3 of a line lasts.

use super::Lcd;

/// LCDC's bits 1 and 2: sprites are on, sprites are 16 lines high.
const OBJ_ON: u8 = 2;
const OBJ_TALL: u8 = 4;
/// A line takes the first so many sprites of OAM.
pub(crate) const SPRITES_IN_A_LINE: usize = 10;
/// From this X on a sprite lies to the right of the screen: it counts as one of the ten, no more.
const RIGHT_OF_SCREEN: u8 = 168;

impl Lcd {
    /// Lines of a sprite.
    pub(crate) fn sprite_height(&self) -> u8 {
        if self.lcdc & OBJ_TALL != 0 { 16 } else { 8 }
    }

    /// Places in OAM of the sprites in this line, in OAM's order.
    pub(crate) fn sprites_in_line(&mut self) -> ([u8; SPRITES_IN_A_LINE], usize) {
        let mut found = [0; SPRITES_IN_A_LINE];
        let mut count = 0;
        if self.lcdc & OBJ_ON == 0 {
            return (found, 0);
        }
        let height = self.sprite_height();
        if let Some(mut mask) = self.sprite_lines.of_line(&self.oam, height, self.ly) {
            while mask != 0 && count < SPRITES_IN_A_LINE {
                found[count] = 4 * mask.trailing_zeros() as u8;
                count += 1;
                mask &= mask - 1;
            }
            return (found, count);
        }
        for (place, sprite) in (0..160).step_by(4).zip(self.oam.chunks_exact(4)) {
            if self.ly.wrapping_add(16).wrapping_sub(sprite[0]) < height {
                found[count] = place;
                count += 1;
                if count == SPRITES_IN_A_LINE {
                    break;
                }
            }
        }
        (found, count)
    }

    /// SCX costs 0, 4 or 8, but nothing in the LCD's first frame. A sprite costs 6 to 11 by its
    /// place over the background's tiles, but 6 where one of the line has the same X. Of the sum 7
    /// are free; sprites that are all off the screen even shorten mode 3 by 4.
    pub(super) fn line_penalty(&mut self) -> i16 {
        let scroll = if self.first_frame {
            0
        } else {
            i16::from((self.scx & 7).div_ceil(4)) * 4
        };
        let (found, count) = self.sprites_in_line();
        if count == 0 {
            return scroll;
        }
        let mut sum = 0;
        let mut seen = [RIGHT_OF_SCREEN; SPRITES_IN_A_LINE];
        for (index, &place) in found[..count].iter().enumerate() {
            let x = self.oam[usize::from(place) + 1];
            if x >= RIGHT_OF_SCREEN {
                continue;
            }
            let over = i16::from(x.wrapping_add(self.scx) & 7);
            sum += if seen.contains(&x) {
                6
            } else {
                11 - over.min(5)
            };
            seen[index] = x;
        }
        scroll + if sum == 0 { -4 } else { (sum - 7).max(0) }
    }
}
