//! NumPy arrays, checked before anything is read or written.

use std::fmt::Display;

use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A ValueError, the error of all bad arguments.
pub(crate) fn wrong(problem: impl Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// A field of a state.
pub(crate) fn field<'py>(state: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let value = state.get_item(name)?;
    value.ok_or_else(|| wrong(format!("the state lacks {name}")))
}

/// The fields of a dictionary by their names.
pub(crate) fn named<'py>(
    fields: &Bound<'py, PyDict>,
) -> impl Iterator<Item = PyResult<(String, Bound<'py, PyAny>)>> {
    fields.iter().map(|(name, value)| {
        let name = name.extract().map_err(|_| wrong("names must be str"))?;
        Ok((name, value))
    })
}

/// Seeds u32[N, 2].
pub(crate) fn words(seeds: &Bound<'_, PyAny>, lanes: usize) -> PyResult<Vec<[u32; 2]>> {
    let seeds = read::<u32>("seeds", seeds, &[lanes, 2])?;
    let flat = seeds.as_slice().map_err(|e| wrong(format!("seeds: {e}")))?;
    Ok(flat.as_chunks::<2>().0.to_vec())
}

/// Checks that `value` is a NumPy array of this shape whose elements follow each other.
pub(crate) fn check(name: &str, value: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<()> {
    let array = value
        .cast::<PyUntypedArray>()
        .map_err(|_| wrong(format!("{name}: expected a NumPy array")))?;
    if array.shape() != shape {
        return Err(wrong(format!(
            "{name} has shape {:?}, expected {shape:?}",
            array.shape()
        )));
    }
    // `as_slice` alone would also take an array in Fortran's order.
    if !array.is_c_contiguous() {
        return Err(wrong(format!(
            "{name} is not contiguous: use numpy.ascontiguousarray"
        )));
    }
    Ok(())
}

/// The length of the first axis.
pub(crate) fn rows(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let array = value.cast::<PyUntypedArray>();
    let array = array.map_err(|_| wrong(format!("{name}: expected a NumPy array")))?;
    let first = array.shape().first().copied();
    first.ok_or_else(|| wrong(format!("{name} has no axis of lanes")))
}

fn typed<'a, 'py, T: Element>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    check(name, value, shape)?;
    value.cast::<PyArrayDyn<T>>().map_err(|_| {
        let wanted = dtype::<T>(value.py());
        wrong(format!("{name}: expected dtype {wanted}"))
    })
}

/// An array of one dtype to read.
pub(crate) fn read<'py, T: Element>(
    name: &str,
    value: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let array = typed::<T>(name, value, shape)?.try_readonly();
    array.map_err(|e| wrong(format!("{name}: {e}")))
}

/// An array of one dtype to write.
pub(crate) fn write<'py, T: Element>(
    name: &str,
    value: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let array = typed::<T>(name, value, shape)?.try_readwrite();
    array.map_err(|e| wrong(format!("{name}: {e}")))
}
