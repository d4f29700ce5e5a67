//! A line's pixels: background, window, sprites.
//!
//! A row of a tile is two bytes, a bit of each for a pixel. [`SPREAD`] turns a byte into eight, so
//! that eight pixels are one `u64`, the leftmost in its lowest byte, from here to the screen.

mod sprites;

use super::{LAST_SHOWN, Ppu};

const WIDTH: usize = 160;
/// Rows of tiles in VRAM, of two bytes; the two maps lie behind those that are used.
const ROWS: usize = 4096;
const MAPS: usize = 0x1800;
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

/// Eight colours 0 to 3 of a row of a tile.
#[inline]
fn row([low, high]: [u8; 2]) -> u64 {
    SPREAD[usize::from(low)] | SPREAD[usize::from(high)] << 1
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

/// A line in colours, with room for parts of tiles that hang over on either side.
type Wide = [u8; WIDTH + 16];
/// The part of the line that shows.
type Colours = [u8; WIDTH];
/// The palette that gives each colour the shade of its number.
const AS_NUMBERED: u8 = 0b1110_0100;

impl Ppu {
    /// Only the background palette's first shade.
    pub(super) fn blank(&mut self) {
        self.screen.fill(self.bgp & 3);
    }

    /// Draws line LY as the registers stand.
    pub(crate) fn draw_line(&mut self) {
        let (sprites, count) = self.sprites_in_line();
        self.draw_with_sprites(&sprites[..count]);
    }

    /// Draws line LY and goes on to the next one, so often. Nothing else happens meanwhile.
    pub(super) fn draw_lines(&mut self, count: u64) {
        for line in 0..count {
            let (sprites, count) = if line == 0 {
                self.sprites_in_line()
            } else {
                self.sprites_in_next_line()
            };
            self.draw_with_sprites(&sprites[..count]);
            self.ly += 1;
            self.window_reached |= self.ly == self.wy;
        }
    }

    /// LCDC's bit 0 switches the background off, but not the window. In a line with the window it does
    /// not even switch off the background beside it. Without both, sprites behind them are not seen.
    fn draw_with_sprites(&mut self, sprites: &[u8]) {
        let mut wide = [0; WIDTH + 16];
        let window = self.window_is_in_line();
        let mut cut = 0;
        if window || self.lcdc & BACKGROUND_ON != 0 {
            cut = usize::from(self.scx & 7);
            self.background(&mut wide);
        }
        let Some(colours) = wide[cut..].first_chunk_mut::<WIDTH>() else {
            return;
        };
        if window {
            self.window(colours);
        }
        let start = usize::from(self.ly) * WIDTH;
        let Some(line) = self.screen[start..].first_chunk_mut::<WIDTH>() else {
            return;
        };
        if self.bgp == AS_NUMBERED {
            *line = *colours;
        } else {
            let eights = line.as_chunks_mut::<8>().0.iter_mut();
            for (to, from) in eights.zip(colours.as_chunks::<8>().0) {
                *to = shaded(u64::from_le_bytes(*from), self.bgp).to_le_bytes();
            }
        }
        if !sprites.is_empty() {
            if !window && self.lcdc & BACKGROUND_ON == 0 {
                colours.fill(1);
            }
            self.draw_sprites(sprites, colours);
        }
        if self.ly == LAST_SHOWN {
            self.window_line = -1;
        }
    }

    fn window_is_in_line(&self) -> bool {
        self.lcdc & WINDOW_ON != 0 && self.window_reached && self.wx < WX_BESIDE
    }

    fn background(&self, wide: &mut Wide) {
        let y = self.ly.wrapping_add(self.scy);
        let map = usize::from(self.lcdc & BACKGROUND_MAP != 0);
        // The first tile may begin to the left of the screen.
        self.tiles(map, self.scx / 8, y, wide);
    }

    fn window(&mut self, colours: &mut Colours) {
        // 255 and -1 are the same: only its lowest 8 bits count.
        self.window_line = match self.window_line + 1 {
            255 => -1,
            next => next,
        };
        let map = usize::from(self.lcdc & WINDOW_MAP != 0);
        let mut wide = [0; WIDTH + 16];
        self.tiles(map, 0, self.window_line as u8, &mut wide);
        let (left, cut) = match self.wx {
            0..7 => (0, usize::from(7 - self.wx)),
            wx => (usize::from(wx - 7), 0),
        };
        colours[left..].copy_from_slice(&wide[cut..cut + WIDTH - left]);
    }

    /// Fills a line with a map's tiles, from the column on; a map is 32 tiles wide and goes round.
    fn tiles(&self, map: usize, column: u8, y: u8, wide: &mut Wide) {
        let (rows, _) = self.vram.as_chunks::<2>();
        let (maps, _) = self.vram[MAPS..].as_chunks::<32>();
        let (Some(rows), Some(tiles)) = (
            rows.first_chunk::<ROWS>(),
            maps.get(map * 32 + usize::from(y / 8)),
        ) else {
            return;
        };
        // Tiles below 80 may lie behind the others.
        let behind = if self.lcdc & UNSIGNED_TILES != 0 {
            0
        } else {
            0x80
        };
        let row_in_tile = usize::from(y & 7);
        for (eight, column) in wide
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(usize::from(column)..)
        {
            let tile = tiles[column % 32];
            let number = usize::from(tile.wrapping_add(behind)) + usize::from(behind);
            *eight = row(rows[(number * 8 + row_in_tile) % ROWS]).to_le_bytes();
        }
    }
}
