//! A stand-in for the picture unit, with the interface that the rest is written against: modes,
//! LY, the vertical-blank interrupt; no drawing, no blocking, no STAT interrupt.

/// Interrupt bit of the vertical blank.
const VBLANK: u8 = 1;

/// The picture unit. It is lazy: [`Lcd::tick`] brings it up to the processor's cycle counter.
pub struct Lcd {
    /// Cycles since the frame began.
    pub clock: u64,
    /// The clock at which something happens next.
    pub clock_target: u64,
    /// The processor's cycle counter when this unit was brought up to it last.
    pub last_cycles: u64,
    /// A frame has ended; the machine clears it.
    pub frame_done: bool,
    /// The frame in progress will be looked at: draw it.
    pub draw: bool,
    // What follows is in a saved state, state.rs reads and writes it by these names.
    /// The frame in which the LCD was switched on, which stays blank.
    pub first_frame: bool,
    /// Switched off, and the screen is to be cleared.
    pub reset: bool,
    /// The mode that comes at `clock_target`.
    pub next_mode: u8,
    /// LY has been counted up, the mode comes 4 cycles later.
    pub transition: bool,
    /// LY was equal to WY in this frame.
    pub window_reached: bool,
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

impl Default for Lcd {
    fn default() -> Self {
        Self::new()
    }
}

impl Lcd {
    /// As before the first cycle.
    pub fn new() -> Self {
        Self {
            clock: 0,
            clock_target: 456,
            last_cycles: 0,
            frame_done: false,
            draw: false,
            first_frame: false,
            reset: false,
            next_mode: 2,
            transition: false,
            window_reached: false,
            vram: [0; 8192],
            oam: [0; 160],
            lcdc: 0x91,
            stat: 0,
            scy: 0,
            scx: 0,
            ly: 0,
            lyc: 0,
            bgp: 0xFC,
            obp0: 0xFF,
            obp1: 0xFF,
            wy: 0,
            wx: 0,
            screen: Box::new([0; 23040]),
        }
    }

    /// Called by state.rs after all public fields were set: computes what is not in a saved state.
    pub fn loaded(&mut self) {}

    /// Brings the unit up to the processor's cycle counter. Returns the IF bits raised.
    pub fn tick(&mut self, cycles: u64) -> u8 {
        let mut raised = 0;
        self.clock += cycles - self.last_cycles;
        self.last_cycles = cycles;
        while self.clock >= self.clock_target {
            self.clock_target += 456;
            self.ly += 1;
            if self.ly == 144 {
                raised |= VBLANK;
                self.frame_done = true;
            } else if self.ly == 154 {
                self.ly = 0;
                self.clock -= 154 * 456;
                self.clock_target = 456;
            }
        }
        raised
    }

    /// Cycles until something happens by itself.
    pub fn cycles_to_event(&self) -> u64 {
        self.clock_target.saturating_sub(self.clock)
    }

    /// Reads one of FF40 to FF4B but FF46.
    pub fn read_register(&mut self, addr: u16) -> u8 {
        match addr {
            0xFF40 => self.lcdc,
            0xFF41 => self.stat | 0x80,
            0xFF42 => self.scy,
            0xFF43 => self.scx,
            0xFF44 => self.ly,
            0xFF45 => self.lyc,
            0xFF47 => self.bgp,
            0xFF48 => self.obp0,
            0xFF49 => self.obp1,
            0xFF4A => self.wy,
            0xFF4B => self.wx,
            _ => 0xFF,
        }
    }

    /// Writes one of FF40 to FF4B but FF46. Returns the IF bits raised.
    pub fn write_register(&mut self, addr: u16, value: u8) -> u8 {
        match addr {
            0xFF40 => self.lcdc = value,
            0xFF41 => self.stat = value & 0x78 | self.stat & 7,
            0xFF42 => self.scy = value,
            0xFF43 => self.scx = value,
            0xFF45 => self.lyc = value,
            0xFF47 => self.bgp = value,
            0xFF48 => self.obp0 = value,
            0xFF49 => self.obp1 = value,
            0xFF4A => self.wy = value,
            0xFF4B => self.wx = value,
            _ => {}
        }
        0
    }

    /// Reads 8000 to 9FFF; `blocked_check` asks whether the mode forbids it.
    pub fn read_vram(&self, addr: u16, blocked_check: bool) -> u8 {
        let _ = blocked_check;
        self.vram[usize::from(addr & 0x1FFF)]
    }

    /// Writes 8000 to 9FFF; `blocked_check` asks whether the mode forbids it.
    pub fn write_vram(&mut self, addr: u16, value: u8, blocked_check: bool) {
        let _ = blocked_check;
        self.vram[usize::from(addr & 0x1FFF)] = value;
    }

    /// Reads FE00 to FE9F; `blocked_check` asks whether the mode forbids it.
    pub fn read_oam(&self, addr: u16, blocked_check: bool) -> u8 {
        let _ = blocked_check;
        self.oam[usize::from(addr - 0xFE00)]
    }

    /// Writes FE00 to FE9F; `blocked_check` asks whether the mode forbids it.
    pub fn write_oam(&mut self, addr: u16, value: u8, blocked_check: bool) {
        let _ = blocked_check;
        self.oam[usize::from(addr - 0xFE00)] = value;
    }
}
