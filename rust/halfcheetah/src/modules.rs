//! The modules of HalfCheetah one by one, on lanes of inputs.

use crate::block::{JOINTS, MOTORS};
use crate::constraints::{Constraints, contact};
use crate::error::Error;
use crate::generated::contact::{heights, limit};
use crate::generated::prepare::{bias, drive, motions, prepare};
use crate::generated::solve::mass_matrix;
use crate::generated::structures::{Motion, Pose};
use crate::generated::tables::{CENTRES, FRICTION, JOINTS as DRIVEN, PARENTS, POINTS, ROOT_HEIGHT};
use crate::newton::full_steps;
use crate::real::{Isa, Real, run};
use crate::substep::{Lanes, acceleration, controls, euler_alone, substep};
use crate::vector::{MOST_LANES, Task, Vector};

/// An input or output: its name, and its shape without the axis of lanes.
pub type Port = (&'static str, &'static [usize]);

/// A module's name, inputs and outputs.
pub type Module = (&'static str, &'static [Port], &'static [Port]);

const QPOS: Port = ("qpos", &[9]);
const QVEL: Port = ("qvel", &[9]);
const WARM: Port = ("qacc_warmstart", &[9]);
const ACTION: Port = ("action", &[6]);

/// The modules that [`call`] evaluates.
pub const MODULES: [Module; 10] = [
    (
        "kinematics",
        &[QPOS],
        &[
            ("body_cos", &[7]),
            ("body_sin", &[7]),
            ("joint_at", &[7, 2]),
            ("com_at", &[7, 2]),
            ("end_at", &[16, 2]),
        ],
    ),
    ("mass_matrix", &[QPOS], &[("mass_matrix", &[9, 9])]),
    ("bias", &[QPOS, QVEL], &[("qfrc_bias", &[9])]),
    (
        "forces",
        &[QPOS, QVEL, ACTION],
        &[("qfrc_passive", &[9]), ("qfrc_actuator", &[9])],
    ),
    (
        "contacts",
        &[QPOS],
        &[("depth", &[16]), ("contact_at", &[16, 2])],
    ),
    (
        "rows",
        &[QPOS, QVEL],
        &[
            ("contact_weight", &[16]),
            ("contact_target", &[16, 3]),
            ("contact_jacobian", &[16, 3, 9]),
            ("limit_weight", &[6]),
            ("limit_target", &[6]),
            ("limit_side", &[6]),
        ],
    ),
    (
        "newton",
        &[QPOS, QVEL, ACTION, WARM],
        &[("qacc", &[9]), ("qfrc_constraint", &[9])],
    ),
    (
        "euler",
        &[QPOS, QVEL, ("acceleration", &[9])],
        &[("next_qpos", &[9]), ("next_qvel", &[9])],
    ),
    (
        "substep",
        &[QPOS, QVEL, WARM, ACTION],
        &[
            ("next_qpos", &[9]),
            ("next_qvel", &[9]),
            ("next_warmstart", &[9]),
        ],
    ),
    ("reward", &[("x_velocity", &[]), ACTION], &[("reward", &[])]),
];

/// The price of an action, rounded to float32 at each operation as Gymnasium does with actions of
/// that type; the action is not clamped for it.
pub(crate) fn cost(action: &[f32; MOTORS]) -> f32 {
    let mut sum = 0.0;
    for control in action {
        sum += control * control;
    }
    0.1 * sum
}

/// Evaluates one of [`MODULES`] on inputs `[n, ...]`, in its order; returns its outputs, flat.
pub fn call<T: Real>(
    isa: Isa,
    module: &str,
    inputs: &[&[f64]],
    n: usize,
) -> Result<Vec<Vec<T>>, Error> {
    let (name, takes, gives) = MODULES
        .iter()
        .find(|(name, ..)| *name == module)
        .ok_or_else(|| Error::Module(module.into()))?;
    if !isa.is_here() {
        return Err(Error::Isa(isa));
    }
    if inputs.len() != takes.len() {
        return Err(Error::Inputs {
            module: name,
            expected: takes.len(),
        });
    }
    for (input, (name, shape)) in inputs.iter().zip(*takes) {
        if input.len() != n * shape.iter().product::<usize>() {
            let found = input.len();
            return Err(Error::Input { name, found });
        }
    }
    let mut outputs: Vec<Vec<T>> = Vec::new();
    for (_, shape) in *gives {
        outputs.push(vec![T::default(); n * shape.iter().product::<usize>()]);
    }
    for first in (0..n).step_by(MOST_LANES) {
        let count = MOST_LANES.min(n - first);
        let mut part = Part {
            module: name,
            inputs,
            outputs: &mut outputs,
            first,
            count,
        };
        if *name == "reward" {
            part.reward();
        } else {
            run::<T, _, _>(isa, part);
        }
    }
    Ok(outputs)
}

/// Up to [`MOST_LANES`] lanes of a call.
struct Part<'a, T> {
    module: &'static str,
    inputs: &'a [&'a [f64]],
    outputs: &'a mut [Vec<T>],
    first: usize,
    count: usize,
}

