//! The modules of HalfCheetah one by one, on lanes of inputs.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use twinstep_halfcheetah as halfcheetah;

use crate::arrays::{read, rows, words, wrong};
use halfcheetah::{Isa, JOINTS, Real};

/// Evaluates one module on inputs f64[N, ...] (seed: u32[N, 2]) and returns its outputs by name,
/// [N, ...] in "float32" or "float64".
#[pyfunction]
pub(super) fn halfcheetah_call<'py>(
    module: &str,
    inputs: &Bound<'py, PyDict>,
    dtype: &str,
) -> PyResult<Bound<'py, PyDict>> {
    match (super::is_single(dtype)?, module) {
        (true, "reset") => reset::<f32>(inputs),
        (false, "reset") => reset::<f64>(inputs),
        (true, _) => call::<f32>(module, inputs),
        (false, _) => call::<f64>(module, inputs),
    }
}

fn put<T: Element>(
    out: &Bound<'_, PyDict>,
    name: &str,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<()> {
    let flat = PyArray1::from_vec(out.py(), values);
    out.set_item(name, flat.reshape(shape.to_vec())?)
}

fn input<'py>(inputs: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let value = inputs.get_item(name)?;
    value.ok_or_else(|| wrong(format!("input {name} is missing")))
}

fn call<'py, T: Real + Element>(
    module: &str,
    inputs: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let known = halfcheetah::MODULES.iter().find(|m| m.0 == module);
    let (_, takes, gives) = known.ok_or_else(|| wrong(format!("unknown module: {module}")))?;
    let n = rows(takes[0].0, &input(inputs, takes[0].0)?)?;
    let mut arrays = Vec::new();
    for (name, shape) in *takes {
        let value = input(inputs, name)?;
        arrays.push(read::<f64>(name, &value, &[&[n], *shape].concat())?);
    }
    if inputs.len() != takes.len() {
        let names: Vec<_> = takes.iter().map(|(name, _)| *name).collect();
        return Err(wrong(format!("{module} takes {}", names.join(", "))));
    }
    let slices: Result<Vec<_>, _> = arrays.iter().map(|array| array.as_slice()).collect();
    let slices = slices.map_err(|e| wrong(format!("an input: {e}")))?;
    let isa = Isa::choose().map_err(wrong)?;
    let results = halfcheetah::call::<T>(isa, module, &slices, n).map_err(wrong)?;
    let out = PyDict::new(inputs.py());
    for ((name, shape), values) in gives.iter().zip(results) {
        put(&out, name, values, &[&[n], *shape].concat())?;
    }
    Ok(out)
}

fn reset<'py, T: Real + Element>(inputs: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let seed = input(inputs, "seed")?;
    let seeds = words(&seed, rows("seed", &seed)?)?;
    let (mut qpos, mut qvel) = (Vec::new(), Vec::new());
    for seed in &seeds {
        let (q, v) = halfcheetah::start(*seed);
        qpos.extend(q.map(T::of));
        qvel.extend(v.map(T::of));
    }
    let out = PyDict::new(inputs.py());
    let shape = [seeds.len(), JOINTS];
    put(&out, "start_qpos", qpos, &shape)?;
    put(&out, "start_qvel", qvel, &shape)?;
    Ok(out)
}
