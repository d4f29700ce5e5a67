//! Outputs of a batch: `[T, N, ...]`, row by row, in the caller's memory.

use crate::block::{Block, JOINTS, LANES, OBSERVATION, Row};
use crate::error::Error;
use crate::real::Real;
use crate::strips::Strip;

/// Memory for the fields of frames. None of them has to be written.
#[derive(Default)]
pub struct Fields<'a, T> {
    /// Observations `[..., 17]`, after a reset in the same step.
    pub obs: Option<&'a mut [T]>,
    /// Observations `[..., 17]`, before a reset in the same step.
    pub final_obs: Option<&'a mut [T]>,
    /// The step's reward.
    pub reward: Option<&'a mut [T]>,
    /// Whether the step was the episode's last.
    pub truncated: Option<&'a mut [bool]>,
    /// Joint positions `[..., 9]`.
    pub qpos: Option<&'a mut [T]>,
    /// Joint velocities `[..., 9]`.
    pub qvel: Option<&'a mut [T]>,
    /// Accelerations `[..., 9]` that the next search begins at.
    pub qacc_warmstart: Option<&'a mut [T]>,
    /// Steps of the episode so far.
    pub elapsed: Option<&'a mut [i32]>,
}

/// One field of some lanes, with `WIDTH` elements of each.
struct Sink<'a, T, const WIDTH: usize>(Option<Strip<'a, T>>);

impl<'a, T: Copy, const WIDTH: usize> Sink<'a, T, WIDTH> {
    /// Checks a field for `steps` rows of `lanes` lanes.
    fn new(
        name: &'static str,
        memory: Option<&'a mut [T]>,
        (steps, lanes): (usize, usize),
    ) -> Result<Self, Error> {
        let Some(memory) = memory else {
            return Ok(Self(None));
        };
        let (found, expected) = (memory.len(), steps * lanes * WIDTH);
        if found != expected {
            return Err(Error::Length {
                name,
                found,
                expected,
            });
        }
        Ok(Self(Some(Strip::new(memory, lanes * WIDTH))))
    }

    /// Cuts off the first lanes.
    fn split_off(&mut self, lanes: usize) -> Self {
        let to = self.0.as_mut();
        Self(to.map(|to| to.split_off(lanes * WIDTH)))
    }

    /// Writes one row: `fill` gets each lane's number and its elements.
    #[inline(always)]
    fn each(&mut self, step: usize, fill: impl Fn(usize, &mut [T; WIDTH])) {
        if let Some(to) = &mut self.0 {
            for (lane, to) in to.row(step).as_chunks_mut().0.iter_mut().enumerate() {
                fill(lane, to);
            }
        }
    }
}

impl<T: Copy> Sink<'_, T, 1> {
    /// Writes one row of a field that has one element of each lane.
    #[inline(always)]
    fn copy(&mut self, step: usize, from: &Row<T>) {
        if let Some(to) = &mut self.0 {
            let to = to.row(step);
            to.copy_from_slice(&from[..to.len()]);
        }
    }
}

/// Fields whose lengths were checked, of all lanes or of those of a block.
pub(crate) struct Writer<'a, T> {
    lanes: usize,
    obs: Sink<'a, T, OBSERVATION>,
    final_obs: Sink<'a, T, OBSERVATION>,
    reward: Sink<'a, T, 1>,
    truncated: Sink<'a, bool, 1>,
    qpos: Sink<'a, T, JOINTS>,
    qvel: Sink<'a, T, JOINTS>,
    qacc_warmstart: Sink<'a, T, JOINTS>,
    elapsed: Sink<'a, i32, 1>,
}

impl<'a, T: Real> Writer<'a, T> {
    /// Checks the fields for `steps` rows of `lanes` lanes.
    pub(crate) fn new(to: Fields<'a, T>, steps: usize, lanes: usize) -> Result<Self, Error> {
        let rows = (steps, lanes);
        Ok(Self {
            lanes,
            obs: Sink::new("obs", to.obs, rows)?,
            final_obs: Sink::new("final_obs", to.final_obs, rows)?,
            reward: Sink::new("reward", to.reward, rows)?,
            truncated: Sink::new("truncated", to.truncated, rows)?,
            qpos: Sink::new("qpos", to.qpos, rows)?,
            qvel: Sink::new("qvel", to.qvel, rows)?,
            qacc_warmstart: Sink::new("qacc_warmstart", to.qacc_warmstart, rows)?,
            elapsed: Sink::new("elapsed", to.elapsed, rows)?,
        })
    }

    /// The fields of each block's lanes.
    pub(crate) fn blocks(mut self) -> impl ExactSizeIterator<Item = Self> {
        let all = self.lanes;
        (0..all.div_ceil(LANES)).map(move |number| {
            let lanes = LANES.min(all - number * LANES);
            Self {
                lanes,
                obs: self.obs.split_off(lanes),
                final_obs: self.final_obs.split_off(lanes),
                reward: self.reward.split_off(lanes),
                truncated: self.truncated.split_off(lanes),
                qpos: self.qpos.split_off(lanes),
                qvel: self.qvel.split_off(lanes),
                qacc_warmstart: self.qacc_warmstart.split_off(lanes),
                elapsed: self.elapsed.split_off(lanes),
            }
        })
    }

    /// Writes row `step` of `final_obs`, if that is wanted, as the lanes of the block are now.
    pub(crate) fn write_final(&mut self, step: usize, block: &Block<T>) {
        self.final_obs.each(step, |lane, to| block.look(lane, to));
    }

    /// Writes row `step` of the other fields of the block's lanes.
    pub(crate) fn write(&mut self, step: usize, block: &Block<T>) {
        self.obs.each(step, |lane, to| block.look(lane, to));
        self.reward.copy(step, &block.reward);
        self.truncated.copy(step, &block.truncated);
        self.elapsed.copy(step, &block.elapsed);
        for (sink, rows) in [
            (&mut self.qpos, &block.qpos),
            (&mut self.qvel, &block.qvel),
            (&mut self.qacc_warmstart, &block.qacc_warmstart),
        ] {
            sink.each(step, |lane, to| {
                for (to, row) in to.iter_mut().zip(rows) {
                    *to = row[lane];
                }
            });
        }
    }
}
