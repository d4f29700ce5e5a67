//! Fields going out: `[T, N, ...]`, row by row, in the caller's memory.

use std::marker::PhantomData;

use crate::block::{Block, JOINTS, LANES, OBSERVATION, Row};
use crate::real::Real;

/// Memory for the fields of frames; what is None is not written.
#[derive(Default)]
pub struct Fields<'a, T> {
    /// `[..., 17]`, after a reset in the same step.
    pub obs: Option<&'a mut [T]>,
    /// `[..., 17]`, before a reset in the same step.
    pub final_obs: Option<&'a mut [T]>,
    pub reward: Option<&'a mut [T]>,
    pub truncated: Option<&'a mut [bool]>,
    /// `[..., 9]`, as the next two.
    pub qpos: Option<&'a mut [T]>,
    pub qvel: Option<&'a mut [T]>,
    pub qacc_warmstart: Option<&'a mut [T]>,
    pub elapsed: Option<&'a mut [i32]>,
}

/// The memory of one field, open to several threads that write different lanes.
struct Table<'a, T> {
    start: *mut T,
    width: usize,
    _memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a table is only written through `Writer`, whose callers share out the lanes.
unsafe impl<T: Send> Send for Table<'_, T> {}
unsafe impl<T: Send> Sync for Table<'_, T> {}

impl<'a, T: Copy> Table<'a, T> {
    fn new(
        name: &str,
        memory: Option<&'a mut [T]>,
        frames: usize,
        width: usize,
    ) -> Result<Option<Self>, String> {
        let Some(memory) = memory else {
            return Ok(None);
        };
        let (length, wanted) = (memory.len(), frames * width);
        if length != wanted {
            return Err(format!(
                "field {name} has {length} elements, expected {wanted}"
            ));
        }
        Ok(Some(Self {
            start: memory.as_mut_ptr(),
            width,
            _memory: PhantomData,
        }))
    }

    /// # Safety
    /// The frames are within the memory, and no other thread uses them.
    #[allow(clippy::mut_from_ref)]
    unsafe fn at(&self, frame: usize, count: usize) -> &mut [T] {
        let (start, length) = (frame * self.width, count * self.width);
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), length) }
    }
}

/// Writes blocks into fields whose lengths were checked.
pub(crate) struct Writer<'a, T> {
    lanes: usize,
    obs: Option<Table<'a, T>>,
    final_obs: Option<Table<'a, T>>,
    reward: Option<Table<'a, T>>,
    truncated: Option<Table<'a, bool>>,
    qpos: Option<Table<'a, T>>,
    qvel: Option<Table<'a, T>>,
    qacc_warmstart: Option<Table<'a, T>>,
    elapsed: Option<Table<'a, i32>>,
}

impl<'a, T: Real> Writer<'a, T> {
    /// Checks the fields for `steps` rows of `lanes` lanes.
    pub(crate) fn new(to: Fields<'a, T>, steps: usize, lanes: usize) -> Result<Self, String> {
        let frames = steps * lanes;
        Ok(Self {
            lanes,
            obs: Table::new("obs", to.obs, frames, OBSERVATION)?,
            final_obs: Table::new("final_obs", to.final_obs, frames, OBSERVATION)?,
            reward: Table::new("reward", to.reward, frames, 1)?,
            truncated: Table::new("truncated", to.truncated, frames, 1)?,
            qpos: Table::new("qpos", to.qpos, frames, JOINTS)?,
            qvel: Table::new("qvel", to.qvel, frames, JOINTS)?,
            qacc_warmstart: Table::new("qacc_warmstart", to.qacc_warmstart, frames, JOINTS)?,
            elapsed: Table::new("elapsed", to.elapsed, frames, 1)?,
        })
    }

    /// Writes row `step` of `final_obs`, if that is wanted, as the lanes of one block are now.
    ///
    /// # Safety
    /// As of [`write`](Self::write).
    pub(crate) unsafe fn write_final(&self, step: usize, number: usize, block: &Block<T>) {
        // SAFETY: the caller's.
        unsafe { self.observe(&self.final_obs, step, number, block) };
    }

    /// Writes row `step` of the other fields of the lanes of one block.
    ///
    /// # Safety
    /// `step` is less than the steps given to `new`, and no other thread writes this block.
    pub(crate) unsafe fn write(&self, step: usize, number: usize, block: &Block<T>) {
        let (frame, count) = self.place(step, number);
        // SAFETY: the caller's.
        unsafe {
            self.observe(&self.obs, step, number, block);
            if let Some(to) = &self.reward {
                to.at(frame, count).copy_from_slice(&block.reward[..count]);
            }
            if let Some(to) = &self.truncated {
                to.at(frame, count)
                    .copy_from_slice(&block.truncated[..count]);
            }
            if let Some(to) = &self.elapsed {
                to.at(frame, count).copy_from_slice(&block.elapsed[..count]);
            }
            for (to, rows) in [
                (&self.qpos, &block.qpos),
                (&self.qvel, &block.qvel),
                (&self.qacc_warmstart, &block.qacc_warmstart),
            ] {
                if let Some(to) = to {
                    turn(rows, to.at(frame, count));
                }
            }
        }
    }

    /// The first frame of a block's lanes in row `step`, and how many there are.
    fn place(&self, step: usize, number: usize) -> (usize, usize) {
        let first = number * LANES;
        (step * self.lanes + first, LANES.min(self.lanes - first))
    }

    /// Writes observations into one field.
    ///
    /// # Safety
    /// As of [`write`](Self::write).
    unsafe fn observe(
        &self,
        to: &Option<Table<'_, T>>,
        step: usize,
        number: usize,
        block: &Block<T>,
    ) {
        if let Some(to) = to {
            let (frame, count) = self.place(step, number);
            // SAFETY: the caller's.
            let to = unsafe { to.at(frame, count) };
            for (lane, to) in to.chunks_exact_mut(OBSERVATION).enumerate() {
                block.look(lane, to);
            }
        }
    }
}

/// Writes rows of lanes as lanes of rows.
fn turn<T: Copy>(rows: &[Row<T>; JOINTS], to: &mut [T]) {
    for (lane, to) in to.chunks_exact_mut(JOINTS).enumerate() {
        for (to, row) in to.iter_mut().zip(rows) {
            *to = row[lane];
        }
    }
}
