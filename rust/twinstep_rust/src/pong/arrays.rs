//! NumPy arrays of the dtypes that games have, checked before anything is read or written.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use twinstep_pong as pong;

use crate::arrays::{check, wrong};

/// An array to read.
pub(super) enum Given<'py> {
    F32(PyReadonlyArrayDyn<'py, f32>),
    I32(PyReadonlyArrayDyn<'py, i32>),
    U32(PyReadonlyArrayDyn<'py, u32>),
}

impl<'py> Given<'py> {
    pub(super) fn new(name: &str, value: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        check(name, value, shape)?;
        macro_rules! read {
            ($($kind:ident: $type:ty),*) => {$(
                if let Ok(array) = value.cast::<PyArrayDyn<$type>>() {
                    let array = array.try_readonly();
                    return array.map(Self::$kind).map_err(|e| wrong(format!("{name}: {e}")));
                }
            )*};
        }
        read!(F32: f32, I32: i32, U32: u32);
        Err(wrong(format!(
            "{name}: expected dtype float32, int32 or uint32"
        )))
    }

    pub(super) fn input(&self, name: &str) -> PyResult<pong::Input<'_>> {
        let problem = |e| wrong(format!("{name}: {e}"));
        Ok(match self {
            Self::F32(array) => pong::Input::F32(array.as_slice().map_err(problem)?),
            Self::I32(array) => pong::Input::I32(array.as_slice().map_err(problem)?),
            Self::U32(array) => pong::Input::U32(array.as_slice().map_err(problem)?),
        })
    }

    pub(super) fn f32(&self, name: &str) -> PyResult<&[f32]> {
        match self.input(name)? {
            pong::Input::F32(values) => Ok(values),
            _ => Err(wrong(format!("{name}: expected dtype float32"))),
        }
    }

    pub(super) fn i32(&self, name: &str) -> PyResult<&[i32]> {
        match self.input(name)? {
            pong::Input::I32(values) => Ok(values),
            _ => Err(wrong(format!("{name}: expected dtype int32"))),
        }
    }

    pub(super) fn u32(&self, name: &str) -> PyResult<&[u32]> {
        match self.input(name)? {
            pong::Input::U32(values) => Ok(values),
            _ => Err(wrong(format!("{name}: expected dtype uint32"))),
        }
    }
}

/// An array to write.
pub(super) enum Taken<'py> {
    F32(PyReadwriteArrayDyn<'py, f32>),
    I32(PyReadwriteArrayDyn<'py, i32>),
    U32(PyReadwriteArrayDyn<'py, u32>),
    Bool(PyReadwriteArrayDyn<'py, bool>),
}

impl<'py> Taken<'py> {
    pub(super) fn new(name: &str, value: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        check(name, value, shape)?;
        macro_rules! write {
            ($($kind:ident: $type:ty),*) => {$(
                if let Ok(array) = value.cast::<PyArrayDyn<$type>>() {
                    let array = array.try_readwrite();
                    return array.map(Self::$kind).map_err(|e| wrong(format!("{name}: {e}")));
                }
            )*};
        }
        write!(F32: f32, I32: i32, U32: u32, Bool: bool);
        Err(wrong(format!(
            "{name}: expected dtype float32, int32, uint32 or bool"
        )))
    }

    pub(super) fn output(&mut self, name: &str) -> PyResult<pong::Output<'_>> {
        let problem = |e| wrong(format!("{name}: {e}"));
        Ok(match self {
            Self::F32(array) => pong::Output::F32(array.as_slice_mut().map_err(problem)?),
            Self::I32(array) => pong::Output::I32(array.as_slice_mut().map_err(problem)?),
            Self::U32(array) => pong::Output::U32(array.as_slice_mut().map_err(problem)?),
            Self::Bool(array) => pong::Output::Bool(array.as_slice_mut().map_err(problem)?),
        })
    }
}
