//! Python module `twinstep_rust`: one face file per environment over its plain-Rust engine.

mod arrays;
mod batched;
mod emurust;
mod halfcheetah;
mod pong;

use pyo3::prelude::*;

/// Version of the module, the same as the wheel's.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Hash of the sources that the module was built from. With an engine: of its own and those that
/// serve all; "" if there is none of that name.
#[pyfunction]
#[pyo3(signature = (engine=""))]
fn sources(engine: &str) -> &'static str {
    let hashes = env!("TWINSTEP_RUST_SOURCES").split(' ');
    let mut pairs = hashes.filter_map(|pair| pair.split_once(':'));
    let found = pairs.find(|(name, _)| *name == engine);
    found.map_or("", |(_, hash)| hash)
}

#[pymodule]
fn twinstep_rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(sources, module)?)?;
    emurust::register(module)?;
    halfcheetah::register(module)?;
    pong::register(module)
}
