//! One environment: a machine in an episode.

use std::sync::Arc;

use pyo3::prelude::*;
use twinstep_emurust::{Cartridge, Error, Machine};

use super::columns::{Column, Field, Row};
use super::play::{Observe, Play};
use crate::arrays::wrong;

/// A game and the common beginning of all its episodes.
pub(super) struct Game {
    pub cartridge: Arc<Cartridge>,
    /// The record of that state.
    begun: Vec<u8>,
}

impl Game {
    /// Takes a ROM and plays it up to the frame in which the seed is poked.
    pub(super) fn new(rom: Vec<u8>, play: &Play) -> PyResult<Self> {
        let cartridge = Cartridge::new(rom).map_err(wrong)?;
        let mut machine = Machine::new(cartridge.clone());
        machine.frames(play.seed_frame, false);
        let mut begun = Vec::new();
        machine.save(&mut begun);
        Ok(Self { cartridge, begun })
    }

    /// A machine in the state of a record.
    pub(super) fn machine(&self, record: &[u8]) -> Result<Machine, Error> {
        let mut machine = Machine::new(self.cartridge.clone());
        machine.load(record)?;
        Ok(machine)
    }
}

/// One environment.
pub(super) struct Lane {
    pub game: Arc<Game>,
    machine: Machine,
    /// Of the running episode. The next one's is one more in the second word.
    pub seed: [u32; 2],
    pub elapsed: i32,
    /// What the episode remembers.
    pub seen: Vec<u8>,
    reward: f32,
    terminated: bool,
    truncated: bool,
}

/// Memory that steps of one thread use one after the other.
#[derive(Default)]
pub(super) struct Scratch {
    numbers: Vec<u64>,
    record: Vec<u8>,
}

impl Lane {
    /// An episode in a given state.
    pub(super) fn new(game: Arc<Game>, machine: Machine, seed: [u32; 2], play: &Play) -> Self {
        Self {
            game,
            machine,
            seed,
            elapsed: 0,
            seen: vec![0; play.rules.memory()],
            reward: 0.0,
            terminated: false,
            truncated: false,
        }
    }

    /// The first frame of an episode.
    pub(super) fn begun(game: Arc<Game>, seed: [u32; 2], play: &Play) -> Result<Self, Error> {
        let machine = game.machine(&game.begun)?;
        let mut lane = Self::new(game, machine, seed, play);
        lane.start(play);
        Ok(lane)
    }

    /// Begins the next episode.
    fn begin_next(&mut self, play: &Play) {
        self.seed[1] = self.seed[1].wrapping_add(1);
        // This record was loaded before, so it can be loaded again.
        let loaded = self.machine.load(&self.game.begun);
        debug_assert!(loaded.is_ok());
        self.elapsed = 0;
        self.start(play);
    }

    fn start(&mut self, play: &Play) {
        play.start(&mut self.machine, self.seed);
        play.rules.begin(&mut self.machine, &mut self.seen);
    }

    /// An environment that goes on apart from this one.
    pub(super) fn copy(&self) -> Self {
        Self {
            game: self.game.clone(),
            machine: self.machine.clone(),
            seen: self.seen.clone(),
            ..*self
        }
    }

    /// Bytes that this environment takes, besides the game that it shares with others.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Machine>() + self.machine.bytes() + self.seen.len()
    }

    fn ended(&self) -> bool {
        self.terminated || self.truncated
    }

    /// Plays a step, or begins the next episode if this lane waits for that.
    pub(super) fn advance(
        &mut self,
        play: &Play,
        held: u8,
        next_step: bool,
        scratch: &mut Scratch,
    ) {
        if next_step && self.ended() {
            self.begin_next(play);
            self.clear();
            return;
        }
        play.rules.before(&mut self.machine, &mut scratch.numbers);
        self.machine.buttons(held);
        self.machine.frames(play.frame_skip, true);
        self.elapsed = self.elapsed.saturating_add(1);
        self.reward = play
            .rules
            .reward(&mut self.machine, &scratch.numbers, &mut self.seen);
        self.terminated = play.rules.is_over(&mut self.machine);
        self.truncated = self.elapsed >= play.max_episode_steps;
    }

    /// Plays one step after the other and writes row t of each column after step t.
    pub(super) fn play(
        &mut self,
        play: &Play,
        held: impl Iterator<Item = u8>,
        reset: AutoReset,
        columns: &mut [Column<'_>],
    ) {
        let mut scratch = Scratch::default();
        for (t, held) in held.enumerate() {
            self.advance(play, held, reset == AutoReset::NextStep, &mut scratch);
            self.write_final(play, t, columns);
            let begins = reset == AutoReset::SameStep && self.ended();
            if begins {
                self.begin_next(play);
            }
            self.write(play, t, columns, &mut scratch);
            if begins {
                self.clear();
            }
        }
    }

    /// Clears the result of the last step.
    fn clear(&mut self) {
        (self.reward, self.terminated, self.truncated) = (0.0, false, false);
    }

    /// Writes row t of `final_obs`.
    pub(super) fn write_final(&mut self, play: &Play, t: usize, columns: &mut [Column<'_>]) {
        for column in columns.iter_mut() {
            if column.field == Field::FinalObs {
                self.observe(play, &mut column.rows[t]);
            }
        }
    }

    /// Writes row t of all other columns.
    pub(super) fn write(
        &mut self,
        play: &Play,
        t: usize,
        columns: &mut [Column<'_>],
        scratch: &mut Scratch,
    ) {
        scratch.record.clear();
        for column in columns.iter_mut() {
            let row = &mut column.rows[t];
            match column.field {
                Field::Obs => self.observe(play, row),
                Field::FinalObs => {}
                Field::Reward => row.put_f32(self.reward),
                Field::Terminated => row.put_bool(self.terminated),
                Field::Truncated => row.put_bool(self.truncated),
                Field::Elapsed => row.put_i32(self.elapsed),
                Field::Seen => row.put_packed(&self.seen),
                Field::Part(part) => {
                    if scratch.record.is_empty() {
                        self.machine.save(&mut scratch.record);
                    }
                    row.put_packed(part.of(&scratch.record));
                }
            }
        }
    }

    fn observe(&mut self, play: &Play, to: &mut Row<'_>) {
        let Row::U8(to) = to else { return };
        match &play.observe {
            Observe::Full => to.copy_from_slice(self.machine.screen()),
            Observe::Half => halve(self.machine.screen(), to),
            Observe::Values(values) => {
                let mut to = to.iter_mut();
                for value in values {
                    // In this order: `zip` asks the first one first, and drops what it gave at the end.
                    for (byte, to) in value.bytes(&mut self.machine).zip(to.by_ref()) {
                        *to = byte;
                    }
                }
            }
        }
    }
}

/// Every second pixel of every second line.
fn halve(screen: &[u8; 144 * 160], to: &mut [u8]) {
    let lines = screen.chunks_exact(2 * 160);
    for (to, from) in to.chunks_exact_mut(80).zip(lines) {
        for (to, from) in to.iter_mut().zip(from[..160].as_chunks::<2>().0) {
            *to = from[0];
        }
    }
}

/// When an environment whose episode ended begins the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AutoReset {
    /// Not by itself: it plays on.
    Off,
    /// In the step that ended it: the frame is the new episode's, but for `reward`, `terminated`,
    /// `truncated` and `final_obs`.
    SameStep,
    /// In the step after, which it does not play: the frame is the new episode's first.
    NextStep,
}
