//! The whole state as one packed record, little-endian and without gaps.
//!
//! `contracts/emurust/state.py` has the same list with a line on each field; it is the authority.

use crate::error::Error;
use crate::machine::Machine;
use crate::memory::cartridge::{Cartridge, MapperKind, RAM_BANK};

/// Bytes of a record besides the cartridge's RAM.
const FIXED: usize = 6 + 3 * 2 + 8 + 1 + 128 + 127 + 160 + 96 + 8192 + 8192 + 23040 + HIDDEN;
/// Bytes of the fields that only a saved state of the reference shows.
const HIDDEN: usize = 7 + 160 + 4 + 8 + 4 + 16 + 3 + 2 + 2 + 2 + 2 + 2 + 1 + 8 + 2 + 4 + 8 + 7 + 76;
/// Largest cycle count: no machine in play comes near it, and sums up to here do not overflow.
const MOST_CYCLES: u64 = 1 << 60;
/// The PPU's clock and target stay below two frames.
const MOST_PPU_CLOCK: u64 = 2 * 70_224;

/// `serial_active` while a transfer is under way.
const ACTIVE: u8 = 0x80;

/// Appends fields to a record.
struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn byte(&mut self, value: impl Into<u8>) {
        self.0.push(value.into());
    }
    fn word(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn bytes(&mut self, values: &[u8]) {
        self.0.extend_from_slice(values);
    }
}

/// Takes fields off a record whose length was checked.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        taken.copy_from_slice(self.bytes(N));
        taken
    }
    fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }
    fn word(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }
    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
    fn flag(&mut self, name: &'static str) -> Result<bool, Error> {
        Ok(self.byte_to(1, name)? == 1)
    }
    /// A byte that is at most `most`.
    fn byte_to(&mut self, most: u8, name: &'static str) -> Result<u8, Error> {
        let value = self.byte();
        at_most(value.into(), most.into(), name)?;
        Ok(value)
    }
    /// A number that is at most `most`.
    fn long_to(&mut self, most: u64, name: &'static str) -> Result<u64, Error> {
        let value = self.long();
        at_most(value, most, name)?;
        Ok(value)
    }
}

fn require(holds: bool, value: u64, name: &'static str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::StateField { name, value })
    }
}

fn at_most(value: u64, most: u64, name: &'static str) -> Result<(), Error> {
    require(value <= most, value, name)
}

impl Machine {
    /// Length of this cartridge's records.
    pub fn state_size(cartridge: &Cartridge) -> usize {
        FIXED + cartridge.ram_size
    }

    /// Appends the state's record. Valid between two frames.
    pub fn save(&self, out: &mut Vec<u8>) {
        out.reserve(Self::state_size(&self.cartridge));
        let mut to = Writer(out);
        let r = &self.registers;
        to.bytes(&[r.a, r.f, r.b, r.c, r.d, r.e]);
        to.word(r.hl);
        to.word(r.sp);
        to.word(r.pc);
        to.long(self.cycles);
        to.byte(self.interrupt_enable);
        to.bytes(&self.io_as_read());
        to.bytes(&self.hram);
        to.bytes(&if self.oam_is_hidden(0) {
            [0xFF; 160]
        } else {
            self.ppu.oam
        });
        to.bytes(&self.fea0);
        to.bytes(&self.ppu.vram);
        to.bytes(&self.wram);
        to.bytes(&self.ppu.screen[..]);
        to.bytes(&self.cartridge_ram);
        self.save_hidden(&mut to);
    }

