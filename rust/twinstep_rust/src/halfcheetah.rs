//! Face of the HalfCheetah engine (`twinstep_halfcheetah`) towards Python.

mod call;

use numpy::{Element, PyArray1, PyArrayMethods, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use twinstep_halfcheetah as halfcheetah;

use crate::arrays::{field, named, read, rows, words, write, wrong};
use crate::batched::Batched;
use halfcheetah::{AutoReset, Batch, Isa, JOINTS, MOTORS, OBSERVATION, Real};

/// Adds the names of this face to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HalfCheetahBatch>()?;
    module.add_function(wrap_pyfunction!(call::halfcheetah_call, module)?)?;
    module.add_function(wrap_pyfunction!(halfcheetah_isa, module)?)
}

/// The instructions that batches compute with: the widest of "portable", "avx2" and "avx512" that
/// this processor has, or the one that the environment variable TWINSTEP_ISA names.
#[pyfunction]
fn halfcheetah_isa() -> PyResult<&'static str> {
    Isa::choose().map(Isa::name).map_err(wrong)
}

/// Two engines, one per dtype.
#[derive(Clone)]
enum Engine {
    F32(Batch<f32>),
    F64(Batch<f64>),
}

/// Evaluates an expression with the engine of either dtype.
macro_rules! either {
    ($engine:expr, $batch:ident => $value:expr) => {
        match $engine {
            Engine::F32($batch) => $value,
            Engine::F64($batch) => $value,
        }
    };
}

/// N cheetahs, in "float32" or "float64". Wrong shapes, dtypes and names raise ValueError.
///
/// Fields that can be written: `obs` and `final_obs` [17], `qpos`, `qvel` and `qacc_warmstart` [9]
/// and `reward` in the batch's dtype, `truncated` bool, `elapsed` i32.
///
/// `auto_reset` says when a lane whose episode ended begins the next: "off", not by itself.
/// "same-step": `reward`, `truncated` and `final_obs` are the step's own, the other fields those
/// after the reset. "next-step": the lane does not play that step; its frame is the new episode's
/// first. The seed (a, b) of an episode is followed by (a, b + 1).
#[pyclass(module = "twinstep_rust")]
struct HalfCheetahBatch {
    engine: Engine,
}

#[pymethods]
impl HalfCheetahBatch {
    /// Begins one episode per seed, u32[N, 2].
    #[staticmethod]
    #[pyo3(signature = (seeds, *, dtype, max_episode_steps))]
    fn reset(
        py: Python<'_>,
        seeds: &Bound<'_, PyAny>,
        dtype: &str,
        max_episode_steps: i32,
    ) -> PyResult<Self> {
        let isa = Isa::choose().map_err(wrong)?;
        let seeds = words(seeds, rows("seeds", seeds)?)?;
        let single = is_single(dtype)?;
        let engine = py.detach(|| match single {
            true => Batch::reset(isa, max_episode_steps, &seeds).map(Engine::F32),
            false => Batch::reset(isa, max_episode_steps, &seeds).map(Engine::F64),
        });
        let engine = engine.map_err(wrong)?;
        Ok(Self { engine })
    }

    /// Continues from the fields of a frame's state in the batch's dtype, [N, ...] each; others
    /// are ignored. `seeds`, u32[N, 2]: of the running episodes; zeros if they are left out.
    #[staticmethod]
    #[pyo3(signature = (fields, *, dtype, max_episode_steps, seeds=None))]
    fn load(
        fields: &Bound<'_, PyDict>,
        dtype: &str,
        max_episode_steps: i32,
        seeds: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let engine = match is_single(dtype)? {
            true => Engine::F32(loaded(fields, max_episode_steps, seeds)?),
            false => Engine::F64(loaded(fields, max_episode_steps, seeds)?),
        };
        Ok(Self { engine })
    }

    /// Number of lanes.
    #[getter]
    #[pyo3(name = "lanes")]
    fn number_of_lanes(&self) -> usize {
        self.lanes()
    }

    /// The instructions it computes with.
    #[getter]
    fn isa(&self) -> &'static str {
        either!(&self.engine, batch => batch.isa().name())
    }

    /// The seeds of the running episodes, u32[N, 2].
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let words: Vec<u32> = either!(&self.engine, batch => batch.seeds().flatten().collect());
        let flat = PyArray1::from_vec(py, words);
        Ok(flat.reshape([self.lanes(), 2])?.into_any())
    }

    /// Returns lanes that go on apart from these.
    fn copy(&self) -> Self {
        Self {
            engine: self.engine.clone(),
        }
    }

    /// Writes fields [N, ...] of the present frame.
    fn write(&self, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        let shape = [self.lanes()];
        either!(&self.engine, batch => {
            let mut taken = Taken::new(fields, &shape)?;
            batch.write(taken.fields()?).map_err(wrong)
        })
    }

    /// Plays one step with actions f32[N, 6] and writes fields [N, ...] of the frame.
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

    /// Plays T steps with actions f32[T, N, 6] and writes fields [T, N, ...] of the frames.
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

