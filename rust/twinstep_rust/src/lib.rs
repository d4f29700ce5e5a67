//! Python module `twinstep_rust`: one face file per environment over its plain-Rust engine.

mod arrays;
mod halfcheetah;
mod pong;

use pyo3::prelude::*;

/// Version of the module, the same as the wheel's.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Hash of the sources it was built from.
#[pyfunction]
fn sources() -> &'static str {
    env!("TWINSTEP_RUST_SOURCES")
}

#[pymodule]
fn twinstep_rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(sources, module)?)?;
    halfcheetah::register(module)?;
    pong::register(module)
}
