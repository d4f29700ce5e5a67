//! The PPU: modes, LY, STAT's interrupt, the moments at which it blocks VRAM and OAM.
//!
//! As in PyBoy it is lazy: [`Ppu::tick`] brings it up to the processor's counter. **At most one
//! event** happens in a tick, however late the tick is; another overdue event waits for the next one.
//! A line is drawn as a whole when its mode 0 begins ([`draw`]).

mod draw;
mod penalty;
mod registers;
mod skip;
mod sprite_lines;
mod stat;

pub(crate) use skip::Alike;
use sprite_lines::SpriteLines;
use stat::MODE;

/// Cycles of a frame, and the clock at which a frame ends.
pub(crate) const FRAME: u64 = 70_224;
/// Cycles of a line.
pub(crate) const LINE: u64 = 456;
const MODE_2: u64 = 80;
/// Modes 3 and 0 together; sprites and SCX move cycles from one to the other.
const MODE_3: u64 = 172;
const MODE_0: u64 = 200;
/// LY is counted up so many cycles before mode 2 of its line begins.
pub(crate) const EARLY_LY: u64 = 4;
/// The LCD's very first line has no mode 2, and is shorter.
const FIRST_MODE_0: u64 = 76;
const LAST_LINE: u8 = 153;
/// The last line that shows.
const LAST_SHOWN: u8 = 143;

/// Interrupt bits, as in IF.
pub(crate) const VBLANK: u8 = 1;
pub(crate) const STAT: u8 = 2;

/// LCDC's bit 7: the LCD is on.
pub(crate) const ON: u8 = 0x80;
const HANDED_OVER_LCDC: u8 = 0x91;
/// The screen before the first frame was drawn: PyBoy's memory is cleared, which is black.
const BLACK: u8 = 3;

/// The PPU.
#[derive(Clone)]
pub(crate) struct Ppu {
    /// Cycles since the frame began.
    pub clock: u64,
    /// The clock at which the next event is due.
    pub clock_target: u64,
    /// The processor's cycle counter when the PPU was last brought up to it.
    pub last_cycles: u64,
    /// A frame has ended; the machine clears it.
    pub frame_done: bool,
    /// The frame in progress is to be drawn.
    pub draw: bool,
    /// The LCD was switched on in this frame: it stays blank.
    pub first_frame: bool,
    /// The LCD was switched on after the last tick.
    pub reset: bool,
    /// The mode that the next event begins.
    pub next_mode: u8,
    /// 1 in mode 0 before LY is counted up, 2 from then until mode 2, else 0.
    pub transition: u8,
    /// LY has been equal to WY in this frame.
    pub window_reached: bool,
    /// The last drawn line of the window; -1 before the first.
    pub(crate) window_line: i16,
    /// LYC was written while the LCD was off.
    pub lyc_written_while_off: bool,
    /// STAT's next read shows mode 0, whatever the mode is. Set when the LCD is switched on after LYC
    /// was written with the LCD off.
    pub stat_shows_mode_0: bool,
    /// Cycles by which mode 3 of this line is longer than [`MODE_3`].
    penalty: i16,
    /// STAT's interrupt line; only a rising edge raises the interrupt.
    pub(crate) stat_line: bool,
    sprite_lines: SpriteLines,
    pub vram: [u8; 8192],
    pub oam: [u8; 160],
    pub lcdc: u8,
    pub stat: u8,
    pub scy: u8,
    pub scx: u8,
    pub ly: u8,
    pub lyc: u8,
    pub bgp: u8,
    pub obp0: u8,
    pub obp1: u8,
    pub wy: u8,
    pub wx: u8,
    /// Shades 0 (light) to 3 of the last drawn frame.
    pub screen: Box<[u8; 23040]>,
}

impl Default for Ppu {
    fn default() -> Self {
        Self::new()
    }
}

impl Ppu {
    /// As a boot ROM hands over: PyBoy's registers, then the LCD is switched on.
    pub fn new() -> Self {
        let mut ppu = Self {
            clock: 0,
            clock_target: FRAME,
            last_cycles: 0,
            frame_done: false,
            draw: false,
            first_frame: false,
            reset: false,
            next_mode: 2,
            transition: 0,
            window_reached: false,
            window_line: -1,
            lyc_written_while_off: false,
            stat_shows_mode_0: false,
            penalty: 0,
            stat_line: false,
            sprite_lines: SpriteLines::new(),
            vram: [0; 8192],
            oam: [0; 160],
            lcdc: 0,
            stat: 0x80,
            scy: 0,
            scx: 0,
            ly: 0,
            lyc: 0,
            bgp: 0xFC,
            obp0: 0xFF,
            obp1: 0xFF,
            wy: 0,
            wx: 0,
            screen: Box::new([BLACK; 23040]),
        };
        ppu.write_register(0xFF40, HANDED_OVER_LCDC);
        ppu
    }

    /// Sets the fields that follow from a state's record, which was written into the others.
    pub(crate) fn loaded(&mut self) {
        self.stat_line = self.stat_line_now();
        self.penalty = 0;
        self.window_line = -1;
    }

    /// Brings the PPU up to the processor's cycle counter. Returns the IF bits raised.
    #[inline]
    pub fn tick(&mut self, cycles: u64) -> u8 {
        let elapsed = cycles - self.last_cycles;
        self.clock += elapsed;
        self.last_cycles = cycles;
        // Not even an overdue event happens when no time has passed.
        if self.clock < self.clock_target || elapsed == 0 {
            return 0;
        }
        self.event()
    }