impl Batched for HalfCheetahBatch {
    type AutoReset = AutoReset;
    const AUTO_RESETS: [AutoReset; 3] = [AutoReset::Off, AutoReset::SameStep, AutoReset::NextStep];

    fn lanes(&self) -> usize {
        either!(&self.engine, batch => batch.lanes())
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
        let given = read::<f32>("actions", actions, &[shape, &[MOTORS]].concat())?;
        let actions = given.as_slice();
        let actions = actions.map_err(|e| wrong(format!("actions: {e}")))?;
        either!(&mut self.engine, batch => {
            let mut taken = Taken::new(fields, shape)?;
            let fields = taken.fields()?;
            py.detach(|| batch.rollout(steps, actions, fields, auto_reset))
                .map_err(wrong)
        })
    }
}

/// Whether a dtype is float32, not float64.
fn is_single(dtype: &str) -> PyResult<bool> {
    match dtype {
        "float32" => Ok(true),
        "float64" => Ok(false),
        _ => Err(wrong(format!("{dtype} is neither float32 nor float64"))),
    }
}

fn loaded<T: Real + Element>(
    fields: &Bound<'_, PyDict>,
    max_episode_steps: i32,
    seeds: Option<&Bound<'_, PyAny>>,
) -> PyResult<Batch<T>> {
    let elapsed = field(fields, "elapsed")?;
    let lanes = rows("elapsed", &elapsed)?;
    let elapsed = read::<i32>("elapsed", &elapsed, &[lanes])?;
    let real = |name: &str| read::<T>(name, &field(fields, name)?, &[lanes, JOINTS]);
    let (qpos, qvel, warm) = (real("qpos")?, real("qvel")?, real("qacc_warmstart")?);
    let seeds = seeds.map(|seeds| words(seeds, lanes)).transpose()?;
    let problem = |e| wrong(format!("the state: {e}"));
    Batch::load(
        Isa::choose().map_err(wrong)?,
        max_episode_steps,
        qpos.as_slice().map_err(problem)?,
        qvel.as_slice().map_err(problem)?,
        warm.as_slice().map_err(problem)?,
        elapsed.as_slice().map_err(problem)?,
        seeds.as_deref(),
    )
    .map_err(wrong)
}

/// The arrays of a dictionary, borrowed for writing.
struct Taken<'py, T: Element> {
    real: Vec<(String, PyReadwriteArrayDyn<'py, T>)>,
    truncated: Option<PyReadwriteArrayDyn<'py, bool>>,
    elapsed: Option<PyReadwriteArrayDyn<'py, i32>>,
}

impl<'py, T: Real + Element> Taken<'py, T> {
    fn new(fields: &Bound<'py, PyDict>, shape: &[usize]) -> PyResult<Self> {
        let mut taken = Self {
            real: Vec::new(),
            truncated: None,
            elapsed: None,
        };
        for pair in named(fields) {
            let (name, value) = pair?;
            let width: &[usize] = match name.as_str() {
                "truncated" => {
                    taken.truncated = Some(write(&name, &value, shape)?);
                    continue;
                }
                "elapsed" => {
                    taken.elapsed = Some(write(&name, &value, shape)?);
                    continue;
                }
                "obs" | "final_obs" => &[OBSERVATION],
                "qpos" | "qvel" | "qacc_warmstart" => &[JOINTS],
                "reward" => &[],
                _ => return Err(wrong(format!("unknown field: {name}"))),
            };
            let array = write(&name, &value, &[shape, width].concat())?;
            taken.real.push((name, array));
        }
        Ok(taken)
    }

    fn fields(&mut self) -> PyResult<halfcheetah::Fields<'_, T>> {
        let problem = |e| wrong(format!("a field: {e}"));
        let mut fields = halfcheetah::Fields::default();
        for (name, array) in &mut self.real {
            let memory = Some(array.as_slice_mut().map_err(problem)?);
            match name.as_str() {
                "obs" => fields.obs = memory,
                "final_obs" => fields.final_obs = memory,
                "reward" => fields.reward = memory,
                "qpos" => fields.qpos = memory,
                "qvel" => fields.qvel = memory,
                _ => fields.qacc_warmstart = memory,
            }
        }
        if let Some(array) = &mut self.truncated {
            fields.truncated = Some(array.as_slice_mut().map_err(problem)?);
        }
        if let Some(array) = &mut self.elapsed {
            fields.elapsed = Some(array.as_slice_mut().map_err(problem)?);
        }
        Ok(fields)
    }
}
