//! NumPy arrays of the dtypes that a frame has, checked before anything is written.

use numpy::{PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::columns::{Column, Field, Row, deal};
use super::layout::Kind;
use crate::arrays::{write, wrong};

/// An array borrowed for writing.
enum Array<'py> {
    U8(PyReadwriteArrayDyn<'py, u8>),
    U16(PyReadwriteArrayDyn<'py, u16>),
    I16(PyReadwriteArrayDyn<'py, i16>),
    U64(PyReadwriteArrayDyn<'py, u64>),
    I32(PyReadwriteArrayDyn<'py, i32>),
    F32(PyReadwriteArrayDyn<'py, f32>),
    Bool(PyReadwriteArrayDyn<'py, bool>),
}

/// A field's array.
pub(super) struct Taken<'py> {
    field: Field,
    array: Array<'py>,
}

impl<'py> Taken<'py> {
    /// `own`: the axes of one frame. Those of a piece of the record may be any that hold as many.
    pub(super) fn new(
        name: &str,
        field: Field,
        value: &Bound<'py, PyAny>,
        leading: &[usize],
        own: &[usize],
    ) -> PyResult<Self> {
        let mut shape = [leading, own].concat();
        if let Field::Part(part) = field {
            let given = value.cast::<PyUntypedArray>();
            let given = given.map_or(vec![], |array| array.shape().to_vec());
            let own = given.get(leading.len()..).unwrap_or(&[]);
            if own.iter().product::<usize>() != part.count {
                let count = part.count;
                return Err(wrong(format!(
                    "{name} has shape {given:?}, expected {count} elements after {leading:?}"
                )));
            }
            shape.extend(own);
        }
        let array = match field {
            Field::Obs | Field::FinalObs | Field::Seen => Array::U8(write(name, value, &shape)?),
            Field::Reward => Array::F32(write(name, value, &shape)?),
            Field::Terminated | Field::Truncated => Array::Bool(write(name, value, &shape)?),
            Field::Elapsed => Array::I32(write(name, value, &shape)?),
            Field::Part(part) => match part.kind {
                Kind::U8 => Array::U8(write(name, value, &shape)?),
                Kind::U16 => Array::U16(write(name, value, &shape)?),
                Kind::I16 => Array::I16(write(name, value, &shape)?),
                Kind::U64 => Array::U64(write(name, value, &shape)?),
            },
        };
        Ok(Self { field, array })
    }
}

/// Deals arrays `[T, N, ...]` out to the lanes.
pub(super) fn columns<'a>(
    taken: &'a mut [Taken<'_>],
    steps: usize,
    lanes: usize,
) -> PyResult<Vec<Vec<Column<'a>>>> {
    let mut dealt: Vec<Vec<Column<'a>>> = (0..lanes).map(|_| Vec::new()).collect();
    for Taken { field, array } in taken {
        macro_rules! deal_out {
            ($($kind:ident),*) => {
                match array {$(
                    Array::$kind(array) => {
                        let memory = array.as_slice_mut().map_err(|e| wrong(e.to_string()))?;
                        deal(memory, *field, Row::$kind, steps, &mut dealt);
                    }
                )*}
            };
        }
        deal_out!(U8, U16, I16, U64, I32, F32, Bool);
    }
    Ok(dealt)
}
