//! The bus: reads and writes at each address.
//!
//! PyBoy gives a few accesses an offset: they take place so many cycles after the processor's
//! counter. Only those bring the PPU up to that moment and ask it whether it blocks VRAM or OAM. All
//! other accesses find both open at any time.

use crate::machine::Machine;
use crate::memory::cartridge::BANK;

impl Machine {
    /// The opcode at PC.
    #[inline(always)]
    pub(crate) fn fetch(&mut self) -> u8 {
        let pc = self.registers.pc;
        self.registers.pc = pc.wrapping_add(1);
        if pc & 0xFFFE == 0x3FFE {
            return self.before_upper_bank(pc);
        }
        self.read(pc)
    }

    /// The byte at PC, an operand.
    #[inline(always)]
    pub(crate) fn immediate(&mut self) -> u8 {
        let pc = self.registers.pc;
        self.registers.pc = pc.wrapping_add(1);
        self.first_operand(pc)
    }

    /// The word at PC, an operand.
    #[inline(always)]
    pub(crate) fn immediate_word(&mut self) -> u16 {
        let pc = self.registers.pc;
        self.registers.pc = pc.wrapping_add(2);
        let low = self.first_operand(pc);
        let high = self.read_at(pc.wrapping_add(1), 8);
        u16::from_le_bytes([low, high])
    }

    #[inline(always)]
    fn first_operand(&mut self, addr: u16) -> u8 {
        // The opcode of this operand is at 3FFE.
        if addr == 0x3FFF {
            return self.before_upper_bank(addr);
        }
        self.read_at(addr, 4)
    }

    /// An instruction at 3FFE or 3FFF is fetched as if it belonged to the bank at 4000: from the end of
    /// the bank before that one in the ROM. Before bank 0 PyBoy reads memory outside the ROM, which
    /// cannot be known; here it is 0.
    #[cold]
    fn before_upper_bank(&self, addr: u16) -> u8 {
        let place = (self.upper_rom + usize::from(addr)).checked_sub(BANK);
        place.map_or(0, |place| self.cartridge.rom[place])
    }

    /// Reads at the processor's counter.
    #[inline(always)]
    pub(crate) fn read(&mut self, addr: u16) -> u8 {
        match addr >> 12 {
            0..=3 => self.cartridge.rom[self.lower_rom + usize::from(addr)],
            4..=7 => self.cartridge.rom[self.upper_rom + usize::from(addr) - BANK],
            0xC | 0xD => self.wram[usize::from(addr & 0x1FFF)],
            _ => self.read_slow(addr, 0),
        }
    }

    /// Reads `offset` cycles after the processor's counter.
    #[inline(always)]
    pub(crate) fn read_at(&mut self, addr: u16, offset: u64) -> u8 {
        match addr >> 12 {
            0..=3 => self.cartridge.rom[self.lower_rom + usize::from(addr)],
            4..=7 => self.cartridge.rom[self.upper_rom + usize::from(addr) - BANK],
            0xC | 0xD => self.wram[usize::from(addr & 0x1FFF)],
            _ => self.read_slow(addr, offset),
        }
    }

    fn read_slow(&mut self, addr: u16, offset: u64) -> u8 {
        match addr {
            0x0000..0x8000 | 0xC000..0xE000 => self.read(addr),
            0x8000..0xA000 => {
                if offset != 0 {
                    self.tick_ppu(offset);
                }
                self.ppu.read_vram(addr, offset != 0)
            }
            0xA000..0xC000 => self.read_cartridge_ram(addr),
            0xE000..0xFE00 => self.wram[usize::from(addr & 0x1FFF)],
            0xFE00..0xFEA0 => {
                if offset != 0 {
                    self.tick_ppu(offset);
                    if self.ppu.hides_oam() {
                        return 0xFF;
                    }
                }
                // By HL, whatever the instruction reads by.
                let ahead = if addr == self.registers.hl { 4 } else { 0 };
                self.tick_dma_ahead(offset.max(ahead), offset);
                if self.oam_is_hidden(offset) {
                    return 0xFF;
                }
                self.ppu.oam[usize::from(addr - 0xFE00)]
            }
            0xFEA0..0xFF00 => self.fea0[usize::from(addr - 0xFEA0)],
            0xFF00.. => {
                self.tick_dma(offset);
                match addr {
                    0xFF00..0xFF80 => self.read_io(addr, offset),
                    0xFF80..0xFFFF => self.hram[usize::from(addr - 0xFF80)],
                    0xFFFF => self.interrupt_enable,
                    _ => 0xFF,
                }
            }
        }
    }

    fn read_io(&mut self, addr: u16, offset: u64) -> u8 {
        match addr {
            0xFF00 => self.io_written[0],
            0xFF01 => {
                self.tick_serial();
                0xFF
            }
            0xFF02 => {
                self.tick_serial();
                self.serial.control
            }
            0xFF04..=0xFF07 => {
                self.tick_timer();
                match addr {
                    0xFF04 => (self.timer.counter >> 8) as u8,
                    0xFF05 => self.timer.read_tima(),
                    0xFF06 => self.timer.tma,
                    _ => self.timer.tac | 0xF8,
                }
            }
            0xFF0F => self.interrupt_flags | 0xE0,
            0xFF10..0xFF40 => 0,
            0xFF40..0xFF4C => {
                self.tick_ppu(offset);
                match addr {
                    0xFF46 => self.dma.source,
                    _ => self.ppu.read_register(addr),
                }
            }
            _ => 0xFF,
        }
    }

