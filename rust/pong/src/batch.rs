//! A batch of games: the engine's outer face.

use rayon::prelude::*;

use crate::block::{Block, Column, LANES, Row, STATE};
use crate::observe::OBSERVATION;
use crate::output::{Fields, Writer};
use crate::rules::Params;
use crate::serve::key_of;
use crate::step::{reset, restart, step};

/// Frames of a block that are worth handing to another thread.
const WORTH_A_THREAD: usize = 64;

/// Actions `[T, N]`, of the kind that [`Params::continuous`] asks for.
#[derive(Clone, Copy, Debug)]
pub enum Actions<'a> {
    Discrete(&'a [i32]),
    Continuous(&'a [f32]),
}

impl Actions<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Discrete(values) => values.len(),
            Self::Continuous(values) => values.len(),
        }
    }

    fn row(&self, first: usize, count: usize) -> Row<f32> {
        let mut row = [0.0; LANES];
        match self {
            // The reference's buffer holds floats and compares them with 0.0, 1.0 and 2.0.
            Self::Discrete(values) => {
                for (to, from) in row.iter_mut().zip(&values[first..first + count]) {
                    *to = *from as f32;
                }
            }
            Self::Continuous(values) => {
                row[..count].copy_from_slice(&values[first..first + count]);
            }
        }
        row
    }
}

/// Values to [`Batch::load`]: `[N]`, or `[N, 8]` for `last_obs`.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    F32(&'a [f32]),
    I32(&'a [i32]),
    U32(&'a [u32]),
}

/// N games. All errors are sentences about the arguments.
#[derive(Clone)]
pub struct Batch {
    params: Params,
    games: usize,
    blocks: Vec<Block>,
    /// Recorded draws, `[LANES, K]` for each block; empty if they are hashed.
    tables: Vec<Vec<u32>>,
}

impl Batch {
    fn empty(params: Params, games: usize) -> Result<Self, String> {
        if games == 0 || params.max_score == 0 || params.frameskip == 0 {
            return Err("there must be at least one game, point and frame".into());
        }
        let blocks = vec![Block::new(); games.div_ceil(LANES)];
        Ok(Self {
            params,
            games,
            blocks,
            tables: Vec::new(),
        })
    }

    /// Begins one episode per seed; `tables` holds `[N, K]` recorded draws instead of hashed ones.
    pub fn reset(
        params: Params,
        seeds: &[[u32; 2]],
        tables: Option<&[u32]>,
    ) -> Result<Self, String> {
        let mut batch = Self::empty(params, seeds.len())?;
        if let Some(tables) = tables {
            if tables.is_empty() || tables.len() % seeds.len() != 0 {
                return Err(format!(
                    "{} draws for {} games: expected the same number for each",
                    tables.len(),
                    seeds.len()
                ));
            }
            let length = tables.len() / seeds.len();
            batch.tables = tables.chunks(LANES * length).map(<[u32]>::to_vec).collect();
            for table in &mut batch.tables {
                table.resize(LANES * length, 0);
            }
        } else {
            for (block, seeds) in batch.blocks.iter_mut().zip(seeds.chunks(LANES)) {
                for (key, seed) in block.rng_key.iter_mut().zip(seeds) {
                    *key = key_of(*seed);
                }
            }
        }
        for (number, block) in batch.blocks.iter_mut().enumerate() {
            reset(block, params, batch.tables.get(number).map(Vec::as_slice));
        }
        Ok(batch)
    }

    /// Continues from all fields of the state, hashed draws only.
    pub fn load<'a>(
        params: Params,
        games: usize,
        get: impl Fn(&str) -> Result<Input<'a>, String>,
    ) -> Result<Self, String> {
        let mut batch = Self::empty(params, games)?;
        for (name, column) in STATE {
            let width = if matches!(column, Column::Observation) {
                OBSERVATION
            } else {
                1
            };
            let input = get(name)?;
            let length = match input {
                Input::F32(values) => values.len(),
                Input::I32(values) => values.len(),
                Input::U32(values) => values.len(),
            };
            if length != games * width {
                let wanted = games * width;
                return Err(format!(
                    "field {name} has {length} elements, expected {wanted}"
                ));
            }
            for (number, block) in batch.blocks.iter_mut().enumerate() {
                let first = number * LANES;
                let last = games.min(first + LANES);
                match (column, input) {
                    (Column::F32(row), Input::F32(values)) => {
                        fill(row(block), &values[first..last])
                    }
                    (Column::I32(row), Input::I32(values)) => {
                        fill(row(block), &values[first..last])
                    }
                    (Column::U32(row), Input::U32(values)) => {
                        fill(row(block), &values[first..last])
                    }
                    (Column::Observation, Input::F32(values)) => {
                        for game in first..last {
                            for (k, row) in block.last_obs.iter_mut().enumerate() {
                                row[game - first] = values[game * OBSERVATION + k];
                            }
                        }
                    }
                    _ => return Err(format!("field {name} has the wrong dtype")),
                }
            }
        }
        Ok(batch)
    }

    /// Number of games.
    pub fn games(&self) -> usize {
        self.games
    }

    /// Begins the next episode in every game, as the reference does after a terminal step.
    pub fn restart(&mut self) {
        for block in &mut self.blocks {
            restart(block, self.params);
        }
    }

    /// Writes fields `[N, ...]` of the present frame.
    pub fn write(&mut self, fields: Fields<'_>) -> Result<(), String> {
        let writer = Writer::new(fields, 1, self.games)?;
        for (number, block) in self.blocks.iter_mut().enumerate() {
            // SAFETY: step 0 of 1; only this thread writes.
            unsafe { writer.write(0, number, block) };
        }
        Ok(())
    }

    /// Plays `steps` steps with actions `[T, N]` and writes fields `[T, N, ...]` of each frame.
    pub fn rollout(
        &mut self,
        steps: usize,
        actions: Actions<'_>,
        fields: Fields<'_>,
    ) -> Result<(), String> {
        let wanted = steps * self.games;
        if actions.len() != wanted {
            return Err(format!("{} actions, expected {wanted}", actions.len()));
        }
        if matches!(actions, Actions::Continuous(_)) != self.params.continuous {
            return Err("actions of the wrong kind: discrete are i32, continuous f32".into());
        }
        let (params, games, tables) = (self.params, self.games, &self.tables);
        let writer = Writer::new(fields, steps, games)?;
        // Each block plays through all steps while it is in the nearest cache.
        let play = |(number, block): (usize, &mut Block)| {
            let first = number * LANES;
            let count = LANES.min(games - first);
            let table = tables.get(number).map(Vec::as_slice);
            for t in 0..steps {
                step(block, &actions.row(t * games + first, count), params, table);
                // SAFETY: t < steps; each block is played by one thread.
                unsafe { writer.write(t, number, block) };
            }
        };
        let frames = steps.saturating_mul(params.frameskip as usize);
        let alone = WORTH_A_THREAD.div_ceil(frames.max(1));
        if self.blocks.len() <= alone {
            self.blocks.iter_mut().enumerate().for_each(play);
        } else {
            self.blocks
                .par_iter_mut()
                .enumerate()
                .with_min_len(alone)
                .for_each(play);
        }
        Ok(())
    }
}

fn fill<T: Copy>(row: &mut Row<T>, values: &[T]) {
    row[..values.len()].copy_from_slice(values);
}
