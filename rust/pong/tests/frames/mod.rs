//! What the tests share: frames with all their fields, starts and actions.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use twinstep_pong::{
    Actions, AutoRestart, Batch, Fields, Input, OBSERVATION, Output, Params, state_names,
};

pub const GAMES: usize = 131; // two full blocks and a part of one

/// The values of one field, game by game. Equality is that of bits.
#[derive(Clone, Debug)]
pub enum Values {
    F32(Vec<f32>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    Bool(Vec<bool>),
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => bits(a) == bits(b),
            (Self::I32(a), Self::I32(b)) => a == b,
            (Self::U32(a), Self::U32(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            _ => false,
        }
    }
}

/// All fields of frames, `[T, N]` or `[T, N, 8]`, filled with what no game writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames(Vec<(&'static str, Values)>);

impl Frames {
    pub fn new(rows: usize) -> Self {
        let extra = ["obs", "final_obs", "reward", "terminated"];
        let fields = extra.into_iter().chain(state_names()).map(|name| {
            let values = match name {
                "terminated" => Values::Bool(vec![false; rows]),
                "tick" | "n_bounces" | "win" => Values::I32(vec![-1; rows]),
                "score_l" | "score_r" | "rng_key" | "draws" => Values::U32(vec![u32::MAX; rows]),
                _ => Values::F32(vec![f32::NAN; rows * width(name)]),
            };
            (name, values)
        });
        Self(fields.collect())
    }

    /// The present frame.
    pub fn now(batch: &mut Batch) -> Self {
        let mut frames = Self::new(batch.games());
        batch.write(frames.fields()).unwrap();
        frames
    }

    /// Those of a rollout with discrete actions `[T, N]`.
    pub fn rollout(batch: &mut Batch, actions: &[i32], auto_restart: AutoRestart) -> Self {
        let mut frames = Self::new(actions.len());
        let steps = actions.len() / batch.games();
        let actions = Actions::Discrete(actions);
        batch
            .rollout(steps, actions, frames.fields(), auto_restart)
            .unwrap();
        frames
    }

    pub fn fields(&mut self) -> Fields<'_> {
        let each = self.0.iter_mut().map(|(name, values)| {
            let output = match values {
                Values::F32(values) => Output::F32(values),
                Values::I32(values) => Output::I32(values),
                Values::U32(values) => Output::U32(values),
                Values::Bool(values) => Output::Bool(values),
            };
            (*name, output)
        });
        each.collect()
    }

    pub fn values(&self, name: &str) -> &Values {
        let found = self.0.iter().find(|(known, _)| *known == name);
        &found.unwrap().1
    }

    pub fn input(&self, name: &str) -> Option<Input<'_>> {
        match self.values(name) {
            Values::F32(values) => Some(Input::F32(values)),
            Values::I32(values) => Some(Input::I32(values)),
            Values::U32(values) => Some(Input::U32(values)),
            Values::Bool(_) => None,
        }
    }

    pub fn f32(&self, name: &str) -> &[f32] {
        let Values::F32(values) = self.values(name) else {
            panic!("{name} is no f32")
        };
        values
    }

    pub fn u32(&self, name: &str) -> &[u32] {
        let Values::U32(values) = self.values(name) else {
            panic!("{name} is no u32")
        };
        values
    }

    pub fn i32(&self, name: &str) -> &[i32] {
        let Values::I32(values) = self.values(name) else {
            panic!("{name} is no i32")
        };
        values
    }

    pub fn terminated(&self) -> &[bool] {
        let Values::Bool(values) = self.values("terminated") else {
            unreachable!()
        };
        values
    }

    pub fn endings(&self) -> usize {
        self.terminated().iter().filter(|over| **over).count()
    }

    pub fn append(&mut self, other: Self) {
        for ((_, to), (_, from)) in self.0.iter_mut().zip(other.0) {
            match (to, from) {
                (Values::F32(to), Values::F32(from)) => to.extend(from),
                (Values::I32(to), Values::I32(from)) => to.extend(from),
                (Values::U32(to), Values::U32(from)) => to.extend(from),
                (Values::Bool(to), Values::Bool(from)) => to.extend(from),
                _ => unreachable!(),
            }
        }
    }

    /// The rows of these numbers; a row is one game at one step.
    pub fn rows(&self, numbers: &[usize]) -> Self {
        let pick = |(name, values): &(&'static str, Values)| {
            let width = width(name);
            let places = numbers.iter().flat_map(|n| n * width..(n + 1) * width);
            let values = match values {
                Values::F32(values) => Values::F32(places.map(|p| values[p]).collect()),
                Values::I32(values) => Values::I32(places.map(|p| values[p]).collect()),
                Values::U32(values) => Values::U32(places.map(|p| values[p]).collect()),
                Values::Bool(values) => Values::Bool(places.map(|p| values[p]).collect()),
            };
            (*name, values)
        };
        Self(self.0.iter().map(pick).collect())
    }

    /// These frames with one field taken from others.
    pub fn with(mut self, name: &str, other: &Self, from: &str) -> Self {
        let found = self.0.iter_mut().find(|(known, _)| *known == name);
        found.unwrap().1 = other.values(from).clone();
        self
    }
}

fn width(name: &str) -> usize {
    if name.ends_with("obs") {
        OBSERVATION
    } else {
        1
    }
}

/// Short episodes.
pub fn params(frameskip: u32) -> Params {
    Params {
        frameskip,
        continuous: false,
        max_score: 2,
    }
}

pub fn seeds() -> Vec<[u32; 2]> {
    (0..GAMES as u32).map(|i| [i, 7]).collect()
}

pub fn start(frameskip: u32) -> Batch {
    Batch::reset(params(frameskip), &seeds(), None).unwrap()
}

/// Random actions `[T, N]`.
pub fn actions(steps: usize) -> Vec<i32> {
    let mut word = 1u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (word >> 16) as i32 % 3
    };
    (0..GAMES * steps).map(|_| next()).collect()
}
