//! A batch of cheetahs: the engine's outer face.

use rayon::prelude::*;

use crate::begin::{begin, begin_next};
use crate::block::{Block, JOINTS, LANES, MOTORS, Row};
use crate::error::Error;
use crate::modules::cost;
use crate::output::{Fields, Writer};
use crate::real::{Isa, Real, run};
use crate::substep::{STEP, Step};

/// Steps or resets of a block that are worth another thread.
const WORTH_A_THREAD: usize = 8;

/// When a lane whose episode ended begins the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoReset {
    /// Never by itself: it plays on.
    Off,
    /// In the step that ended it. The frame is that of the new episode, except for `reward`, `truncated`
    /// and `final_obs`, which belong to the step.
    SameStep,
    /// In the step after, which it does not play: the frame is the new episode's first one, without
    /// reward. In a loaded batch no lane waits for it.
    NextStep,
}

/// N cheetahs that run side by side.
#[derive(Clone)]
pub struct Batch<T> {
    isa: Isa,
    max_episode_steps: i32,
    lanes: usize,
    blocks: Vec<Block<T>>,
}

impl<T: Real> Batch<T> {
    fn empty(isa: Isa, max_episode_steps: i32, lanes: usize) -> Result<Self, Error> {
        if lanes == 0 || max_episode_steps < 1 {
            return Err(Error::Empty);
        }
        if !isa.is_here() {
            return Err(Error::Isa(isa));
        }
        Ok(Self {
            isa,
            max_episode_steps,
            lanes,
            blocks: vec![Block::new(); lanes.div_ceil(LANES)],
        })
    }

    fn sow(&mut self, seeds: &[[u32; 2]]) {
        for (block, seeds) in self.blocks.iter_mut().zip(seeds.chunks(LANES)) {
            block.seed[..seeds.len()].copy_from_slice(seeds);
        }
    }

    /// Begins one episode per seed.
    pub fn reset(isa: Isa, max_episode_steps: i32, seeds: &[[u32; 2]]) -> Result<Self, Error> {
        let mut batch = Self::empty(isa, max_episode_steps, seeds.len())?;
        batch.sow(seeds);
        let begin_all = |block: &mut Block<T>| begin(block, u32::MAX >> (32 - LANES));
        let blocks = batch.blocks.par_iter_mut();
        blocks.with_min_len(WORTH_A_THREAD).for_each(begin_all);
        Ok(batch)
    }

    /// Continues from the fields of the state: `[N, 9]` three times, and `[N]` steps played. `seeds`
    /// belong to the running episodes; without them they are (0, 0).
    pub fn load(
        isa: Isa,
        max_episode_steps: i32,
        qpos: &[T],
        qvel: &[T],
        qacc_warmstart: &[T],
        elapsed: &[i32],
        seeds: Option<&[[u32; 2]]>,
    ) -> Result<Self, Error> {
        let lanes = elapsed.len();
        let mut batch = Self::empty(isa, max_episode_steps, lanes)?;
        if [qpos, qvel, qacc_warmstart].map(<[T]>::len) != [lanes * JOINTS; 3] {
            return Err(Error::State(lanes));
        }
        if let Some(seeds) = seeds {
            if seeds.len() != lanes {
                return Err(Error::Seeds {
                    seeds: seeds.len(),
                    lanes,
                });
            }
            batch.sow(seeds);
        }
        for (lane, elapsed) in elapsed.iter().enumerate() {
            let (block, place) = (&mut batch.blocks[lane / LANES], lane % LANES);
            for k in 0..JOINTS {
                block.qpos[k][place] = qpos[lane * JOINTS + k];
                block.qvel[k][place] = qvel[lane * JOINTS + k];
                block.qacc_warmstart[k][place] = qacc_warmstart[lane * JOINTS + k];
            }
            block.elapsed[place] = *elapsed;
        }
        Ok(batch)
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The instructions that the batch computes with.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The seeds of the running episodes.
    pub fn seeds(&self) -> impl Iterator<Item = [u32; 2]> {
        let seeds = self.blocks.iter().flat_map(|block| block.seed);
        seeds.take(self.lanes)
    }

    /// Writes fields `[N, ...]` of the present frame.
    pub fn write(&self, fields: Fields<'_, T>) -> Result<(), Error> {
        let writers = Writer::new(fields, 1, self.lanes)?.blocks();
        for (block, mut writer) in self.blocks.iter().zip(writers) {
            writer.write_final(0, block);
            writer.write(0, block);
        }
        Ok(())
    }

    /// Plays `steps` steps with actions `[T, N, 6]` and writes fields `[T, N, ...]` of each frame.
    pub fn rollout(
        &mut self,
        steps: usize,
        actions: &[f32],
        fields: Fields<'_, T>,
        auto_reset: AutoReset,
    ) -> Result<(), Error> {
        let (found, expected) = (actions.len(), steps * self.lanes * MOTORS);
        if found != expected {
            return Err(Error::Actions { found, expected });
        }
        let (isa, most, lanes) = (self.isa, self.max_episode_steps, self.lanes);
        let writers = Writer::new(fields, steps, lanes)?.blocks();
        let play = |number: usize, block: &mut Block<T>, mut writer: Writer<'_, T>| {
            let first = number * LANES;
            let count = LANES.min(lanes - first);
            for t in 0..steps {
                let from = (t * lanes + first) * MOTORS;
                let waiting = match auto_reset {
                    AutoReset::NextStep => block.ended(),
                    _ => 0,
                };
                step(isa, block, &actions[from..from + count * MOTORS], most);
                begin_next(block, waiting);
                block.clear(waiting);
                let over = match auto_reset {
                    AutoReset::SameStep => block.ended(),
                    _ => 0,
                };
                writer.write_final(t, block);
                begin_next(block, over);
                writer.write(t, block);
                block.clear(over);
            }
        };
        let alone = WORTH_A_THREAD.div_ceil(steps.max(1));
        if self.blocks.len() <= alone {
            let blocks = self.blocks.iter_mut().zip(writers);
            for (number, (block, writer)) in blocks.enumerate() {
                play(number, block, writer);
            }
        } else {
            let writers: Vec<_> = writers.collect();
            let blocks = self.blocks.par_iter_mut().zip(writers).enumerate();
            blocks
                .with_min_len(alone)
                .for_each(|(number, (block, writer))| play(number, block, writer));
        }
        Ok(())
    }
}

/// Plays a step of a block with actions `[n, 6]` of its first n lanes.
fn step<T: Real>(isa: Isa, block: &mut Block<T>, actions: &[f32], max_episode_steps: i32) {
    let mut control: [Row<T>; MOTORS] = [[T::default(); LANES]; MOTORS];
    let mut price: Row<f32> = [0.0; LANES];
    for (lane, action) in actions.as_chunks::<MOTORS>().0.iter().enumerate() {
        for (row, value) in control.iter_mut().zip(action) {
            row[lane] = T::of(f64::from(*value));
        }
        price[lane] = cost(action);
    }
    let mut travel = [T::default(); LANES];
    let task = Step {
        block,
        control: &control,
        travel: &mut travel,
    };
    run::<T, _, _>(isa, task);
    for lane in 0..LANES {
        block.reward[lane] = travel[lane] / T::of(STEP) - T::of(f64::from(price[lane]));
        block.elapsed[lane] = block.elapsed[lane].wrapping_add(1);
        block.truncated[lane] = block.elapsed[lane] >= max_episode_steps;
    }
}
