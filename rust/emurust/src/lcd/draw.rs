//! A line's pixels: background, window, sprites.
//!
//! A row of a tile is two bytes, a bit of each for a pixel. [`SPREAD`] turns a byte into eight, so
//! that eight pixels are one `u64`, the leftmost in its lowest byte, from here to the screen.

mod sprites;

use super::{LAST_SHOWN, Lcd};

const WIDTH: usize = 160;
/// LCDC's bits.
const BACKGROUND_ON: u8 = 0x01;
const BACKGROUND_MAP: u8 = 0x08;
const UNSIGNED_TILES: u8 = 0x10;
const WINDOW_ON: u8 = 0x20;
const WINDOW_MAP: u8 = 0x40;
/// WX is the window's left edge plus 7; from here on the window is not in the picture.
const WX_BESIDE: u8 = 167;
/// 1 in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// For each byte its bits as bytes 0 or 1, bit 7 lowest.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte >> (7 - bit) & 1) as u64) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Eight colours 0 to 3 of a row of a tile, from the address of its first byte in VRAM.
#[inline]
fn row(vram: &[u8; 8192], at: usize) -> u64 {
    SPREAD[usize::from(vram[at])] | SPREAD[usize::from(vram[at | 1])] << 1
}

/// The shades that a palette register gives to eight colours.
#[inline]
fn shaded(colours: u64, palette: u8) -> u64 {
    let shade = |colour: u8| u64::from(palette >> (2 * colour) & 3);
    let (low, high) = (colours & ONES, colours >> 1 & ONES);
    let both = low & high;
    (ONES ^ (low | high)) * shade(0)
        + (low ^ both) * shade(1)
        + (high ^ both) * shade(2)
        + both * shade(3)
}

/// A line in colours, with room for the part of a tile that hangs over on the right.
type Colours = [u8; WIDTH + 8];

impl Lcd {
    /// Nothing but the background palette's first shade.
    pub(super) fn blank(&mut self) {
        self.screen.fill(self.bgp & 3);
    }

    /// Draws line LY as the registers stand.
    ///
    /// LCDC's bit 0 switches the background off, but not the window; and in a line with the window
    /// not even the background beside it. Without both, sprites that go behind are not seen at all.
    pub(crate) fn draw_line(&mut self) {
        let mut colours = [0; WIDTH + 8];
        let window = self.window_is_in_line();
        if window || self.lcdc & BACKGROUND_ON != 0 {
            self.background(&mut colours);
        }
        if window {
            self.window(&mut colours);
        }
        let start = usize::from(self.ly) * WIDTH;
        let Some(line) = self.screen.get_mut(start..start + WIDTH) else {
            return;
        };
        for (to, from) in line.chunks_exact_mut(8).zip(colours.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(from);
            to.copy_from_slice(&shaded(u64::from_le_bytes(eight), self.bgp).to_le_bytes());
        }
        if !window && self.lcdc & BACKGROUND_ON == 0 {
            colours.fill(1);
        }
        self.draw_sprites(&colours);
        if self.ly == LAST_SHOWN {
            self.window_line = -1;
        }
    }

    fn window_is_in_line(&self) -> bool {
        self.lcdc & WINDOW_ON != 0 && self.window_reached && self.wx < WX_BESIDE
    }

    /// Where in VRAM a tile's data begins.
    #[inline]
    fn tile_data(&self, tile: u8) -> usize {
        if self.lcdc & UNSIGNED_TILES != 0 || tile >= 0x80 {
            usize::from(tile) * 16
        } else {
            0x1000 + usize::from(tile) * 16
        }
    }

    fn background(&self, colours: &mut Colours) {
        let y = self.ly.wrapping_add(self.scy);
        let map = if self.lcdc & BACKGROUND_MAP != 0 {
            0x1C00
        } else {
            0x1800
        };
        // The first tile may begin to the left of the screen.
        let mut wide = [0; WIDTH + 16];
        self.tiles(map, usize::from(self.scx / 8), y, &mut wide[..WIDTH + 8]);
        let cut = usize::from(self.scx & 7);
        colours[..WIDTH].copy_from_slice(&wide[cut..cut + WIDTH]);
    }

    fn window(&mut self, colours: &mut Colours) {
        // 255 and -1 are the same: only its lowest 8 bits count.
        self.window_line = match self.window_line + 1 {
            255 => -1,
            next => next,
        };
        let map = if self.lcdc & WINDOW_MAP != 0 {
            0x1C00
        } else {
            0x1800
        };
        let mut wide = [0; WIDTH + 8];
        self.tiles(map, 0, self.window_line as u8, &mut wide);
        let (left, cut) = match self.wx {
            0..7 => (0, usize::from(7 - self.wx)),
            wx => (usize::from(wx - 7), 0),
        };
        colours[left..WIDTH].copy_from_slice(&wide[cut..cut + WIDTH - left]);
    }

    /// Fills a line with a map's tiles, from the column on; a map is 32 tiles wide and goes round.
    fn tiles(&self, map: usize, column: usize, y: u8, colours: &mut [u8]) {
        let map = map + usize::from(y / 8) * 32;
        let row_in_tile = usize::from(y & 7) * 2;
        for (index, eight) in colours.chunks_exact_mut(8).enumerate() {
            let tile = self.vram[map + (column + index) % 32];
            let colours = row(&self.vram, self.tile_data(tile) + row_in_tile);
            eight.copy_from_slice(&colours.to_le_bytes());
        }
    }
}
