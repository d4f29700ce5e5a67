//! The modules of Pong one by one, on columns of inputs.

use std::collections::HashMap;

use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use twinstep_pong as pong;

use super::arrays::Given;
use crate::arrays::wrong;

const MODULES: [(&str, &[&str]); 7] = [
    ("agent_paddle", &["paddle_yr", "action"]),
    ("opponent_paddle", &["paddle_yl", "ball_y"]),
    ("ball", &["ball_x", "ball_y", "ball_vx", "ball_vy"]),
    (
        "left_side",
        &[
            "ball_x",
            "ball_y",
            "ball_vx",
            "paddle_yl",
            "score_r",
            "win",
            "n_bounces",
        ],
    ),
    (
        "right_side",
        &[
            "ball_x",
            "ball_y",
            "ball_vx",
            "ball_vy",
            "paddle_yr",
            "paddle_dir",
            "score_l",
            "win",
            "n_bounces",
        ],
    ),
    ("serve", &["rng_key", "draws"]),
    (
        "observe",
        &[
            "paddle_yl",
            "paddle_yr",
            "ball_x",
            "ball_y",
            "ball_vx",
            "ball_vy",
            "score_l",
            "score_r",
        ],
    ),
];

/// The inputs of one call: `[N]` each, exactly those of the module.
struct Inputs<'py> {
    given: HashMap<&'static str, Given<'py>>,
    count: usize,
}

impl<'py> Inputs<'py> {
    fn new(module: &str, inputs: &Bound<'py, PyDict>) -> PyResult<Self> {
        let known = MODULES.iter().find(|(name, _)| *name == module);
        let (_, names) = known.ok_or_else(|| wrong(format!("unknown module: {module}")))?;
        for key in inputs.keys() {
            let key: String = key
                .extract()
                .map_err(|_| wrong("names of inputs must be str"))?;
            if !names.contains(&key.as_str()) {
                return Err(wrong(format!(
                    "{module} has no input {key}; it takes {names:?}"
                )));
            }
        }
        let mut given = HashMap::new();
        let mut count = None;
        for name in *names {
            let value = inputs.get_item(name)?;
            let value = value.ok_or_else(|| wrong(format!("{module} lacks input {name}")))?;
            let found = value
                .cast::<PyUntypedArray>()
                .ok()
                .and_then(|a| a.shape().first().copied());
            let count = *count.get_or_insert(found.unwrap_or(0));
            given.insert(*name, Given::new(name, &value, &[count])?);
        }
        Ok(Self {
            given,
            count: count.unwrap_or(0),
        })
    }

    fn f32(&self, name: &str) -> PyResult<&[f32]> {
        self.given[name].f32(name)
    }

    fn i32(&self, name: &str) -> PyResult<&[i32]> {
        self.given[name].i32(name)
    }

    fn u32(&self, name: &str) -> PyResult<&[u32]> {
        self.given[name].u32(name)
    }
}

/// Sets `out[name]` for each of these fields of all results.
macro_rules! set {
    ($out:ident, $results:ident, $($name:ident),*) => {$(
        put($out, stringify!($name), $results.iter().map(|r| r.$name))?;
    )*};
}

fn put<T: Element>(
    out: &Bound<'_, PyDict>,
    name: &str,
    values: impl Iterator<Item = T>,
) -> PyResult<()> {
    out.set_item(name, PyArray1::from_iter(out.py(), values))
}