    /// FF00 to FF7F as they read between two frames; 0 for FF41.
    pub(crate) fn io_as_read(&self) -> [u8; 128] {
        let mut io = [0xFF; 128];
        io[0x00] = self.io_written[0];
        io[0x02] = self.serial.control;
        io[0x04] = (self.timer.counter >> 8) as u8;
        io[0x05] = self.timer.read_tima();
        io[0x06] = self.timer.tma;
        io[0x07] = self.timer.tac | 0xF8;
        io[0x0F] = self.interrupt_flags | 0xE0;
        io[0x10..0x40].fill(0);
        let ppu = &self.ppu;
        io[0x40..0x46].copy_from_slice(&[ppu.lcdc, 0, ppu.scy, ppu.scx, ppu.ly, ppu.lyc]);
        io[0x46] = self.dma.source;
        io[0x47..0x4C].copy_from_slice(&[ppu.bgp, ppu.obp0, ppu.obp1, ppu.wy, ppu.wx]);
        io
    }

    /// Writes at the processor's counter.
    #[inline(always)]
    pub(crate) fn write(&mut self, addr: u16, value: u8) {
        match addr >> 12 {
            0xC | 0xD => self.wram[usize::from(addr & 0x1FFF)] = value,
            _ => self.write_slow(addr, value, 0),
        }
    }

    /// Writes `offset` cycles after the processor's counter.
    #[inline(always)]
    pub(crate) fn write_at(&mut self, addr: u16, value: u8, offset: u64) {
        match addr >> 12 {
            0xC | 0xD => self.wram[usize::from(addr & 0x1FFF)] = value,
            _ => self.write_slow(addr, value, offset),
        }
    }

    fn write_slow(&mut self, addr: u16, value: u8, offset: u64) {
        match addr {
            0x0000..0x8000 => {
                self.write_mapper(addr, value);
                self.bail = true;
            }
            0x8000..0xA000 => {
                if offset != 0 {
                    self.tick_ppu(offset);
                }
                self.ppu.write_vram(addr, value, offset != 0);
            }
            0xA000..0xC000 => self.write_cartridge_ram(addr, value),
            0xC000..0xFE00 => self.wram[usize::from(addr & 0x1FFF)] = value,
            0xFE00..0xFEA0 => {
                if offset != 0 {
                    self.tick_ppu(offset);
                    if self.ppu.guards_oam() {
                        return;
                    }
                }
                self.tick_dma(offset);
                if !self.dma.active {
                    self.ppu.oam[usize::from(addr - 0xFE00)] = value;
                }
            }
            0xFEA0..0xFF00 => self.fea0[usize::from(addr - 0xFEA0)] = value,
            0xFF00.. => {
                self.tick_dma(offset);
                self.write_high(addr, value);
            }
        }
    }

    fn write_high(&mut self, addr: u16, value: u8) {
        match addr {
            0xFF00..0xFF4C => {
                self.write_io(addr, value);
                // LY cannot be written, which PyBoy notices before it bails out.
                self.bail |= addr != 0xFF44;
            }
            0xFF80..0xFFFF => self.hram[usize::from(addr - 0xFF80)] = value,
            0xFFFF => {
                self.interrupt_enable = value;
                self.bail = true;
            }
            _ => {}
        }
    }

    fn write_io(&mut self, addr: u16, value: u8) {
        match addr {
            0xFF00 => self.io_written[0] = self.joypad.selected(value),
            0xFF01 => self.tick_serial(),
            0xFF02 => {
                self.tick_serial();
                self.serial.write_control(value, self.cycles);
            }
            0xFF04..=0xFF07 => {
                self.tick_timer();
                match addr {
                    0xFF04 => self.timer.write_div(),
                    0xFF05 => self.timer.write_tima(value),
                    0xFF06 => self.timer.write_tma(value),
                    _ => self.timer.write_tac(value),
                }
            }
            0xFF0F => self.interrupt_flags = value & 0x1F,
            0xFF40..0xFF4C => {
                // Unlike reads, writes have no offset here.
                self.tick_ppu(0);
                match addr {
                    0xFF46 => self.start_dma(value),
                    _ => self.interrupt_flags |= self.ppu.write_register(addr, value),
                }
            }
            0xFF03 | 0xFF08..=0xFF0E => self.io_written[usize::from(addr - 0xFF00)] = value,
            _ => {}
        }
    }

    /// Brings the serial port up to the processor's counter.
    pub(crate) fn tick_serial(&mut self) {
        if self.serial.tick(self.cycles) {
            self.interrupt_flags |= 8;
        }
    }

    /// Brings the PPU up to `offset` cycles after the processor's counter.
    #[inline]
    pub(crate) fn tick_ppu(&mut self, offset: u64) {
        self.interrupt_flags |= self.ppu.tick(self.cycles + offset);
    }

    #[inline]
    pub(crate) fn tick_timer(&mut self) {
        if self.timer.tick(self.cycles) {
            self.interrupt_flags |= 4;
        }
    }

    /// Reads as PyBoy's `memory[addr]` does between two frames.
    pub fn peek(&mut self, addr: u16) -> u8 {
        self.read(addr)
    }

    /// Writes as PyBoy's `memory[addr] = value` does between two frames.
    pub fn poke(&mut self, addr: u16, value: u8) {
        self.write(addr, value);
    }
}
