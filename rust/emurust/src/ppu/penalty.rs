//! How much longer than 172 cycles mode 3 of a line lasts.

use super::Ppu;

/// LCDC's bits 1 and 2: sprites are on, sprites are 16 lines high.
const OBJ_ON: u8 = 2;
const OBJ_TALL: u8 = 4;
/// Most sprites in a line: the first ones in OAM.
pub(crate) const SPRITES_IN_A_LINE: usize = 10;
/// From this X on a sprite lies to the right of the screen. It still counts as one of the ten.
const RIGHT_OF_SCREEN: u8 = 168;

/// The first sprites of a mask of all 40.
#[inline]
fn first_sprites(mut mask: u64) -> ([u8; SPRITES_IN_A_LINE], usize) {
    let mut found = [0; SPRITES_IN_A_LINE];
    let mut count = 0;
    while mask != 0 && count < SPRITES_IN_A_LINE {
        found[count] = 4 * mask.trailing_zeros() as u8;
        count += 1;
        mask &= mask - 1;
    }
    (found, count)
}

impl Ppu {
    /// Lines of a sprite.
    pub(crate) fn sprite_height(&self) -> u8 {
        if self.lcdc & OBJ_TALL != 0 { 16 } else { 8 }
    }

    /// Places in OAM of the sprites in this line, in OAM's order.
    pub(crate) fn sprites_in_line(&mut self) -> ([u8; SPRITES_IN_A_LINE], usize) {
        if self.lcdc & OBJ_ON == 0 {
            return ([0; SPRITES_IN_A_LINE], 0);
        }
        let height = self.sprite_height();
        if let Some(mask) = self.sprite_lines.of_line(&self.oam, height, self.ly) {
            return first_sprites(mask);
        }
        let mut mask = 0;
        for (number, sprite) in self.oam.as_chunks::<4>().0.iter().enumerate() {
            let inside = self.ly.wrapping_add(16).wrapping_sub(sprite[0]) < height;
            mask |= u64::from(inside) << number;
        }
        first_sprites(mask)
    }

    /// The same, if neither LCDC nor OAM was written since the line before.
    pub(crate) fn sprites_in_next_line(&mut self) -> ([u8; SPRITES_IN_A_LINE], usize) {
        match self.sprite_lines.of_next_line(self.ly) {
            _ if self.lcdc & OBJ_ON == 0 => ([0; SPRITES_IN_A_LINE], 0),
            Some(mask) => first_sprites(mask),
            None => self.sprites_in_line(),
        }
    }

    /// SCX costs 0, 4 or 8, but nothing in the LCD's first frame. A sprite costs 6 to 11 by its place
    /// over the background's tiles, but 6 if another one of the line has the same X. 7 of the sum are
    /// free. Sprites that are all off the screen even shorten mode 3 by 4.
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
