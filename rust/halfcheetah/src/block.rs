//! Lanes side by side: one array per number, so that a vector is a piece of memory.

/// Joints: forward, up, turning, then the six driven ones.
pub const JOINTS: usize = 9;
/// Driven joints.
pub const MOTORS: usize = 6;
/// Elements of an observation: all positions except the distance, and all velocities.
pub const OBSERVATION: usize = 17;

/// Lanes in a block: one of the longest vectors.
pub(crate) const LANES: usize = 16;

pub(crate) type Row<T> = [T; LANES];

/// The state of [`LANES`] cheetahs. The last block of a batch may be filled up with idle ones.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Block<T> {
    pub qpos: [Row<T>; JOINTS],
    pub qvel: [Row<T>; JOINTS],
    /// The accelerations at which the next search begins (MuJoCo's name).
    pub qacc_warmstart: [Row<T>; JOINTS],
    pub elapsed: Row<i32>,
    /// Seeds of the running episodes.
    pub seed: Row<[u32; 2]>,
    /// The last step's reward and end.
    pub reward: Row<T>,
    pub truncated: Row<bool>,
}

impl<T: Copy + Default> Block<T> {
    /// Cheetahs at rest in the origin.
    pub(crate) fn new() -> Self {
        let zeros = [[T::default(); LANES]; JOINTS];
        Self {
            qpos: zeros,
            qvel: zeros,
            qacc_warmstart: zeros,
            elapsed: [0; LANES],
            seed: [[0; 2]; LANES],
            reward: zeros[0],
            truncated: [false; LANES],
        }
    }

    /// The lanes that the last step ended.
    pub(crate) fn ended(&self) -> u32 {
        let mut ended = 0;
        for (lane, truncated) in self.truncated.iter().enumerate() {
            ended |= u32::from(*truncated) << lane;
        }
        ended
    }

    /// Clears the last step's results in these lanes.
    pub(crate) fn clear(&mut self, lanes: u32) {
        for lane in places(lanes) {
            self.reward[lane] = T::default();
            self.truncated[lane] = false;
        }
    }

    /// Writes the observation of a lane.
    pub(crate) fn look(&self, lane: usize, to: &mut [T]) {
        for (to, row) in to.iter_mut().zip(self.qpos[1..].iter().chain(&self.qvel)) {
            *to = row[lane];
        }
    }
}

/// The places of the bits that are set.
pub(crate) fn places(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(place as usize)
    })
}
