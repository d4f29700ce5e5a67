//! N environments side by side.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::prelude::*;

use super::columns::Column;
use super::lane::{AutoReset, Game, Lane, Scratch};
use super::play::Play;
use crate::arrays::wrong;

/// N environments that run side by side.
pub(super) struct Batch {
    pub play: Arc<Play>,
    pub lanes: Vec<Lane>,
}

impl Batch {
    /// Begins one episode per seed, each with its game.
    pub(super) fn reset(
        play: Arc<Play>,
        games: Vec<Arc<Game>>,
        seeds: Vec<[u32; 2]>,
    ) -> PyResult<Self> {
        let lanes = games
            .into_par_iter()
            .zip(seeds)
            .map(|(game, seed)| Lane::begun(game, seed, &play).map_err(wrong));
        let lanes = lanes.collect::<PyResult<_>>()?;
        Ok(Self { play, lanes })
    }

    /// Continues from one machine's record per seed, each with its game; nothing played or seen yet.
    pub(super) fn load(
        play: Arc<Play>,
        games: Vec<Arc<Game>>,
        records: &[u8],
        seeds: Vec<[u32; 2]>,
    ) -> PyResult<Self> {
        let size = records.len() / seeds.len().max(1);
        let lanes = games.into_par_iter().zip(seeds).enumerate();
        let lanes = lanes.map(|(place, (game, seed))| {
            let machine = game.machine(&records[place * size..][..size]);
            let machine = machine.map_err(|problem| wrong(format!("lane {place}: {problem}")))?;
            Ok(Lane::new(game, machine, seed, &play))
        });
        let lanes = lanes.collect::<PyResult<_>>()?;
        Ok(Self { play, lanes })
    }

    /// Environments that go on apart from these.
    pub(super) fn copy(&self) -> Self {
        Self {
            play: self.play.clone(),
            lanes: self.lanes.par_iter().map(Lane::copy).collect(),
        }
    }

    /// Writes the present frame; columns as from [`super::columns::deal`], one row each.
    pub(super) fn write(&mut self, columns: Vec<Vec<Column<'_>>>) {
        let play = &self.play;
        let pairs = self.lanes.par_iter_mut().zip(columns);
        pairs.for_each(|(lane, mut columns)| {
            lane.write_final(play, 0, &mut columns);
            lane.write(play, 0, &mut columns, &mut Scratch::default());
        });
    }

    /// Plays a step for each row of actions `[T, N]` and writes the columns of each lane, T rows
    /// each.
    pub(super) fn rollout(
        &mut self,
        actions: &[i32],
        columns: Vec<Vec<Column<'_>>>,
        reset: AutoReset,
    ) -> PyResult<()> {
        let play = &self.play;
        let held = play.held(actions)?;
        let lanes = self.lanes.len();
        let one = |number: usize, lane: &mut Lane, mut columns: Vec<Column<'_>>| {
            let held = held.iter().skip(number).step_by(lanes).copied();
            lane.play(play, held, reset, &mut columns);
        };
        if lanes == 1 {
            // No other thread is woken for one lane.
            for (lane, columns) in self.lanes.iter_mut().zip(columns) {
                one(0, lane, columns);
            }
        } else {
            let pairs = self.lanes.par_iter_mut().zip(columns).enumerate();
            pairs.for_each(|(number, (lane, columns))| one(number, lane, columns));
        }
        Ok(())
    }
}
