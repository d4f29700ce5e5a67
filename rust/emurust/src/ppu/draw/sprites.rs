//! A line's sprites, over the background.

use super::{Colours, WIDTH, row};
use crate::ppu::Ppu;
use crate::ppu::penalty::SPRITES_IN_A_LINE;

/// Bits of a sprite's fourth byte.
const BEHIND: u8 = 0x80;
const FLIP_Y: u8 = 0x40;
const FLIP_X: u8 = 0x20;
const PALETTE_1: u8 = 0x10;

impl Ppu {
    /// Draws a line's sprites, given in OAM's order: lower X goes on top, then earlier in OAM.
    pub(super) fn draw_sprites(&mut self, sprites: &[u8], background: &Colours) {
        let mut found = [0; SPRITES_IN_A_LINE];
        let found = &mut found[..sprites.len()];
        found.copy_from_slice(sprites);
        found.sort_by_key(|&place| self.oam[usize::from(place) + 1]);
        for &place in found.iter().rev() {
            self.draw_sprite(usize::from(place), background);
        }
    }

    fn draw_sprite(&mut self, place: usize, background: &Colours) {
        let height = self.sprite_height();
        let [y, x, tile, attributes] = [0, 1, 2, 3].map(|byte| self.oam[place + byte]);
        let mut line = self.ly.wrapping_add(16).wrapping_sub(y);
        if attributes & FLIP_Y != 0 {
            line = height - 1 - line;
        }
        let tile = if height == 16 { tile & 0xFE } else { tile };
        let mut colours = {
            let at = usize::from(tile) * 16 + usize::from(line) * 2;
            row([self.vram[at], self.vram[at + 1]])
        };
        if attributes & FLIP_X != 0 {
            colours = colours.swap_bytes();
        }
        let palette = if attributes & PALETTE_1 != 0 {
            self.obp1
        } else {
            self.obp0
        };
        let start = usize::from(self.ly) * WIDTH;
        for (column, colour) in (usize::from(x)..).zip(colours.to_le_bytes()) {
            // X is the left edge plus 8.
            let Some(column) = column.checked_sub(8).filter(|&column| column < WIDTH) else {
                continue;
            };
            if colour != 0 && (attributes & BEHIND == 0 || background[column] == 0) {
                self.screen[start + column] = palette >> (2 * colour) & 3;
            }
        }
    }
}