    /// Cycles until something happens by itself.
    #[inline]
    pub fn cycles_to_event(&self) -> u64 {
        self.clock_target.saturating_sub(self.clock)
    }

    fn event(&mut self) -> u8 {
        if self.lcdc & ON == 0 {
            self.blank();
            self.frame_done = true;
            self.clock %= FRAME;
            self.clock_target = FRAME;
            return 0;
        }
        if self.reset {
            return self.begin_first_frame();
        }
        match (self.next_mode, self.transition) {
            (2, 1) => {
                self.transition = 2;
                self.clock_target += EARLY_LY;
                self.ly = self.ly.wrapping_add(1);
                if self.first_frame {
                    self.forget_comparison()
                } else {
                    self.compare_line()
                }
            }
            (2, _) => self.begin_search(),
            (3, _) => {
                self.penalty = self.line_penalty();
                self.clock_target += MODE_3.wrapping_add_signed(self.penalty.into());
                self.next_mode = 0;
                self.set_mode(3)
            }
            (0, _) => self.begin_horizontal_blank(),
            _ => self.begin_vertical_line(),
        }
    }

    /// The tick after LCDC's bit 7 was set: the clock begins here, not at the write.
    fn begin_first_frame(&mut self) -> u8 {
        self.reset = false;
        self.frame_done = true;
        self.clock = 0;
        self.clock_target = FIRST_MODE_0;
        self.next_mode = 3;
        self.transition = 0;
        self.window_reached = self.ly == self.wy;
        self.set_mode(0) | self.set_line(0)
    }

    /// Mode 2.
    fn begin_search(&mut self) -> u8 {
        self.transition = 0;
        self.next_mode = 3;
        self.clock_target += MODE_2;
        self.window_reached |= self.ly == self.wy;
        let raised = self.set_mode(2);
        // In the first frame LY is compared here at the earliest.
        if self.first_frame {
            raised | self.compare_line()
        } else {
            raised
        }
    }

    /// Mode 0.
    fn begin_horizontal_blank(&mut self) -> u8 {
        let length = MODE_0.wrapping_add_signed(-i64::from(self.penalty));
        self.clock_target += length;
        if self.ly < LAST_SHOWN {
            self.next_mode = 2;
            self.transition = 1;
        } else {
            self.next_mode = 1;
            // LY is not early at the vertical blank, but in the first frame everything comes 4 cycles sooner.
            self.clock_target += if self.first_frame { 0 } else { EARLY_LY };
        }
        if self.draw {
            self.draw_line();
        }
        self.set_mode(0)
    }

    /// A line of mode 1 begins, or the frame ends.
    fn begin_vertical_line(&mut self) -> u8 {
        if self.ly == LAST_LINE {
            if self.clock_target < FRAME {
                // The first frame's last line is 8 cycles longer.
                self.clock_target = FRAME;
                return 0;
            }
            return self.begin_frame();
        }
        self.clock_target += LINE;
        if self.ly != LAST_SHOWN {
            return self.set_line(self.ly.wrapping_add(1));
        }
        self.window_reached = false;
        if self.first_frame {
            self.blank();
        }
        let raised = self.set_mode(1) | self.set_line(self.ly.wrapping_add(1));
        VBLANK | raised | self.search_pulse()
    }

    fn begin_frame(&mut self) -> u8 {
        self.frame_done = true;
        self.first_frame = false;
        self.clock -= FRAME;
        self.clock_target = 0;
        self.ly = 0;
        // The mode moves STAT's line before the comparison does, so LYC = 153 lasts into mode 2.
        self.begin_search() | self.compare_line()
    }

    /// Counts LY, compares it with LYC.
    fn set_line(&mut self, ly: u8) -> u8 {
        self.ly = ly;
        self.compare_line()
    }

    /// Whether mode 2 is in its last four cycles.
    fn search_ends(&self) -> bool {
        self.stat & MODE == 2 && self.clock + 4 >= self.clock_target
    }

    /// Whether VRAM reads as FF: in mode 3 and shortly before.
    fn hides_vram(&self) -> bool {
        self.stat & MODE == 3 || self.search_ends()
    }

    /// Whether OAM reads as FF: in modes 2 and 3, in the LCD's first frame from LY's count on.
    pub(crate) fn hides_oam(&self) -> bool {
        let counted = self.first_frame && self.transition == 2 && self.lcdc & ON != 0;
        self.stat & MODE >= 2 || counted
    }

    /// Whether writes to OAM are lost: in modes 2 and 3, but not between them in the LCD's first
    /// frame.
    pub(crate) fn guards_oam(&self) -> bool {
        self.stat & MODE >= 2 && !(self.first_frame && self.search_ends())
    }

    /// Reads 8000 to 9FFF; `blocked_check` asks whether the mode forbids it.
    #[inline]
    pub fn read_vram(&self, addr: u16, blocked_check: bool) -> u8 {
        if blocked_check && self.hides_vram() {
            return 0xFF;
        }
        self.vram[usize::from(addr & 0x1FFF)]
    }

    /// Writes 8000 to 9FFF; `blocked_check` asks whether the mode forbids it.
    #[inline]
    pub fn write_vram(&mut self, addr: u16, value: u8, blocked_check: bool) {
        if !(blocked_check && self.stat & MODE == 3) {
            self.vram[usize::from(addr & 0x1FFF)] = value;
        }
    }
}
