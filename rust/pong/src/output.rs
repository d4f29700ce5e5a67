//! Outputs of a batch: `[T, N]` or `[T, N, 8]`, row by row, in the caller's memory.

use crate::block::{Block, Column, FINAL_OBS, LANES, Row, column};
use crate::error::Error;
use crate::observe::OBSERVATION;
use crate::stream::{self, Fence, Solid};
use crate::strips::Strip;

/// Memory that a field is written to.
pub enum Output<'a> {
    /// Of a field of floats.
    F32(&'a mut [f32]),
    /// Of a field of signed integers.
    I32(&'a mut [i32]),
    /// Of a field of unsigned integers.
    U32(&'a mut [u32]),
    /// Of a field of truth values.
    Bool(&'a mut [bool]),
}

/// Observations of more bytes than this are written past the caches, which would not keep
/// them until someone reads them.
const BEYOND_CACHES: usize = 4 << 20;

/// Names of fields and where they go. Unnamed fields are not written.
pub type Fields<'a> = Vec<(&'a str, Output<'a>)>;

/// One field of some games.
enum Sink<'a> {
    F32(fn(&mut Block) -> &mut Row<f32>, Strip<'a, f32>),
    I32(fn(&mut Block) -> &mut Row<i32>, Strip<'a, i32>),
    U32(fn(&mut Block) -> &mut Row<u32>, Strip<'a, u32>),
    Bool(fn(&mut Block) -> &mut Row<bool>, Strip<'a, bool>),
    Observation(Strip<'a, f32>),
    FinalObservation(Strip<'a, f32>),
}

impl<'a> Sink<'a> {
    /// Checks a field for `steps` rows of `games` games.
    fn new(name: &str, output: Output<'a>, steps: usize, games: usize) -> Result<Self, Error> {
        let known = column(name).ok_or_else(|| Error::Unknown(name.into()))?;
        let found = match &output {
            Output::F32(memory) => memory.len(),
            Output::I32(memory) => memory.len(),
            Output::U32(memory) => memory.len(),
            Output::Bool(memory) => memory.len(),
        };
        let expected = steps * games * known.width();
        if found != expected {
            return Err(Error::Length {
                name: name.into(),
                found,
                expected,
            });
        }
        let stride = games * known.width();
        Ok(match (known, output) {
            (Column::F32(row), Output::F32(to)) => Self::F32(row, Strip::new(to, stride)),
            (Column::I32(row), Output::I32(to)) => Self::I32(row, Strip::new(to, stride)),
            (Column::U32(row), Output::U32(to)) => Self::U32(row, Strip::new(to, stride)),
            (Column::Bool(row), Output::Bool(to)) => Self::Bool(row, Strip::new(to, stride)),
            (Column::Observation, Output::F32(to)) => {
                let strip = Strip::new(to, stride);
                match name {
                    FINAL_OBS => Self::FinalObservation(strip),
                    _ => Self::Observation(strip),
                }
            }
            _ => return Err(Error::Dtype(name.into())),
        })
    }

    /// Cuts off the first games.
    fn split_off(&mut self, games: usize) -> Self {
        match self {
            Self::F32(row, to) => Self::F32(*row, to.split_off(games)),
            Self::I32(row, to) => Self::I32(*row, to.split_off(games)),
            Self::U32(row, to) => Self::U32(*row, to.split_off(games)),
            Self::Bool(row, to) => Self::Bool(*row, to.split_off(games)),
            Self::Observation(to) => Self::Observation(to.split_off(games * OBSERVATION)),
            Self::FinalObservation(to) => Self::FinalObservation(to.split_off(games * OBSERVATION)),
        }
    }
}

/// Fields whose names, types and lengths were checked, cut up for groups of games.
pub(crate) struct Writer<'a> {
    /// All fields of the first group, then those of the next.
    sinks: Vec<Sink<'a>>,
    fields: usize,
    groups: usize,
    past_caches: bool,
}

impl<'a> Writer<'a> {
    /// Checks the fields for `steps` rows of `games` games, which play in groups of `blocks` blocks.
    pub(crate) fn new(
        fields: Fields<'a>,
        steps: usize,
        games: usize,
        blocks: usize,
    ) -> Result<Self, Error> {
        let mut whole = Vec::with_capacity(fields.len());
        for (name, output) in fields {
            whole.push(Sink::new(name, output, steps, games)?);
        }
        let (fields, group) = (whole.len(), blocks * LANES);
        let groups = games.div_ceil(group);
        let mut sinks = whole;
        if groups > 1 {
            let mut whole = std::mem::replace(&mut sinks, Vec::with_capacity(fields * groups));
            for first in (0..games).step_by(group) {
                let count = group.min(games - first);
                sinks.extend(whole.iter_mut().map(|sink| sink.split_off(count)));
            }
        }
        let bytes = steps * games * OBSERVATION * size_of::<f32>();
        Ok(Self {
            sinks,
            fields,
            groups,
            past_caches: bytes > BEYOND_CACHES,
        })
    }

    /// The rows of each group.
    pub(crate) fn parts(&mut self) -> impl ExactSizeIterator<Item = Part<'_, 'a>> {
        let (fields, past_caches) = (self.fields, self.past_caches);
        let mut rest = self.sinks.as_mut_slice();
        (0..self.groups).map(move |_| {
            let sinks = rest.split_off_mut(..fields).unwrap_or_default();
            Part(Rows { sinks, past_caches })
        })
    }
}

/// The rows of a group of games, not yet open.
pub(crate) struct Part<'w, 'a>(Rows<'w, 'a>);

impl<'w, 'a> Part<'w, 'a> {
    /// Opens the rows to `fill`. Afterwards all threads see what it wrote.
    pub(crate) fn fill(mut self, fill: impl FnOnce(&mut Rows<'w, 'a>)) {
        let _fence = self.0.past_caches.then_some(Fence);
        fill(&mut self.0);
    }
}

/// The rows of a group of games. Only [`Part::fill`] lends them, for it is followed by a fence.
pub(crate) struct Rows<'w, 'a> {
    sinks: &'w mut [Sink<'a>],
    past_caches: bool,
}

impl Rows<'_, '_> {
    /// Writes row `step` of [`FINAL_OBS`], if that is wanted, as the games of one block are now.
    /// `place`: the block's number in the group.
    #[inline(always)]
    pub(crate) fn write_final(&mut self, step: usize, place: usize, block: &Block) {
        for sink in &mut *self.sinks {
            if let Sink::FinalObservation(to) = sink {
                let from = block.last_obs.as_flattened();
                copy(from, to, step, place, self.past_caches);
            }
        }
    }

    /// Writes row `step` of the other fields of the games of one block.
    #[inline(always)]
    pub(crate) fn write(&mut self, step: usize, place: usize, block: &mut Block) {
        let past_caches = self.past_caches;
        for sink in &mut *self.sinks {
            match sink {
                Sink::F32(row, to) => copy(row(block), to, step, place, past_caches),
                Sink::I32(row, to) => copy(row(block), to, step, place, past_caches),
                Sink::U32(row, to) => copy(row(block), to, step, place, past_caches),
                Sink::Bool(row, to) => copy(row(block), to, step, place, past_caches),
                Sink::Observation(to) => {
                    let from = block.last_obs.as_flattened();
                    copy(from, to, step, place, past_caches);
                }
                Sink::FinalObservation(_) => {}
            }
        }
    }
}

/// Copies a block's values to its place in a row; `from` may have games that the batch has not.
#[inline(always)]
fn copy<T: Solid>(from: &[T], to: &mut Strip<'_, T>, step: usize, place: usize, past_caches: bool) {
    let row = to.row(step);
    let first = place * from.len();
    let count = from.len().min(row.len() - first);
    let (from, to) = (&from[..count], &mut row[first..first + count]);
    if past_caches {
        // SAFETY: `Part::fill` drops a fence on this thread before it returns the borrow of the rows,
        // which nobody can read until then.
        unsafe { stream::copy(from, to) };
    } else {
        to.copy_from_slice(from);
    }
}
