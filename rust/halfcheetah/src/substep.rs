//! The physics of a vector of lanes: a step of the environment is five substeps of 0.01 s.

use crate::block::{Block, JOINTS, LANES, MOTORS, Row};
use crate::constraints::{Constraints, none};
use crate::generated::prepare::{motions, prepare};
use crate::generated::solve::damped;
use crate::generated::structures::{Load, Pose};
use crate::generated::tables::{GRAVITY, JOINTS as DRIVEN, TIMESTEP};
use crate::newton::{Bodies, full_steps, newton};
use crate::real::Real;
use crate::vector::{Task, Vector};

/// Substeps of a step (Gymnasium's frame_skip).
const SUBSTEPS: usize = 5;
/// The time of a step.
pub(crate) const STEP: f64 = 0.05;
/// MuJoCo does not accept larger numbers (mjMAXVAL).
const HUGE: f64 = 1e10;

/// Positions, velocities, and where the search for the accelerations begins.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<V> {
    pub q: [V; JOINTS],
    pub v: [V; JOINTS],
    pub warm: [V; JOINTS],
}

/// Loads rows of a block.
#[inline(always)]
fn rows<V: Vector, const N: usize>(
    token: V::Token,
    rows: &[Row<V::Scalar>; N],
    at: usize,
) -> [V; N] {
    let mut vectors = [V::zero(token); N];
    for (to, row) in vectors.iter_mut().zip(rows) {
        *to = V::load(token, row, at);
    }
    vectors
}

impl<V: Vector> Lanes<V> {
    #[inline(always)]
    fn load(token: V::Token, block: &Block<V::Scalar>, at: usize) -> Self {
        Self {
            q: rows(token, &block.qpos, at),
            v: rows(token, &block.qvel, at),
            warm: rows(token, &block.qacc_warmstart, at),
        }
    }

    #[inline(always)]
    fn store(&self, block: &mut Block<V::Scalar>, at: usize) {
        for k in 0..JOINTS {
            self.q[k].store(&mut block.qpos[k], at);
            self.v[k].store(&mut block.qvel[k], at);
            self.warm[k].store(&mut block.qacc_warmstart[k], at);
        }
    }
}

/// The lanes in which a value is beyond [`HUGE`] or not a number.
#[inline(always)]
fn wild<V: Vector>(values: &[V; JOINTS]) -> V::Mask {
    let mut sum = values[0].abs();
    for value in &values[1..] {
        sum = sum + value.abs();
    }
    let near = V::not(sum.le(V::of(sum.token(), HUGE)));
    if V::any(near) {
        each_wild(values)
    } else {
        near
    }
}

#[inline(never)]
fn each_wild<V: Vector>(values: &[V; JOINTS]) -> V::Mask {
    let token = values[0].token();
    let mut tame = V::not(none::<V>(token));
    for value in values {
        tame = V::and(tame, value.abs().le(V::of(token, HUGE)));
    }
    V::not(tame)
}

/// Plays 0.01 s. Returns the lanes that lost their state or accelerations: MuJoCo puts them to rest in
/// the origin, without control, and goes on from there.
///
/// `keep`: somebody will look at `warm`. Otherwise lanes that touch nothing save a linear system where
/// MuJoCo's steps are not followed: the next search begins at their damped acceleration.
#[inline(always)]
pub(crate) fn substep<V: Vector>(
    lanes: &mut Lanes<V>,
    control: &mut [V; MOTORS],
    constraints: &mut Constraints<V>,
    keep: bool,
) -> V::Mask {
    let zero = V::zero(lanes.q[0].token());
    let lost = V::or(wild(&lanes.q), wild(&lanes.v));
    if V::any(lost) {
        let Lanes { q, v, warm } = lanes;
        for value in q.iter_mut().chain(v).chain(warm).chain(control.iter_mut()) {
            *value = V::select(lost, zero, *value);
        }
    }
    let (places, moving, smooth, loads) = prepare(&lanes.q, &lanes.v, control);
    constraints.find(&places, &moving, &lanes.q, &lanes.v);
    let bodies = Bodies {
        places: &places,
        loads: &loads,
        smooth: &smooth,
    };
    let is_free = constraints.is_free();
    let keep = keep || V::Scalar::AS_MUJOCO;
    if keep || !is_free {
        let full_steps = full_steps::<V::Scalar>();
        lanes.warm = newton(bodies, constraints, &lanes.warm, full_steps);
    }
    let (warm, mut right) = (lanes.warm, smooth);
    let slowed = if is_free {
        damped(&places, &loads, &right)
    } else if V::Scalar::AS_MUJOCO {
        let forces = constraints.forces(&places, &motions(&places, &warm), &warm);
        for (right, force) in right.iter_mut().zip(forces) {
            *right = *right + force;
        }
        damped(&places, &loads, &right)
    } else {
        slowed(&warm, &places, &loads, &smooth, constraints.touched())
    };
    if !keep {
        let touched = constraints.touched();
        for (warm, slowed) in lanes.warm.iter_mut().zip(slowed) {
            *warm = V::select(touched, *warm, slowed);
        }
    }
    // Lanes that saved a linear system have damped accelerations here, which are a little smaller.
    let fell = wild(&lanes.warm);
    move_on(lanes, &slowed);
    if V::any(fell) {
        fall(lanes, control, fell);
    }
    V::or(lost, fell)
}