    fn save_hidden(&self, to: &mut Writer) {
        to.byte(self.ime);
        to.byte(self.ime_delay);
        to.byte(self.halted);
        to.byte(self.halted && self.halted_behind_ei);
        to.byte(self.stopped);
        to.byte(self.interrupt_queued);
        to.byte(self.interrupt_flags);
        to.bytes(&self.ppu.oam);
        to.byte(self.dma.active);
        to.byte(self.dma.reading);
        to.byte(self.dma.source);
        to.byte(self.dma.index);
        to.long(self.dma.start);
        to.byte(self.ppu.stat);
        to.byte(self.ppu.frame_done);
        to.byte(self.ppu.first_frame);
        to.byte(self.ppu.reset);
        to.long(self.ppu.clock);
        to.long(self.ppu.clock_target);
        to.byte(self.ppu.next_mode);
        to.byte(self.ppu.transition);
        to.byte(self.ppu.window_reached);
        to.word(self.ppu.window_line as u16);
        to.byte(self.ppu.lyc_written_while_off);
        to.byte(self.ppu.stat_shows_mode_0);
        to.byte((self.timer.counter >> 8) as u8);
        to.byte(self.timer.tima);
        to.word(self.timer.counter);
        to.word(self.timer.reload_left.into());
        to.byte(self.timer.reload);
        to.long(self.timer.event);
        to.byte(self.joypad.directions);
        to.byte(self.joypad.buttons);
        to.byte(0xFF);
        to.byte(self.serial.control);
        to.byte(if self.serial.active { ACTIVE } else { 0 });
        to.byte(self.serial.internal);
        to.long(self.serial.event);
        to.byte(self.mapper.rom_bank as u8);
        to.byte(self.mapper.ram_bank as u8);
        to.byte(self.mapper.ram_enabled);
        to.byte(self.mapper.banking_mode);
        to.byte(self.mapper.bank_low);
        to.byte(self.mapper.bank_high);
        to.byte(self.mapper.motor);
        to.bytes(&self.io_written);
        self.debug_assert_written(to);
    }

    fn debug_assert_written(&self, to: &Writer) {
        debug_assert_eq!(
            to.0.len() % Self::state_size(&self.cartridge),
            0,
            "a record's length"
        );
    }

    /// Loads a state that [`Machine::save`] or the reference gave for this cartridge.
    ///
    /// # Errors
    /// If the record is not a state. The machine stays as it was.
    pub fn load(&mut self, record: &[u8]) -> Result<(), Error> {
        let expected = Self::state_size(&self.cartridge);
        if record.len() != expected {
            return Err(Error::StateLength {
                found: record.len(),
                expected,
            });
        }
        let mut made = Self::new(self.cartridge.clone());
        made.read_shown(&mut Reader(record))?;
        let mut hidden = Reader(&record[expected - HIDDEN..]);
        made.read_hidden(&mut hidden)?;
        made.settle();
        made.plain = self.plain;
        *self = made;
        Ok(())
    }

    fn read_shown(&mut self, from: &mut Reader) -> Result<(), Error> {
        let r = &mut self.registers;
        [r.a, r.f, r.b, r.c, r.d, r.e] = from.array();
        require(r.f & 15 == 0, r.f.into(), "f")?;
        r.hl = from.word();
        r.sp = from.word();
        r.pc = from.word();
        self.cycles = from.long_to(MOST_CYCLES, "cycles")?;
        self.interrupt_enable = from.byte();
        let io: [u8; 128] = from.array();
        self.timer.tma = io[0x06];
        self.timer.tac = io[0x07] & 7;
        self.ppu.lcdc = io[0x40];
        self.ppu.scy = io[0x42];
        self.ppu.scx = io[0x43];
        self.ppu.ly = io[0x44];
        at_most(io[0x44].into(), 153, "io[0x44]")?;
        self.ppu.lyc = io[0x45];
        self.ppu.bgp = io[0x47];
        self.ppu.obp0 = io[0x48];
        self.ppu.obp1 = io[0x49];
        self.ppu.wy = io[0x4A];
        self.ppu.wx = io[0x4B];
        self.hram = from.array();
        from.bytes(160); // OAM as read; what is beneath is hidden.
        self.fea0 = from.array();
        self.ppu.vram = from.array();
        self.wram = from.array();
        self.ppu.screen.copy_from_slice(from.bytes(23040));
        let darkest = self.ppu.screen.iter().max().copied().unwrap_or(0);
        at_most(darkest.into(), 3, "screen")?;
        self.cartridge_ram
            .copy_from_slice(from.bytes(self.cartridge.ram_size));
        Ok(())
    }

