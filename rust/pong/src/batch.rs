//! A batch of games: the engine's outer face.

use rayon::prelude::*;

use crate::auto_restart::{AutoRestart, step_or_restart};
use crate::block::{Block, Column, LANES, Row, STATE};
use crate::episode::{clear, reset, restart};
use crate::error::Error;
use crate::input::{Actions, Input};
use crate::observe::OBSERVATION;
use crate::output::{Fields, Rows, Writer};
use crate::rules::Params;
use crate::serve::key_of;
use crate::set::Set;
use crate::step::step;

/// Frames of a block that are worth another thread.
const WORTH_A_THREAD: usize = 128;

/// Blocks that play side by side, step by step: they fit in the nearest cache together, and
/// the memory that they read and write in a step is one piece.
const SIDE_BY_SIDE: usize = 4;

/// N games that are played together.
#[derive(Clone)]
pub struct Batch {
    params: Params,
    games: usize,
    blocks: Vec<Block>,
    /// Recorded draws, `[LANES, K]` for each block; empty if they are hashed.
    tables: Vec<Vec<u32>>,
}

impl Batch {
    fn empty(params: Params, games: usize) -> Result<Self, Error> {
        if games == 0 || params.max_score == 0 || params.frameskip == 0 {
            return Err(Error::Empty);
        }
        let blocks = vec![Block::new(); games.div_ceil(LANES)];
        Ok(Self {
            params,
            games,
            blocks,
            tables: Vec::new(),
        })
    }

    /// Begins one episode per seed. Draws come from `tables`, `[N, K]`, or are hashed without them.
    pub fn reset(
        params: Params,
        seeds: &[[u32; 2]],
        tables: Option<&[u32]>,
    ) -> Result<Self, Error> {
        let mut batch = Self::empty(params, seeds.len())?;
        if let Some(tables) = tables {
            if tables.is_empty() || tables.len() % seeds.len() != 0 {
                return Err(Error::Draws {
                    draws: tables.len(),
                    games: seeds.len(),
                });
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

    /// Continues from a state. `get` returns the values of each of [`state_names`], `[N, ...]`. Draws
    /// are hashed.
    ///
    /// [`state_names`]: crate::state_names
    pub fn load<'a>(
        params: Params,
        games: usize,
        get: impl Fn(&str) -> Option<Input<'a>>,
    ) -> Result<Self, Error> {
        let mut batch = Self::empty(params, games)?;
        for (name, column) in STATE {
            let input = get(name).ok_or_else(|| Error::Missing(name.into()))?;
            let found = match input {
                Input::F32(values) => values.len(),
                Input::I32(values) => values.len(),
                Input::U32(values) => values.len(),
            };
            let expected = games * column.width();
            if found != expected {
                return Err(Error::Length {
                    name: name.into(),
                    found,
                    expected,
                });
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
                        let values = &values[first * OBSERVATION..last * OBSERVATION];
                        block.last_obs.as_flattened_mut()[..values.len()].copy_from_slice(values);
                    }
                    _ => return Err(Error::Dtype(name.into())),
                }
            }
        }
        for block in &mut batch.blocks {
            for i in 0..LANES {
                block.share(i, params);
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
            restart(block, Set::ALL, self.params);
            clear(block, Set::ALL);
        }
    }

    /// Writes fields `[N, ...]` of the present frame.
    pub fn write(&mut self, fields: Fields<'_>) -> Result<(), Error> {
        let mut writer = Writer::new(fields, 1, self.games, SIDE_BY_SIDE)?;
        let groups = self.blocks.chunks_mut(SIDE_BY_SIDE);
        for (blocks, part) in groups.zip(writer.parts()) {
            part.fill(|rows| {
                for (place, block) in blocks.iter_mut().enumerate() {
                    rows.write_final(0, place, block);
                    rows.write(0, place, block);
                }
            });
        }
        Ok(())
    }

    /// Plays `steps` steps with actions `[T, N]` and writes fields `[T, N, ...]` of each frame.
    pub fn rollout(
        &mut self,
        steps: usize,
        actions: Actions<'_>,
        fields: Fields<'_>,
        auto_restart: AutoRestart,
    ) -> Result<(), Error> {
        let (found, expected) = (actions.len(), steps * self.games);
        if found != expected {
            return Err(Error::Actions { found, expected });
        }
        if matches!(actions, Actions::Continuous(_)) != self.params.continuous {
            return Err(Error::ActionKind);
        }
        let (params, games, tables) = (self.params, self.games, &self.tables);
        let play_step =
            |rows: &mut Rows, t: usize, (first, place): (usize, usize), block: &mut Block| {
                let number = first + place;
                let first = number * LANES;
                let count = LANES.min(games - first);
                let table = tables.get(number).map(Vec::as_slice);
                actions.fetch((t + 1) * games + first);
                let actions = actions.row(t * games + first, count);
                let mut begins = Set::NONE;
                match auto_restart {
                    AutoRestart::Off => _ = step(block, &actions, params, table),
                    AutoRestart::SameStep => begins = step(block, &actions, params, table),
                    AutoRestart::NextStep => step_or_restart(block, &actions, params, table),
                }
                rows.write_final(t, place, block);
                restart(block, begins, params);
                rows.write(t, place, block);
                clear(block, begins);
            };
        let play = |first: usize, blocks: &mut [Block], rows: &mut Rows| {
            for t in 0..steps {
                for (place, block) in blocks.iter_mut().enumerate() {
                    play_step(rows, t, (first, place), block);
                }
            }
        };
        let frames = steps.saturating_mul(params.frameskip as usize);
        let alone = WORTH_A_THREAD.div_ceil(frames.max(1));
        if self.blocks.len() <= alone {
            let mut writer = Writer::new(fields, steps, games, SIDE_BY_SIDE)?;
            let groups = self.blocks.chunks_mut(SIDE_BY_SIDE).zip(writer.parts());
            for (number, (blocks, part)) in groups.enumerate() {
                part.fill(|rows| play(number * SIDE_BY_SIDE, blocks, rows));
            }
        } else {
            // If there are few blocks, all threads get some.
            let share = self.blocks.len() / (2 * rayon::current_num_threads());
            let together = share.clamp(1, SIDE_BY_SIDE);
            let mut writer = Writer::new(fields, steps, games, together)?;
            let parts: Vec<_> = writer.parts().collect();
            self.blocks
                .par_chunks_mut(together)
                .zip(parts)
                .enumerate()
                .with_min_len(alone.div_ceil(together))
                .for_each(|(number, (blocks, part))| {
                    part.fill(|rows| play(number * together, blocks, rows));
                });
        }
        Ok(())
    }
}

fn fill<T: Copy>(row: &mut Row<T>, values: &[T]) {
    row[..values.len()].copy_from_slice(values);
}
