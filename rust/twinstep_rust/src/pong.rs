//! Face of the Pong engine (`twinstep_pong`) towards Python.

mod arrays;
mod call;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use twinstep_pong::{self as pong, AutoRestart};

use crate::arrays::{field, named, rows, words, wrong};
use crate::batched::Batched;
use arrays::{Given, Taken};

/// Adds the names of this face to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PongBatch>()?;
    module.add_function(wrap_pyfunction!(call::pong_call, module)?)
}

fn params(frameskip: u32, continuous: bool, max_score: u32) -> PyResult<pong::Params> {
    if frameskip == 0 || max_score == 0 {
        return Err(wrong("frameskip and max_score must be at least 1"));
    }
    Ok(pong::Params {
        frameskip,
        continuous,
        max_score,
    })
}

/// N games of Pong. Wrong shapes, dtypes and names raise ValueError.
///
/// Fields that can be written: `obs` and `final_obs` f32[8], `reward` f32, `terminated` bool,
/// and the fields of the state by the contract's names.
///
/// `auto_reset` says when a game that ended begins its next episode: "off", not by itself.
/// "same-step": `reward`, `terminated` and `final_obs` are the step's own, the other fields
/// those after the restart. "next-step": the game does not play that step; its frame is the
/// new episode's first.
#[pyclass(module = "twinstep_rust")]
struct PongBatch {
    batch: pong::Batch,
    continuous: bool,
}

#[pymethods]
impl PongBatch {
    /// Begins one episode per seed, u32[N, 2]; `tables` u32[N, K] are recorded draws.
    #[staticmethod]
    #[pyo3(signature = (seeds, *, frameskip, continuous, max_score, tables=None))]
    fn reset(
        seeds: &Bound<'_, PyAny>,
        frameskip: u32,
        continuous: bool,
        max_score: u32,
        tables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let params = params(frameskip, continuous, max_score)?;
        let games = rows("seeds", seeds)?;
        let seeds = words(seeds, games)?;
        let tables = match tables {
            None => None,
            Some(tables) => {
                let shape = tables.cast::<PyUntypedArray>().map(|a| a.shape().to_vec());
                let length = shape.ok().and_then(|s| s.get(1).copied()).unwrap_or(0);
                Some(Given::new("tables", tables, &[games, length])?)
            }
        };
        let tables = tables.as_ref().map(|t| t.u32("tables")).transpose()?;
        let batch = pong::Batch::reset(params, &seeds, tables).map_err(wrong)?;
        Ok(Self { batch, continuous })
    }

    /// Continues from the fields of a frame's state, [N, ...] each; others are ignored.
    #[staticmethod]
    #[pyo3(signature = (fields, *, frameskip, continuous, max_score))]
    fn load(
        fields: &Bound<'_, PyDict>,
        frameskip: u32,
        continuous: bool,
        max_score: u32,
    ) -> PyResult<Self> {
        let params = params(frameskip, continuous, max_score)?;
        let mut games = None;
        let mut given = Vec::new();
        for name in pong::state_names() {
            let value = field(fields, name)?;
            if games.is_none() {
                games = Some(rows(name, &value)?);
            }
            let games = games.unwrap_or(0);
            let shape = [games, pong::OBSERVATION];
            let axes = if name == "last_obs" { 2 } else { 1 };
            given.push((name, Given::new(name, &value, &shape[..axes])?));
        }
        let inputs: Vec<_> = given
            .iter()
            .map(|(name, given)| Ok((*name, given.input(name)?)))
            .collect::<PyResult<_>>()?;
        let get = |wanted: &str| {
            let found = inputs.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, input)| *input)
        };
        let batch = pong::Batch::load(params, games.unwrap_or(0), get).map_err(wrong)?;
        Ok(Self { batch, continuous })
    }

    /// Number of games.
    #[getter]
    #[pyo3(name = "lanes")]
    fn number_of_games(&self) -> usize {
        self.batch.games()
    }

    /// Returns games that go on apart from these.
    fn copy(&self) -> Self {
        Self {
            batch: self.batch.clone(),
            continuous: self.continuous,
        }
    }

    /// Begins the next episode in every game, as the reference does after a terminal step.
    fn restart(&mut self) {
        self.batch.restart();
    }

    /// Writes fields [N, ...] of the present frame.
    fn write(&mut self, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut taken = Fields::new(fields, &[self.batch.games()])?;
        self.batch.write(taken.outputs()?).map_err(wrong)
    }

    /// Plays one step with actions [N] and writes fields [N, ...] of the frame.
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

    /// Plays T steps with actions [T, N] and writes fields [T, N, ...] of the frames.
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

impl Batched for PongBatch {
    type AutoReset = AutoRestart;
    const AUTO_RESETS: [AutoRestart; 3] = [
        AutoRestart::Off,
        AutoRestart::SameStep,
        AutoRestart::NextStep,
    ];

    fn lanes(&self) -> usize {
        self.batch.games()
    }

    fn play(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        steps: usize,
        shape: &[usize],
        auto_reset: AutoRestart,
    ) -> PyResult<()> {
        let given = Given::new("actions", actions, shape)?;
        let actions = if self.continuous {
            pong::Actions::Continuous(given.f32("actions")?)
        } else {
            pong::Actions::Discrete(given.i32("actions")?)
        };
        let mut taken = Fields::new(fields, shape)?;
        let outputs = taken.outputs()?;
        let batch = &mut self.batch;
        py.detach(|| batch.rollout(steps, actions, outputs, auto_reset))
            .map_err(wrong)
    }
}

/// The arrays of a dictionary, borrowed for writing.
struct Fields<'py>(Vec<(String, Taken<'py>)>);

impl<'py> Fields<'py> {
    fn new(fields: &Bound<'py, PyDict>, shape: &[usize]) -> PyResult<Self> {
        let mut taken = Vec::with_capacity(fields.len());
        for pair in named(fields) {
            let (name, value) = pair?;
            let mut shape = shape.to_vec();
            if ["obs", "final_obs", "last_obs"].contains(&name.as_str()) {
                shape.push(pong::OBSERVATION);
            }
            let array = Taken::new(&name, &value, &shape)?;
            taken.push((name, array));
        }
        Ok(Self(taken))
    }

    fn outputs(&mut self) -> PyResult<pong::Fields<'_>> {
        self.0
            .iter_mut()
            .map(|(name, array)| Ok((name.as_str(), array.output(name)?)))
            .collect()
    }
}