/// MuJoCo's answer to accelerations that are not numbers: it begins again from all zeros without
/// control, where nothing is touched, and falls.
#[inline(never)]
fn fall<V: Vector>(lanes: &mut Lanes<V>, control: &mut [V; MOTORS], fell: V::Mask) {
    let token = lanes.q[0].token();
    let zero = V::zero(token);
    for control in control {
        *control = V::select(fell, zero, *control);
    }
    let Lanes { q, v, warm } = lanes;
    for (values, by) in [(warm, 1.0), (v, TIMESTEP), (q, TIMESTEP * TIMESTEP)] {
        for (joint, value) in values.iter_mut().enumerate() {
            let falling = if joint == 1 {
                V::of(token, -GRAVITY * by)
            } else {
                zero
            };
            *value = V::select(fell, falling, *value);
        }
    }
}

/// The accelerations left when the joints' damping is taken at a step's end. Outside of the touched
/// lanes they come from the smooth forces.
///
/// MuJoCo solves (M + h B) a' = f, with the time step h, the damping B and the forces f of the
/// bodies, contacts and limits. If its search stopped early these are not M a. Float32 solves for the
/// part that the damping takes away, which keeps more digits: (M + h B) (a - a') = h B a.
#[inline(always)]
fn slowed<V: Vector>(
    acceleration: &[V; JOINTS],
    places: &[Pose<V>; 7],
    loads: &[Load<V>; 7],
    smooth: &[V; 9],
    touched: V::Mask,
) -> [V; JOINTS] {
    let mut right = *smooth;
    for (k, right) in right.iter_mut().enumerate() {
        let damping = if k < 3 { 0.0 } else { DRIVEN[k - 3].damping };
        let taken = V::of(right.token(), TIMESTEP * damping) * acceleration[k];
        *right = V::select(touched, taken, *right);
    }
    let mut slowed = damped(places, loads, &right);
    for (slowed, acceleration) in slowed.iter_mut().zip(acceleration) {
        *slowed = V::select(touched, *acceleration - *slowed, *slowed);
    }
    slowed
}

/// Moves on by one time step.
#[inline(always)]
fn move_on<V: Vector>(lanes: &mut Lanes<V>, acceleration: &[V; JOINTS]) {
    let Lanes { q, v, .. } = lanes;
    let time = V::of(q[0].token(), TIMESTEP);
    for ((q, v), more) in q.iter_mut().zip(v).zip(acceleration) {
        *v = more.mul_add(time, *v);
        *q = v.mul_add(time, *q);
    }
}

/// A step by Euler's method alone, from any acceleration.
#[inline(always)]
pub(crate) fn euler_alone<V: Vector>(lanes: &mut Lanes<V>) {
    let token = lanes.q[0].token();
    let (places, _, smooth, loads) = prepare(&lanes.q, &lanes.v, &[V::zero(token); MOTORS]);
    let all = V::not(none::<V>(token));
    let slowed = slowed(&lanes.warm, &places, &loads, &smooth, all);
    move_on(lanes, &slowed);
}

/// The acceleration in a state; the constraints then push accordingly.
#[inline(always)]
pub(crate) fn acceleration<V: Vector>(
    lanes: &Lanes<V>,
    control: &[V; MOTORS],
    constraints: &mut Constraints<V>,
    full_steps: usize,
) -> [V; JOINTS] {
    let (places, moving, smooth, loads) = prepare(&lanes.q, &lanes.v, control);
    constraints.find(&places, &moving, &lanes.q, &lanes.v);
    let bodies = Bodies {
        places: &places,
        loads: &loads,
        smooth: &smooth,
    };
    newton(bodies, constraints, &lanes.warm, full_steps)
}

/// Controls as MuJoCo takes them: all 0 if one is not a number. It clamps before it looks, so large and
/// infinite ones count as the limit.
#[inline(always)]
pub(crate) fn controls<V: Vector>(mut control: [V; MOTORS]) -> [V; MOTORS] {
    let token = control[0].token();
    let mut lost = none::<V>(token);
    for control in control {
        lost = V::or(lost, control.ne(control));
    }
    if V::any(lost) {
        for control in &mut control {
            *control = V::select(lost, V::zero(token), *control);
        }
    }
    control
}

/// A step of all lanes of a block; `travel` is the distance they ran.
pub(crate) struct Step<'a, T> {
    pub block: &'a mut Block<T>,
    pub control: &'a [Row<T>; MOTORS],
    pub travel: &'a mut Row<T>,
}

impl<V: Vector> Task<V> for Step<'_, V::Scalar> {
    type Output = ();

    #[inline(always)]
    fn run(self, token: V::Token) {
        let mut constraints = Constraints::<V>::new(token);
        for at in (0..LANES).step_by(V::LANES) {
            let mut control = controls(rows(token, self.control, at));
            let mut lanes = Lanes::load(token, self.block, at);
            let begin = lanes.q[0];
            let (mut run, mut lost) = (V::zero(token), none::<V>(token));
            for number in 1..=SUBSTEPS {
                let keep = number == SUBSTEPS;
                let now = substep(&mut lanes, &mut control, &mut constraints, keep);
                lost = V::or(lost, now);
                run = lanes.v[0].mul_add(V::of(token, TIMESTEP), run);
            }
            // Far from the origin the difference of two float32 positions has few digits left.
            let travel = if <V::Scalar as Real>::SUMS_TRAVEL {
                V::select(lost, lanes.q[0] - begin, run)
            } else {
                lanes.q[0] - begin
            };
            travel.store(self.travel, at);
            lanes.store(self.block, at);
        }
    }
}
