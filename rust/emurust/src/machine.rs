//! The machine: all its state, and the loop over a frame.

use std::sync::Arc;

use crate::cpu::registers::Registers;
use crate::idle::polled_lines::PolledLines;
use crate::idle::predictor::IdlePredictor;
use crate::joypad::Joypad;
use crate::memory::cartridge::{BANK, Cartridge};
use crate::memory::dma::Dma;
use crate::memory::mapper::Mapper;
use crate::ppu::Ppu;
use crate::serial::Serial;
use crate::timer::Timer;

/// A Game Boy with a cartridge.
#[derive(Clone)]
pub struct Machine {
    /// Take no short cut: play event by event. States are the same either way.
    pub plain: bool,
    /// Instructions that were run while `plain`.
    instructions: u64,
    /// Where the last slice began that ran instructions; only skips look at it.
    pub(crate) last_slice_pc: u16,
    pub(crate) polled_lines: PolledLines,
    pub(crate) predictor: IdlePredictor,
    /// The same for places where a block run may end at a line's end, and where one ended.
    pub(crate) line_predictor: IdlePredictor,
    pub(crate) stopped_at: u16,
    pub(crate) registers: Registers,
    /// Clock cycles since the hand-over.
    pub(crate) cycles: u64,
    /// The slice ends after the instruction in progress.
    pub(crate) bail: bool,
    pub(crate) ime: bool,
    pub(crate) ime_delay: bool,
    pub(crate) halted: bool,
    /// The instruction before the HALT was EI. A saved state does not say so.
    pub(crate) halted_behind_ei: bool,
    pub(crate) stopped: bool,
    pub(crate) interrupt_queued: bool,
    pub(crate) interrupt_flags: u8,
    pub(crate) interrupt_enable: u8,
    /// Where the banks at 0000 and at 4000 begin in the ROM.
    pub(crate) lower_rom: usize,
    pub(crate) upper_rom: usize,
    pub(crate) cartridge: Arc<Cartridge>,
    pub(crate) mapper: Mapper,
    pub(crate) timer: Timer,
    pub(crate) dma: Dma,
    pub(crate) serial: Serial,
    pub(crate) joypad: Joypad,
    /// The buttons to hold from the next frame on.
    held: u8,
    pub(crate) ppu: Ppu,
    pub(crate) wram: [u8; 8192],
    pub(crate) hram: [u8; 127],
    pub(crate) fea0: [u8; 96],
    /// Bytes at FF00 to FF4B that writes reach. [0] is FF00 as it reads: computed when it is written,
    /// not when a button changes. The others are never read.
    pub(crate) io_written: [u8; 76],
    pub(crate) cartridge_ram: Box<[u8]>,
}

impl Machine {
    /// A machine as a boot ROM hands it over.
    pub fn new(cartridge: Arc<Cartridge>) -> Self {
        Self {
            plain: false,
            instructions: 0,
            last_slice_pc: 0,
            polled_lines: PolledLines::new(),
            predictor: IdlePredictor::new(),
            line_predictor: IdlePredictor::new(),
            stopped_at: 0,
            registers: Registers::handed_over(),
            cycles: 0,
            bail: false,
            ime: false,
            ime_delay: false,
            halted: false,
            halted_behind_ei: false,
            stopped: false,
            interrupt_queued: false,
            interrupt_flags: 0,
            interrupt_enable: 0,
            lower_rom: 0,
            upper_rom: BANK,
            mapper: Mapper::new(&cartridge),
            timer: Timer::new(),
            dma: Dma::new(),
            serial: Serial::new(),
            joypad: Joypad::new(),
            held: 0,
            ppu: Ppu::new(),
            wram: [0; 8192],
            hram: [0; 127],
            fea0: [0; 96],
            io_written: [0; 76],
            cartridge_ram: vec![0; cartridge.ram_size].into_boxed_slice(),
            cartridge,
        }
    }

    /// Sets the buttons to hold from the next frame on: bit 0 A, 1 B, 2 select, 3 start, 4 right, 5 left,
    /// 6 up, 7 down.
    pub fn buttons(&mut self, pressed: u8) {
        self.held = pressed;
    }

    /// Keeps holding the buttons of a loaded state.
    pub(crate) fn hold_as_loaded(&mut self) {
        self.held = self.joypad.held();
    }

    /// Runs to the end of a frame, as PyBoy's `tick(1, draw)`.
    pub fn frame(&mut self, draw: bool) {
        if self.joypad.hold(self.held) {
            self.interrupt_flags |= 0x10;
        }
        self.ppu.draw = draw;
        self.ppu.frame_done = false;
        while !self.ppu.frame_done {
            self.slice();
        }
    }

    /// Runs `count` frames, as PyBoy's `tick(count, draw_last)`: only the last one is drawn.
    pub fn frames(&mut self, count: u32, draw_last: bool) {
        for left in (0..count).rev() {
            self.frame(draw_last && left == 0);
        }
    }

    /// The last drawn frame: shades 0 (light) to 3, line by line.
    pub fn screen(&self) -> &[u8; 23040] {
        &self.ppu.screen
    }

    /// Bytes of this machine, without the cartridge that it shares with others.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.ppu.screen.len() + self.cartridge_ram.len()
    }

    /// Instructions that were run while the machine was `plain`. A halted one runs none.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Runs instructions up to `end`, or to one that bails out.
    pub(crate) fn run(&mut self, end: u64) {
        while self.cycles < end && !self.bail {
            self.instructions += 1;
            if self.ime_delay {
                self.step_behind_ei();
            } else {
                self.step();
            }
        }
    }

    /// Runs one instruction where speed does not matter.
    #[inline(never)]
    pub(crate) fn step_once(&mut self) {
        self.step();
    }

    /// Cycles until something happens by itself.
    #[inline(always)]
    pub(crate) fn cycles_to_event(&self) -> u64 {
        let timer = self.timer.last_cycles + self.timer.event;
        self.ppu
            .cycles_to_event()
            .min(timer - self.cycles)
            .min(self.serial.cycles_to_event(self.cycles))
    }

    /// Runs the processor to the next event, then brings everything else up to it.
    fn slice(&mut self) {
        if self.halted && !self.plain {
            self.skip_halted();
        }
        let target = self.cycles_to_event().max(4);
        let end = self.cycles + target;
        let dispatched = self.look_for_interrupt();
        // Writes of a dispatch do not end the slice, even where such writes usually do.
        self.bail = false;
        if self.halted {
            self.cycles += target;
        } else if self.plain {
            self.run(end);
        } else if self.dma.active {
            self.run_beside_dma(end);
        } else {
            let end = if dispatched { end } else { self.skip_idle(end) };
            self.run_fast(end, dispatched);
        }
        self.tick_dma(0);
        self.tick_serial();
        self.tick_timer();
        self.tick_ppu(0);
    }
}
