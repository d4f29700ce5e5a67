//! The parts that all batches have in common.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{rows, wrong};

/// A batch of lanes that plays steps into the caller's arrays.
pub(crate) trait Batched {
    /// When a lane whose episode ended begins the next one.
    type AutoReset: Clone + 'static;
    /// The meanings of "off", "same-step" and "next-step".
    const AUTO_RESETS: [Self::AutoReset; 3];

    /// Number of lanes.
    fn lanes(&self) -> usize;

    /// Plays `steps` steps. Actions and fields have the axes `shape` before their own.
    fn play(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        steps: usize,
        shape: &[usize],
        auto_reset: Self::AutoReset,
    ) -> PyResult<()>;

    /// Plays one step with actions [N, ...] and writes fields [N, ...] of the frame.
    fn play_step(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        auto_reset: &str,
    ) -> PyResult<()> {
        let shape = [self.lanes()];
        let auto_reset = Self::auto_reset(auto_reset)?;
        self.play(py, actions, fields, 1, &shape, auto_reset)
    }

    /// Plays T steps with actions [T, N, ...] and writes fields [T, N, ...] of the frames.
    fn play_rollout(
        &mut self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
        auto_reset: &str,
    ) -> PyResult<()> {
        let steps = rows("actions", actions)?;
        let shape = [steps, self.lanes()];
        let auto_reset = Self::auto_reset(auto_reset)?;
        self.play(py, actions, fields, steps, &shape, auto_reset)
    }

    /// The value of a name from Python.
    fn auto_reset(name: &str) -> PyResult<Self::AutoReset> {
        let names = ["off", "same-step", "next-step"];
        let place = names.iter().position(|known| *known == name);
        let place = place.ok_or_else(|| wrong(format!("unknown auto_reset: {name}")))?;
        Ok(Self::AUTO_RESETS[place].clone())
    }
}
