//! Face of the Game Boy (`twinstep_emurust`) towards Python.

mod arrays;
mod batch;
mod columns;
mod lane;
mod layout;
mod play;
mod rules;
mod settings;

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use twinstep_emurust::{Cartridge, Machine};

use crate::arrays::{field, named, read, rows, words, wrong};
use crate::batched::Batched;
use arrays::Taken;
use batch::Batch;
use lane::{AutoReset, Game};
use settings::EmuRustPlay;

/// Adds the names of this face to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EmuRustPlay>()?;
    module.add_function(wrap_pyfunction!(emurust_instructions, module)?)?;
    module.add_class::<EmuRustBatch>()
}

/// N Game Boys. Wrong shapes, dtypes, names, cartridges and states raise ValueError.
///
/// Fields that can be written: `obs` and `final_obs` u8, `reward` f32, `terminated` and `truncated`
/// bool, `elapsed` i32, `seen` u8, and those of the record.
///
/// `auto_reset` says when a lane whose episode ended begins the next: "off", not by itself.
/// "same-step": `reward`, `terminated`, `truncated` and `final_obs` are the step's own, the other
/// fields those after the reset. "next-step": the lane does not play that step; its frame is the
/// new episode's first. The seed (a, b) of an episode is followed by (a, b + 1).
#[pyclass(module = "twinstep_rust")]
struct EmuRustBatch {
    batch: Batch,
    settings: EmuRustPlay,
}

#[pymethods]
impl EmuRustBatch {
    /// Begins one episode per seed, u32[N, 2]. `roms`: u8[1, bytes], or one for each, u8[N, bytes].
    #[staticmethod]
    fn reset(
        py: Python<'_>,
        play: &EmuRustPlay,
        roms: &Bound<'_, PyAny>,
        seeds: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let seeds = words(seeds, rows("seeds", seeds)?)?;
        let games = games(py, play, roms, seeds.len())?;
        let batch = py.detach(|| Batch::reset(play.play.clone(), games, seeds));
        let batch = batch?;
        let settings = play.clone();
        Ok(Self { batch, settings })
    }

    /// Continues from states. `records`: u8[N, bytes], each the fields of the record one after the
    /// other. `fields`: `elapsed` and, if the play remembers anything, `seen`, [N, ...]; others are
    /// ignored. `seeds`, u32[N, 2]: of the running episodes; zeros if they are left out.
    #[staticmethod]
    #[pyo3(signature = (play, roms, records, fields, *, seeds=None))]
    fn load(
        py: Python<'_>,
        play: &EmuRustPlay,
        roms: &Bound<'_, PyAny>,
        records: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        seeds: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let lanes = rows("records", records)?;
        let size = play.layout.size();
        let records = read::<u8>("records", records, &[lanes, size])?;
        let records = records.as_slice();
        let records = records.map_err(|e| wrong(format!("records: {e}")))?;
        let seeds = match seeds {
            None => vec![[0; 2]; lanes],
            Some(seeds) => words(seeds, lanes)?,
        };
        let elapsed = read::<i32>("elapsed", &field(fields, "elapsed")?, &[lanes])?;
        let elapsed = elapsed.as_slice().map_err(|e| wrong(e.to_string()))?;
        let memory = play.play.rules.memory();
        let mut seen = Vec::new();
        if memory > 0 {
            let shape = [vec![lanes], play.seen_shape()].concat();
            let given = read::<u8>("seen", &field(fields, "seen")?, &shape)?;
            seen = given.as_slice().map_err(|e| wrong(e.to_string()))?.to_vec();
        }
        let games = games(py, play, roms, lanes)?;
        let batch: PyResult<_> = py.detach(|| {
            let mut batch = Batch::load(play.play.clone(), games, records, seeds)?;
            for (place, lane) in batch.lanes.iter_mut().enumerate() {
                lane.elapsed = elapsed[place];
                lane.seen.copy_from_slice(&seen[place * memory..][..memory]);
            }
            Ok(batch)
        });
        let batch = batch?;
        let settings = play.clone();
        Ok(Self { batch, settings })
    }

    /// Number of lanes.
    #[getter]
    #[pyo3(name = "lanes")]
    fn number_of_lanes(&self) -> usize {
        self.lanes()
    }

    /// Bytes of the lane that takes most, besides the ROM and its decoded code, which lanes share.
    #[getter]
    fn bytes_per_lane(&self) -> usize {
        let bytes = self.batch.lanes.iter().map(|lane| lane.bytes());
        bytes.max().unwrap_or(0)
    }

