//! Fields going in and out: `[T, N]` or `[T, N, 8]`, row by row, in the caller's memory.

use std::marker::PhantomData;

use crate::block::{Block, Column, LANES, Row, column};
use crate::observe::OBSERVATION;

/// Memory that a field is written to.
pub enum Output<'a> {
    F32(&'a mut [f32]),
    I32(&'a mut [i32]),
    U32(&'a mut [u32]),
    Bool(&'a mut [bool]),
}

/// Names of fields and where they go. Unnamed fields are not written.
pub type Fields<'a> = Vec<(&'a str, Output<'a>)>;

/// The memory of one field, open to several threads that write different games.
struct Table<'a, T> {
    start: *mut T,
    _memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a table is only written through `Writer::write`, whose callers share out the games.
unsafe impl<T: Send> Send for Table<'_, T> {}
unsafe impl<T: Send> Sync for Table<'_, T> {}

impl<'a, T: Copy> Table<'a, T> {
    fn new(memory: &'a mut [T]) -> Self {
        Self {
            start: memory.as_mut_ptr(),
            _memory: PhantomData,
        }
    }

    /// # Safety
    /// `place + count` is within the memory, and no other thread uses these places.
    #[allow(clippy::mut_from_ref)]
    unsafe fn at(&self, place: usize, count: usize) -> &mut [T] {
        unsafe { std::slice::from_raw_parts_mut(self.start.add(place), count) }
    }
}

enum Sink<'a> {
    F32(fn(&mut Block) -> &mut Row<f32>, Table<'a, f32>),
    I32(fn(&mut Block) -> &mut Row<i32>, Table<'a, i32>),
    U32(fn(&mut Block) -> &mut Row<u32>, Table<'a, u32>),
    Bool(fn(&mut Block) -> &mut Row<bool>, Table<'a, bool>),
    Observation(Table<'a, f32>),
}

/// Writes blocks of games into fields whose names, types and lengths were checked.
pub(crate) struct Writer<'a> {
    sinks: Vec<Sink<'a>>,
    games: usize,
}

impl<'a> Writer<'a> {
    /// Checks the fields for `steps` rows of `games` games.
    pub(crate) fn new(fields: Fields<'a>, steps: usize, games: usize) -> Result<Self, String> {
        let mut sinks = Vec::with_capacity(fields.len());
        for (name, output) in fields {
            let known = column(name).ok_or_else(|| format!("unknown field: {name}"))?;
            let length = match &output {
                Output::F32(memory) => memory.len(),
                Output::I32(memory) => memory.len(),
                Output::U32(memory) => memory.len(),
                Output::Bool(memory) => memory.len(),
            };
            let width = if matches!(known, Column::Observation) {
                OBSERVATION
            } else {
                1
            };
            let wanted = steps * games * width;
            if length != wanted {
                return Err(format!(
                    "field {name} has {length} elements, expected {wanted}"
                ));
            }
            sinks.push(match (known, output) {
                (Column::F32(row), Output::F32(memory)) => Sink::F32(row, Table::new(memory)),
                (Column::I32(row), Output::I32(memory)) => Sink::I32(row, Table::new(memory)),
                (Column::U32(row), Output::U32(memory)) => Sink::U32(row, Table::new(memory)),
                (Column::Bool(row), Output::Bool(memory)) => Sink::Bool(row, Table::new(memory)),
                (Column::Observation, Output::F32(memory)) => Sink::Observation(Table::new(memory)),
                _ => return Err(format!("field {name} has the wrong dtype")),
            });
        }
        Ok(Self { sinks, games })
    }

    /// Writes row `step` of the games of one block.
    ///
    /// # Safety
    /// `step` is less than the steps given to `new`, and no other thread writes this block.
    pub(crate) unsafe fn write(&self, step: usize, block_number: usize, block: &mut Block) {
        let first = block_number * LANES;
        let count = LANES.min(self.games - first);
        let place = step * self.games + first;
        for sink in &self.sinks {
            // SAFETY: `new` checked the lengths; this block's games are this thread's.
            unsafe {
                match sink {
                    Sink::F32(row, to) => to.at(place, count).copy_from_slice(&row(block)[..count]),
                    Sink::I32(row, to) => to.at(place, count).copy_from_slice(&row(block)[..count]),
                    Sink::U32(row, to) => to.at(place, count).copy_from_slice(&row(block)[..count]),
                    Sink::Bool(row, to) => {
                        to.at(place, count).copy_from_slice(&row(block)[..count]);
                    }
                    Sink::Observation(to) => {
                        let to = to.at(place * OBSERVATION, count * OBSERVATION);
                        transpose(&block.last_obs, to);
                    }
                }
            }
        }
    }
}

fn transpose(from: &[Row<f32>; OBSERVATION], to: &mut [f32]) {
    for (game, seen) in to.chunks_exact_mut(OBSERVATION).enumerate() {
        for (value, row) in seen.iter_mut().zip(from) {
            *value = row[game];
        }
    }
}