impl<T: Real> Part<'_, T> {
    fn reward(&mut self) {
        for lane in self.first..self.first + self.count {
            let (velocity, action) = (self.inputs[0][lane], &self.inputs[1][lane * MOTORS..]);
            let mut controls = [0.0; MOTORS];
            for (to, from) in controls.iter_mut().zip(action) {
                *to = *from as f32;
            }
            self.outputs[0][lane] = T::of(velocity) - T::of(f64::from(cost(&controls)));
        }
    }

    /// Input `number` of the lanes from `at` on; the last lane is repeated if there are no more.
    #[inline(always)]
    fn read<V: Vector<Scalar = T>, const N: usize>(
        &self,
        token: V::Token,
        number: usize,
        at: usize,
    ) -> [V; N] {
        let mut vectors = [V::zero(token); N];
        for (k, to) in vectors.iter_mut().enumerate() {
            let mut row = [T::default(); MOST_LANES];
            for (lane, to) in row.iter_mut().enumerate().take(V::LANES) {
                let lane = (at + lane).min(self.count - 1);
                *to = T::of(self.inputs[number][(self.first + lane) * N + k]);
            }
            *to = V::load(token, &row, 0);
        }
        vectors
    }

    /// Writes elements `place`, `place + 1`, ... of output `number`, which has `width` per lane.
    #[inline(always)]
    fn write<V: Vector<Scalar = T>>(
        &mut self,
        at: usize,
        (number, width): (usize, usize),
        place: usize,
        values: &[V],
    ) {
        for (k, value) in values.iter().enumerate() {
            let mut row = [T::default(); MOST_LANES];
            value.store(&mut row, 0);
            for lane in at..self.count.min(at + V::LANES) {
                let to = (self.first + lane) * width + place + k;
                self.outputs[number][to] = row[lane - at];
            }
        }
    }

    #[inline(always)]
    fn lanes<V: Vector<Scalar = T>>(&mut self, token: V::Token, at: usize) {
        let zeros = [V::zero(token); JOINTS];
        let q: [V; JOINTS] = self.read(token, 0, at);
        let v: [V; JOINTS] = match self.module {
            "kinematics" | "mass_matrix" | "contacts" => zeros,
            _ => self.read(token, 1, at),
        };
        let root_height = q[1] + V::of(token, ROOT_HEIGHT);
        let (places, moving, _, loads) = prepare(&q, &v, &[V::zero(token); MOTORS]);
        match self.module {
            "kinematics" => {
                // Relative to the torso's joint first: far from the origin each sum rounds much.
                let world = |pose: &Pose<V>, x: f64, z: f64| {
                    let (x, z) = (V::of(token, x), V::of(token, z));
                    let about_x = pose.sin.mul_add(z, pose.cos.mul_add(x, pose.x));
                    let about_z = pose.cos.mul_add(z, pose.sin.neg_mul_add(x, pose.z));
                    [q[0] + about_x, root_height + about_z]
                };
                for (k, pose) in places.iter().enumerate() {
                    let (x, z) = CENTRES[k];
                    self.write(at, (0, 7), k, &[pose.cos]);
                    self.write(at, (1, 7), k, &[pose.sin]);
                    self.write(at, (2, 14), 2 * k, &world(pose, 0.0, 0.0));
                    self.write(at, (3, 14), 2 * k, &world(pose, x, z));
                }
                for (k, point) in POINTS.iter().enumerate() {
                    let end = world(&places[point.body], point.x, point.z);
                    self.write(at, (4, 32), 2 * k, &end);
                }
            }
            "mass_matrix" => {
                for (i, row) in mass_matrix(&places, &loads).iter().enumerate() {
                    self.write(at, (0, 81), 9 * i, row);
                }
            }
            "bias" => {
                self.write(at, (0, 9), 0, &bias(&q, &v));
            }
            "forces" => {
                let control = controls(self.read(token, 2, at));
                let (passive, motors) = drive(&q, &v, &control);
                self.write(at, (0, 9), 3, &passive);
                self.write(at, (1, 9), 3, &motors);
            }
            "contacts" => {
                let apart = heights(&places, q[1]);
                for (k, point) in POINTS.iter().enumerate() {
                    let found = contact(point, &places, &moving, q[1]);
                    let is_below = apart[k].lt(V::zero(token));
                    let keep = |value: V| V::select(is_below, value, V::zero(token));
                    self.write(at, (0, 16), k, &[keep(-apart[k])]);
                    let (x, z) = (keep(found.x + q[0]), keep(found.z + root_height));
                    self.write(at, (1, 32), 2 * k, &[x, z]);
                }
            }
            "rows" => self.rows(at, (&q, &v), &places, &moving),
            "newton" => {
                let control = controls(self.read(token, 2, at));
                let warm = self.read(token, 3, at);
                let mut constraints = Constraints::new(token);
                let lanes = Lanes { q, v, warm };
                let found = acceleration(&lanes, &control, &mut constraints, full_steps::<T>());
                let speeding = motions(&places, &found);
                let forces = constraints.forces(&places, &speeding, &found);
                self.write(at, (0, 9), 0, &found);
                self.write(at, (1, 9), 0, &forces);
            }
            "euler" => {
                let warm = self.read(token, 2, at);
                let mut lanes = Lanes { q, v, warm };
                euler_alone(&mut lanes);
                self.write(at, (0, 9), 0, &lanes.q);
                self.write(at, (1, 9), 0, &lanes.v);
            }
            _ => {
                let warm = self.read(token, 2, at);
                let mut control = controls(self.read(token, 3, at));
                let mut lanes = Lanes { q, v, warm };
                substep(&mut lanes, &mut control, &mut Constraints::new(token), true);
                self.write(at, (0, 9), 0, &lanes.q);
                self.write(at, (1, 9), 0, &lanes.v);
                self.write(at, (2, 9), 0, &lanes.warm);
            }
        }
    }

    /// The module `rows`: MuJoCo's efc_D, efc_aref and efc_J, in the plane.
    #[inline(always)]
    fn rows<V: Vector<Scalar = T>>(
        &mut self,
        at: usize,
        (q, v): (&[V; JOINTS], &[V; JOINTS]),
        places: &[Pose<V>; 7],
        moving: &[Motion<V>; 7],
    ) {
        let token = q[0].token();
        let (zero, friction) = (V::zero(token), V::of(token, FRICTION));
        for (k, point) in POINTS.iter().enumerate() {
            let found = contact(point, places, moving, q[1]);
            let is_on = found.weight.ne(zero);
            let keep = |value: V| V::select(is_on, value, zero);
            // Along the floor and up, for each joint that moves the body.
            let mut slide = [zero; JOINTS];
            let mut rise = [zero; JOINTS];
            (slide[0], rise[1]) = (V::of(token, 1.0), V::of(token, 1.0));
            (slide[2], rise[2]) = (found.z, -found.x);
            let mut body = point.body;
            while body != 0 {
                slide[body + 2] = found.z - places[body].z;
                rise[body + 2] = places[body].x - found.x;
                body = PARENTS[body];
            }
            self.write(at, (0, 16), k, &[found.weight]);
            for (row, side) in [1.0, -1.0, 0.0].into_iter().enumerate() {
                let side = V::of(token, side) * friction;
                let target = keep(-found.tangent.mul_add(side, found.normal));
                self.write(at, (1, 48), 3 * k + row, &[target]);
                for joint in 0..JOINTS {
                    let share = keep(slide[joint].mul_add(side, rise[joint]));
                    self.write(at, (2, 432), (3 * k + row) * 9 + joint, &[share]);
                }
            }
        }
        for (k, joint) in DRIVEN.iter().enumerate() {
            let (low, high) = (V::of(token, joint.low), V::of(token, joint.high));
            let found = limit(q[3 + k], v[3 + k], low, high, V::of(token, joint.weight));
            let is_on = found.weight.ne(zero);
            let keep = |value: V| V::select(is_on, value, zero);
            self.write(at, (3, 6), k, &[found.weight]);
            self.write(at, (4, 6), k, &[keep(-found.target)]);
            self.write(at, (5, 6), k, &[keep(found.side)]);
        }
    }
}

impl<V: Vector> Task<V> for Part<'_, V::Scalar> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, token: V::Token) {
        for at in (0..self.count).step_by(V::LANES) {
            self.lanes::<V>(token, at);
        }
    }
}
