//! Fields going in and out: `[T, N]` or `[T, N, 8]`, row by row, in the caller's memory.

use std::marker::PhantomData;

use crate::block::{Block, Column, FINAL_OBS, LANES, Row, column};
use crate::observe::OBSERVATION;

/// Memory that a field is written to.
pub enum Output<'a> {
    F32(&'a mut [f32]),
    I32(&'a mut [i32]),
    U32(&'a mut [u32]),
    Bool(&'a mut [bool]),
}

/// Observations of more bytes than this are written past the caches, which would not keep
/// them until someone reads them.
const BEYOND_CACHES: usize = 4 << 20;

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
    final_obs: Option<Table<'a, f32>>,
    games: usize,
    past_caches: bool,
}

impl<'a> Writer<'a> {
    /// Checks the fields for `steps` rows of `games` games.
    pub(crate) fn new(fields: Fields<'a>, steps: usize, games: usize) -> Result<Self, String> {
        let mut sinks = Vec::with_capacity(fields.len());
        let mut final_obs = None;
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
                (Column::Observation, Output::F32(memory)) if name == FINAL_OBS => {
                    final_obs = Some(Table::new(memory));
                    continue;
                }
                (Column::Observation, Output::F32(memory)) => Sink::Observation(Table::new(memory)),
                _ => return Err(format!("field {name} has the wrong dtype")),
            });
        }
        let bytes = steps * games * OBSERVATION * size_of::<f32>();
        Ok(Self {
            sinks,
            final_obs,
            games,
            past_caches: bytes > BEYOND_CACHES,
        })
    }

    /// Writes row `step` of [`FINAL_OBS`], if that is wanted, as the games of one block are now.
    ///
    /// # Safety
    /// As of [`write`](Self::write).
    pub(crate) unsafe fn write_final(&self, step: usize, block_number: usize, block: &Block) {
        if let Some(to) = &self.final_obs {
            // SAFETY: the caller's.
            unsafe { self.observation(to, step, block_number, block) };
        }
    }

    /// Writes row `step` of the other fields of the games of one block.
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
                    Sink::F32(row, to) => self.copy(&row(block)[..count], to.at(place, count)),
                    Sink::I32(row, to) => self.copy(&row(block)[..count], to.at(place, count)),
                    Sink::U32(row, to) => self.copy(&row(block)[..count], to.at(place, count)),
                    Sink::Bool(row, to) => self.copy(&row(block)[..count], to.at(place, count)),
                    Sink::Observation(to) => self.observation(to, step, block_number, block),
                }
            }
        }
    }

    unsafe fn observation(&self, to: &Table<'_, f32>, step: usize, number: usize, block: &Block) {
        let first = number * LANES;
        let count = LANES.min(self.games - first) * OBSERVATION;
        // SAFETY: as in `write`.
        let to = unsafe { to.at((step * self.games + first) * OBSERVATION, count) };
        self.copy(&block.last_obs.as_flattened()[..count], to);
    }

    #[inline(always)]
    fn copy<T: Copy>(&self, from: &[T], to: &mut [T]) {
        if self.past_caches {
            copy_past_caches(from, to);
        } else {
            to.copy_from_slice(from);
        }
    }

    /// To be called by each thread after its last row: what it wrote is there for the others.
    pub(crate) fn finish(&self) {
        #[cfg(target_arch = "x86_64")]
        if self.past_caches {
            // SAFETY: every x86-64 has SSE.
            #[allow(unused_unsafe)]
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
        }
    }
}

/// Copies to memory that nobody reads before [`Writer::finish`]. Plain stores would first fetch
/// what they overwrite.
#[inline(always)]
fn copy_past_caches<T: Copy>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let bytes = size_of_val(from);
        let to_start = to.as_mut_ptr().cast::<__m128i>();
        if to_start.is_aligned()
            && bytes.is_multiple_of(size_of::<__m128i>())
            && from.len() == to.len()
        {
            let from = from.as_ptr().cast::<__m128i>();
            for k in 0..bytes / size_of::<__m128i>() {
                // SAFETY: both are as long, `to` is aligned, and every x86-64 has SSE2.
                unsafe { _mm_stream_si128(to_start.add(k), _mm_loadu_si128(from.add(k))) };
            }
            return;
        }
    }
    to.copy_from_slice(from);
}