    /// The seeds of the running episodes, u32[N, 2].
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let words = self.batch.lanes.iter().flat_map(|lane| lane.seed);
        let flat = PyArray1::from_iter(py, words);
        Ok(flat.reshape([self.lanes(), 2])?.into_any())
    }

    /// Returns lanes that go on apart from these.
    fn copy(&self, py: Python<'_>) -> Self {
        let batch = py.detach(|| self.batch.copy());
        let settings = self.settings.clone();
        Self { batch, settings }
    }

    /// Writes fields [N, ...] of the present frame.
    fn write(&mut self, py: Python<'_>, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        let shape = [self.lanes()];
        let mut taken = self.take(fields, &shape)?;
        let columns = arrays::columns(&mut taken, 1, self.lanes())?;
        py.detach(|| self.batch.write(columns));
        Ok(())
    }

    /// Plays one step with actions i32[N] and writes fields [N, ...] of the frame.
    #[pyo3(signature = (actions, fields, *, auto_reset="off"))]
    fn step(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        auto_reset: &str,
    ) -> PyResult<()> {
        self.play_step(py, actions, fields, auto_reset)
    }

    /// Plays T steps with actions i32[T, N] and writes fields [T, N, ...] of the frames.
    #[pyo3(signature = (actions, fields, *, auto_reset="off"))]
    fn rollout(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        auto_reset: &str,
    ) -> PyResult<()> {
        self.play_rollout(py, actions, fields, auto_reset)
    }
}

impl Batched for EmuRustBatch {
    type AutoReset = AutoReset;
    const AUTO_RESETS: [AutoReset; 3] = [AutoReset::Off, AutoReset::SameStep, AutoReset::NextStep];

    fn lanes(&self) -> usize {
        self.batch.lanes.len()
    }

    fn play(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        steps: usize,
        shape: &[usize],
        auto_reset: AutoReset,
    ) -> PyResult<()> {
        let actions = read::<i32>("actions", actions, shape)?;
        let actions = actions.as_slice();
        let actions = actions.map_err(|e| wrong(format!("actions: {e}")))?;
        let mut taken = self.take(fields, shape)?;
        let columns = arrays::columns(&mut taken, steps, self.lanes())?;
        py.detach(|| self.batch.rollout(actions, columns, auto_reset))
    }
}

impl EmuRustBatch {
    fn take<'py>(&self, fields: &Bound<'py, PyDict>, shape: &[usize]) -> PyResult<Vec<Taken<'py>>> {
        let one = |pair: PyResult<(String, Bound<'py, PyAny>)>| {
            let (name, value) = pair?;
            self.settings.take(&name, &value, shape)
        };
        named(fields).map(one).collect()
    }
}

/// Instructions in `frames` frames of a cartridge: each one, also in loops that only wait; a halted
/// processor runs none. Buttons are random, by the seed, and held for 24 frames each.
#[pyfunction]
fn emurust_instructions(py: Python<'_>, rom: Vec<u8>, frames: u32, seed: u32) -> PyResult<u64> {
    let cartridge = Cartridge::new(rom).map_err(wrong)?;
    Ok(py.detach(|| {
        let mut machine = Machine::new(cartridge);
        machine.plain = true;
        let mut random = seed;
        for frame in 0..frames {
            if frame.is_multiple_of(24) {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                machine.buttons((random >> 24) as u8);
            }
            machine.frame(false);
        }
        machine.instructions()
    }))
}

/// The game of each lane; equal ROMs are kept once.
fn games(
    py: Python<'_>,
    play: &EmuRustPlay,
    roms: &Bound<'_, PyAny>,
    lanes: usize,
) -> PyResult<Vec<Arc<Game>>> {
    if lanes == 0 {
        return Err(wrong("there must be at least one lane"));
    }
    let count = rows("roms", roms)?;
    let array = roms.cast::<PyUntypedArray>();
    let bytes = array.map_or(0, |a| a.shape().get(1).copied().unwrap_or(0));
    if ![1, lanes].contains(&count) {
        return Err(wrong(format!("{count} ROMs for {lanes} lanes")));
    }
    let roms = read::<u8>("roms", roms, &[count, bytes])?;
    let memory = roms.as_slice().map_err(|e| wrong(format!("roms: {e}")))?;
    let each: Vec<&[u8]> = match bytes {
        0 => vec![&[]; count],
        _ => memory.chunks_exact(bytes).collect(),
    };
    py.detach(|| {
        let mut places = HashMap::new();
        let mut distinct = Vec::new();
        let which: Vec<usize> = each
            .iter()
            .map(|rom| {
                *places.entry(*rom).or_insert_with(|| {
                    distinct.push(*rom);
                    distinct.len() - 1
                })
            })
            .collect();
        let made = distinct.par_iter().map(|rom| play.game(rom).map(Arc::new));
        let made = made.collect::<PyResult<Vec<_>>>()?;
        let of = |lane: usize| made[which[lane % which.len()]].clone();
        Ok((0..lanes).map(of).collect())
    })
}