    fn read_hidden(&mut self, from: &mut Reader) -> Result<(), Error> {
        self.ime = from.flag("ime")?;
        self.ime_delay = from.flag("ime_delay")?;
        self.halted = from.flag("halted")?;
        self.halted_behind_ei = from.flag("halted_after_ei")?;
        self.stopped = from.flag("stopped")?;
        self.interrupt_queued = from.flag("interrupt_queued")?;
        self.interrupt_flags = from.byte_to(31, "interrupt_flags")?;
        self.ppu.oam = from.array();
        self.dma.active = from.flag("dma_active")?;
        self.dma.reading = from.flag("dma_reading")?;
        self.dma.source = from.byte();
        self.dma.index = from.byte_to(160, "dma_index")?;
        self.dma.start = from.long_to(MOST_CYCLES, "dma_start")?;
        self.ppu.stat = from.byte();
        self.ppu.frame_done = from.flag("lcd_frame_done")?;
        self.ppu.first_frame = from.flag("lcd_first_frame")?;
        self.ppu.reset = from.flag("lcd_reset")?;
        self.ppu.clock = from.long_to(MOST_PPU_CLOCK, "lcd_clock")?;
        self.ppu.clock_target = from.long_to(MOST_PPU_CLOCK, "lcd_target")?;
        self.ppu.next_mode = from.byte_to(3, "lcd_next_mode")?;
        self.ppu.transition = from.byte_to(2, "lcd_transition")?;
        self.ppu.window_reached = from.flag("window_reached")?;
        let line = from.word();
        self.ppu.window_line = line as i16;
        require(
            (-1..=254).contains(&self.ppu.window_line),
            line.into(),
            "window_line",
        )?;
        self.ppu.lyc_written_while_off = from.flag("lyc_written_while_off")?;
        self.ppu.stat_shows_mode_0 = from.flag("stat_shows_mode_0")?;
        let div = from.byte();
        self.timer.tima = from.byte();
        self.timer.counter = from.word();
        require(
            self.timer.counter >> 8 == div.into(),
            div.into(),
            "timer_div",
        )?;
        let reload_left = from.word();
        self.timer.reload = from.byte_to(2, "timer_reload")?;
        let waits = self.timer.reload != 0;
        require(
            (reload_left != 0) == waits && reload_left <= 4,
            reload_left.into(),
            "timer_tima_counter",
        )?;
        self.timer.reload_left = reload_left as u8;
        self.timer.event = from.long();
        self.joypad.directions = from.byte_to(15, "joypad_directions")?;
        self.joypad.buttons = from.byte_to(15, "joypad_buttons")?;
        let data = from.byte();
        require(data == 0xFF, data.into(), "serial_data")?;
        self.serial.control = from.byte();
        let active = from.byte();
        require(active & !ACTIVE == 0, active.into(), "serial_active")?;
        self.serial.active = active == ACTIVE;
        self.serial.internal = from.flag("serial_internal")?;
        self.serial.event = from.long();
        self.read_mapper(from)?;
        self.io_written = from.array();
        Ok(())
    }

    fn read_mapper(&mut self, from: &mut Reader) -> Result<(), Error> {
        let rom_banks = self.cartridge.banks() as u64;
        let ram_banks = (self.cartridge.ram_size / RAM_BANK) as u64;
        let rom_bank = from.byte();
        let ram_bank = from.byte();
        require(u64::from(rom_bank) < rom_banks, rom_bank.into(), "rom_bank")?;
        let most = match self.cartridge.mapper {
            // Not cut to the RAM's size until it is used.
            MapperKind::Mbc1 => 3,
            // From 8 on registers of a clock.
            MapperKind::Mbc3 if ram_bank >= 8 => 15,
            _ => ram_banks - 1,
        };
        at_most(ram_bank.into(), most, "ram_bank")?;
        self.mapper.rom_bank = rom_bank.into();
        self.mapper.ram_bank = ram_bank.into();
        self.mapper.ram_enabled = from.flag("ram_enabled")?;
        self.mapper.banking_mode = from.flag("banking_mode")?;
        self.mapper.bank_low = from.byte_to(31, "bank_low")?;
        self.mapper.bank_high = from.byte_to(3, "bank_high")?;
        self.mapper.motor = from.byte();
        require(
            self.mapper.motor & !8 == 0,
            self.mapper.motor.into(),
            "motor",
        )?;
        let mbc1 = self.cartridge.mapper == MapperKind::Mbc1;
        require(mbc1 || !self.mapper.banking_mode, 1, "banking_mode")
    }

    /// Computes the values that a record leaves out because they follow from other fields.
    fn settle(&mut self) {
        self.timer.last_cycles = self.cycles;
        self.ppu.last_cycles = self.cycles;
        let window_line = self.ppu.window_line;
        self.ppu.loaded();
        self.ppu.window_line = window_line;
        self.hold_as_loaded();
        self.map_banks();
    }
}