/// Evaluates one module on inputs `[N]` and returns its outputs `[N]` (`obs`: `[N, 8]`) by name.
#[pyfunction]
pub(super) fn pong_call<'py>(
    module: &str,
    inputs: &Bound<'py, PyDict>,
    continuous: bool,
    max_score: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let params = super::params(1, continuous, max_score)?;
    let py = inputs.py();
    let x = Inputs::new(module, inputs)?;
    let lanes = 0..x.count;
    let out = &PyDict::new(py);
    match module {
        "agent_paddle" => {
            let y = x.f32("paddle_yr")?;
            let action: Vec<f32> = if continuous {
                x.f32("action")?.to_vec()
            } else {
                x.i32("action")?
                    .iter()
                    .map(|action| *action as f32)
                    .collect()
            };
            let r: Vec<_> = lanes
                .map(|i| pong::agent_paddle(y[i], action[i], params))
                .collect();
            set!(out, r, paddle_yr, paddle_dir);
        }
        "opponent_paddle" => {
            let (paddle, ball) = (x.f32("paddle_yl")?, x.f32("ball_y")?);
            put(
                out,
                "paddle_yl",
                lanes.map(|i| pong::opponent_paddle(paddle[i], ball[i])),
            )?;
        }
        "ball" => {
            let (bx, by) = (x.f32("ball_x")?, x.f32("ball_y")?);
            let (vx, vy) = (x.f32("ball_vx")?, x.f32("ball_vy")?);
            let r: Vec<_> = lanes
                .map(|i| pong::ball(bx[i], by[i], vx[i], vy[i]))
                .collect();
            set!(out, r, ball_x, ball_y, ball_vy);
        }
        "left_side" => {
            let (bx, by, vx) = (x.f32("ball_x")?, x.f32("ball_y")?, x.f32("ball_vx")?);
            let (paddle, score) = (x.f32("paddle_yl")?, x.u32("score_r")?);
            let (win, n) = (x.i32("win")?, x.i32("n_bounces")?);
            let r: Vec<_> = lanes
                .map(|i| {
                    let (score, win, n) = (score[i], win[i], n[i]);
                    pong::left_side(bx[i], by[i], vx[i], paddle[i], score, win, n, params)
                })
                .collect();
            set!(
                out, r, ball_vx, n_bounces, score_r, win, reward, point, terminated
            );
        }
        "right_side" => {
            let (bx, by) = (x.f32("ball_x")?, x.f32("ball_y")?);
            let (vx, vy) = (x.f32("ball_vx")?, x.f32("ball_vy")?);
            let (paddle, dir) = (x.f32("paddle_yr")?, x.f32("paddle_dir")?);
            let (score, win, n) = (x.u32("score_l")?, x.i32("win")?, x.i32("n_bounces")?);
            let r: Vec<_> = lanes
                .map(|i| {
                    let (paddle, dir) = (paddle[i], dir[i]);
                    let (score, win, n) = (score[i], win[i], n[i]);
                    pong::right_side(
                        bx[i], by[i], vx[i], vy[i], paddle, dir, score, win, n, params,
                    )
                })
                .collect();
            set!(
                out, r, ball_x, ball_y, ball_vx, ball_vy, n_bounces, score_l, win
            );
            set!(out, r, reward, point, terminated);
        }
        "serve" => {
            let (key, draws) = (x.u32("rng_key")?, x.u32("draws")?);
            let r: Vec<_> = lanes.map(|i| pong::serve(key[i], draws[i])).collect();
            set!(
                out, r, paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy
            );
            set!(out, r, tick, n_bounces, draws);
        }
        _ => {
            let (yl, yr) = (x.f32("paddle_yl")?, x.f32("paddle_yr")?);
            let (bx, by) = (x.f32("ball_x")?, x.f32("ball_y")?);
            let (vx, vy) = (x.f32("ball_vx")?, x.f32("ball_vy")?);
            let (sl, sr) = (x.u32("score_l")?, x.u32("score_r")?);
            let values = lanes.flat_map(|i| {
                pong::observe(
                    yl[i], yr[i], bx[i], by[i], vx[i], vy[i], sl[i], sr[i], params,
                )
            });
            let flat = PyArray1::from_iter(py, values);
            out.set_item("obs", flat.reshape([x.count, pong::OBSERVATION])?)?;
        }
    }
    Ok(out.clone())
}
