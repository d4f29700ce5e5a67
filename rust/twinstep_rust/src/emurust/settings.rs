//! What Python says once about how the machines are played.

use std::sync::Arc;

use pyo3::prelude::*;

use super::arrays::Taken;
use super::columns::Field;
use super::lane::Game;
use super::layout::Layout;
use super::play::{Observe, Play};
use super::rules::{MEMORY, Part, Rules, Value};
use crate::arrays::wrong;
use twinstep_emurust::Machine;

/// An address and a number of bytes.
type Place = (u16, u16);

fn value((address, size): Place) -> PyResult<Value> {
    if size == 0 {
        return Err(wrong(format!("the value at ${address:04X} has no bytes")));
    }
    Ok(Value { address, size })
}

/// How machines are played, the same for all of a batch. A place in memory is (address, bytes).
///
/// reward: parts (kind, places, weight), added up in this order; "change" and "bits" have one place,
/// "new" has any number. done: ends an episode when it is not 0. buttons: action -> bits of the
/// buttons held. observe: "full", "half" or places, whose bytes are shown in a row. seed: where a
/// start's number is poked, `seed_frame` frames after the hand-over. start_frames: frames from the
/// hand-over to an episode's first one, and up to `waits - 1` further ones. record: (name, elements, dtype) of
/// the fields of a machine's state, in order.
#[pyclass(module = "twinstep_rust", frozen, from_py_object)]
#[derive(Clone)]
pub(super) struct EmuRustPlay {
    pub play: Arc<Play>,
    pub layout: Arc<Layout>,
}

#[derive(FromPyObject)]
enum Shown {
    Named(String),
    Places(Vec<Place>),
}

#[pymethods]
impl EmuRustPlay {
    #[new]
    #[pyo3(signature = (*, reward, done, buttons, observe, frame_skip, max_episode_steps, seed,
        seed_frame, start_frames, waits, record))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        reward: Vec<(String, Vec<Place>, f64)>,
        done: Option<Place>,
        buttons: Vec<u8>,
        observe: Shown,
        frame_skip: u32,
        max_episode_steps: i32,
        seed: Option<Place>,
        seed_frame: u32,
        start_frames: u32,
        waits: u32,
        record: Vec<(String, usize, String)>,
    ) -> PyResult<Self> {
        let observe = match observe {
            Shown::Named(name) if name == "full" => Observe::Full,
            Shown::Named(name) if name == "half" => Observe::Half,
            Shown::Named(name) => return Err(wrong(format!("unknown observe: {name}"))),
            Shown::Places(places) => {
                Observe::Values(places.into_iter().map(value).collect::<PyResult<_>>()?)
            }
        };
        let play = Play {
            rules: Rules {
                reward: reward.into_iter().map(part).collect::<PyResult<_>>()?,
                done: done.map(value).transpose()?,
            },
            buttons,
            observe,
            frame_skip,
            max_episode_steps,
            seed: seed.map(value).transpose()?,
            seed_frame,
            start_frames,
            waits,
        };
        play.check()?;
        let layout = Layout::new(record)?;
        Ok(Self {
            play: Arc::new(play),
            layout: Arc::new(layout),
        })
    }
}

impl EmuRustPlay {
    /// A ROM in a machine of the record's size.
    pub(super) fn game(&self, rom: &[u8]) -> PyResult<Game> {
        let game = Game::new(rom.to_vec(), &self.play)?;
        let (size, expected) = (Machine::state_size(&game.cartridge), self.layout.size());
        if size != expected {
            return Err(wrong(format!(
                "this cartridge's states have {size} bytes, the record has {expected}"
            )));
        }
        Ok(game)
    }

    /// The axes of what an episode remembers.
    pub(super) fn seen_shape(&self) -> Vec<usize> {
        vec![self.play.rules.memory() / MEMORY, MEMORY]
    }

    /// Borrows the array of a field for writing; `leading`: [N] or [T, N].
    pub(super) fn take<'py>(
        &self,
        name: &str,
        array: &Bound<'py, PyAny>,
        leading: &[usize],
    ) -> PyResult<Taken<'py>> {
        let (field, own) = match name {
            "obs" => (Field::Obs, self.play.observe.shape()),
            "final_obs" => (Field::FinalObs, self.play.observe.shape()),
            "reward" => (Field::Reward, vec![]),
            "terminated" => (Field::Terminated, vec![]),
            "truncated" => (Field::Truncated, vec![]),
            "elapsed" => (Field::Elapsed, vec![]),
            "seen" => (Field::Seen, self.seen_shape()),
            other => {
                let part = self.layout.part(other);
                let part = part.ok_or_else(|| wrong(format!("unknown field: {other}")))?;
                (Field::Part(part), vec![])
            }
        };
        Taken::new(name, field, array, leading, &own)
    }
}

fn part((kind, places, weight): (String, Vec<Place>, f64)) -> PyResult<Part> {
    let mut values = places
        .into_iter()
        .map(value)
        .collect::<PyResult<Vec<_>>>()?;
    match (kind.as_str(), values.len()) {
        ("new", 1..) => Ok(Part::New { values, weight }),
        ("change", 1) => Ok(Part::Change {
            value: values.remove(0),
            weight,
        }),
        ("bits", 1) => Ok(Part::Bits {
            value: values.remove(0),
            weight,
        }),
        (kind, count) => Err(wrong(format!(
            "a reward of kind {kind} with {count} places"
        ))),
    }
}
