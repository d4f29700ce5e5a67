//! How the machine is played: what an action, an observation and an episode are.

use pyo3::prelude::*;
use twinstep_emurust::Machine;

use super::rules::{Rules, Value};
use crate::arrays::wrong;

/// What an observation shows.
#[derive(Clone, Debug)]
pub(super) enum Observe {
    /// 144 lines of 160 shades.
    Full,
    /// Every second pixel of every second line: 72 of 80.
    Half,
    /// Bytes of memory.
    Values(Vec<Value>),
}

impl Observe {
    /// The axes of an observation, of bytes.
    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Full => vec![144, 160],
            Self::Half => vec![72, 80],
            Self::Values(values) => vec![values.iter().map(|v| usize::from(v.size)).sum()],
        }
    }
}

/// What all environments of a batch share.
#[derive(Clone, Debug)]
pub(super) struct Play {
    pub rules: Rules,
    /// Action -> buttons held, as [`Machine::buttons`] takes them.
    pub buttons: Vec<u8>,
    pub observe: Observe,
    pub frame_skip: u32,
    pub max_episode_steps: i32,
    /// Where an episode's random number is poked, if the game takes one.
    pub seed: Option<Value>,
    /// Frames from the hand-over to that.
    pub seed_frame: u32,
    /// Frames from the hand-over to an episode's first frame at least, and how many numbers of
    /// further ones there are, which the seed chooses from.
    pub start_frames: u32,
    pub waits: u32,
}

/// More frames than an hour of play, to be refused: a step or start would not come back.
const MOST_FRAMES: u32 = 60 * 60 * 60;

impl Play {
    /// Checks that numbers fit together.
    pub(super) fn check(&self) -> PyResult<()> {
        self.rules.check()?;
        if self.buttons.is_empty() {
            return Err(wrong("there must be at least one action"));
        }
        if !(1..=MOST_FRAMES).contains(&self.frame_skip) || self.max_episode_steps < 1 {
            return Err(wrong(
                "a step has at least one frame, and an episode one step",
            ));
        }
        if !(1..=MOST_FRAMES).contains(&self.start_frames)
            || !(1..=MOST_FRAMES).contains(&self.waits)
            || self.seed_frame > self.start_frames
        {
            return Err(wrong(
                "an episode's start has at least one frame, and those before its seed is poked",
            ));
        }
        Ok(())
    }

    /// The buttons held with each action.
    pub(super) fn held(&self, actions: &[i32]) -> PyResult<Vec<u8>> {
        let one = |action: &i32| {
            let held = usize::try_from(*action)
                .ok()
                .and_then(|a| self.buttons.get(a));
            held.copied().ok_or_else(|| {
                let last = self.buttons.len() - 1;
                wrong(format!("action {action}: actions are 0 to {last}"))
            })
        };
        actions.iter().map(one).collect()
    }

    /// Pokes the seed's number and plays to the episode's first frame, the only one drawn.
    pub(super) fn start(&self, machine: &mut Machine, seed: [u32; 2]) {
        let key = hash(seed[0] ^ hash(seed[1]));
        if let Some(value) = self.seed {
            let bytes = key.to_le_bytes().into_iter().chain(std::iter::repeat(0));
            for (place, byte) in (0..value.size).zip(bytes) {
                machine.poke(value.address.wrapping_add(place), byte);
            }
        }
        let wait = hash(key ^ 0x9E37_79B9) % self.waits;
        machine.frames(self.start_frames - self.seed_frame + wait, true);
    }
}

/// The contract's h32.
fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846C_A68B);
    x ^ x >> 16
}
