//! Newton steps of the best length: an exact search along each.
//!
//! Float64 searches as MuJoCo does, which sometimes stops a little away from the minimum. It takes no
//! step where the unbalanced forces and the gain that the step promises are both small, as at rest;
//! later it stops where one of them is, or the gain of the last step. Float32 comes here when full steps do
//! not end, for they could go round in a circle.

use crate::constraints::{Constraints, Place, none};
use crate::generated::prepare::motions;
use crate::generated::solve::{balanced, mass_entries, times, trace};
use crate::generated::tables::TOLERANCE;
use crate::newton::Bodies;
use crate::real::Real;
use crate::vector::{Task, Vector};

/// A bound, as MuJoCo's: where rounding decides about a row, the search might never end.
const MOST_STEPS: usize = 100;
/// The search for the share of a step ends when it changes by less than this part of itself.
const fn same_share<T: Real>() -> f64 {
    if T::AS_MUJOCO { 1e-12 } else { 1e-6 }
}

/// The rest of a search, from `here` on.
pub(crate) struct Search<'a, V: Vector> {
    pub bodies: Bodies<'a, V>,
    pub constraints: &'a mut Constraints<V>,
    pub here: [V; 9],
}

impl<V: Vector> Task<V> for Search<'_, V> {
    type Output = [V; 9];

    #[inline(always)]
    fn run(self, token: V::Token) -> [V; 9] {
        let (bodies, constraints, mut here) = (&self.bodies, self.constraints, self.here);
        let mass = mass_entries(bodies.places, bodies.loads);
        constraints.look(Place::Here, &motions(bodies.places, &here), &here);
        if V::Scalar::AS_MUJOCO {
            cheaper(bodies, &mass, constraints, &mut here);
        } else {
            constraints.advance(|here, _| here);
        }
        let least_gain = V::of(token, TOLERANCE) * trace(&mass);
        let mut pressed = bodies.unpressed();
        let mut done = none::<V>(token);
        let mut gained = done;
        for number in 0..MOST_STEPS {
            let there = bodies.target(&mut pressed, constraints);
            constraints.look(Place::There, &motions(bodies.places, &there), &there);
            let (changed, curve) = constraints.compare();
            let line = Line::new(bodies, &mass, &here, &there);
            if V::Scalar::AS_MUJOCO {
                let promised = (V::of(token, 0.5) * (line.curve + curve)).lt(least_gain);
                let left = unbalanced(bodies, &mass, constraints, &here);
                let balanced = dot(&left, &left).lt(least_gain * least_gain);
                let enough = if number == 0 {
                    // What touches nothing has the bits of a lane alone, which is not searched.
                    V::and(V::and(promised, balanced), constraints.touched())
                } else {
                    V::or(V::or(promised, balanced), gained)
                };
                done = V::or(done, enough);
            }
            if number == 0 && !V::any(V::or(changed, done)) {
                return there;
            }
            let searched = V::and(changed, V::not(done));
            let mut share = V::of(token, 1.0);
            if V::any(searched) {
                share = line.best_share(constraints, searched);
            }
            let on = |here: V, there: V| {
                let there = V::select(searched, (there - here).mul_add(share, here), there);
                V::select(done, here, there)
            };
            for (here, there) in here.iter_mut().zip(there) {
                *here = on(*here, there);
            }
            let before = constraints.cost(Place::Here);
            constraints.advance(on);
            if V::Scalar::AS_MUJOCO {
                let of_rows = before - constraints.cost(Place::Here);
                let twice = of_rows - share * (line.start + line.start + share * line.curve);
                let is_gain = V::zero(token).lt(twice);
                gained = V::and(is_gain, twice.lt(least_gain + least_gain));
            }
            done = V::or(done, V::not(changed));
            if !V::any(V::not(done)) {
                break;
            }
        }
        here
    }
}

/// The forces that accelerations leave unbalanced, with the rows that push there.
#[inline(always)]
fn unbalanced<V: Vector>(
    bodies: &Bodies<'_, V>,
    mass: &[V; 36],
    constraints: &Constraints<V>,
    here: &[V; 9],
) -> [V; 9] {
    let forces = constraints.forces(bodies.places, &motions(bodies.places, here), here);
    let mut left = times(mass, here);
    for k in 0..9 {
        left[k] = left[k] - bodies.smooth[k] - forces[k];
    }
    left
}

/// Begins the search at the accelerations without constraints if they cost less.
#[inline(always)]
fn cheaper<V: Vector>(
    bodies: &Bodies<'_, V>,
    mass: &[V; 36],
    constraints: &mut Constraints<V>,
    here: &mut [V; 9],
) {
    let smooth = balanced(mass, bodies.smooth);
    constraints.look(Place::There, &motions(bodies.places, &smooth), &smooth);
    let mut away = *here;
    for (away, smooth) in away.iter_mut().zip(smooth) {
        *away = *away - smooth;
    }
    let cost = dot(&away, &times(mass, &away)) + constraints.cost(Place::Here);
    let is_dearer = constraints.cost(Place::There).lt(cost);
    let on = |here, there| V::select(is_dearer, there, here);
    for (here, smooth) in here.iter_mut().zip(smooth) {
        *here = on(*here, smooth);
    }
    constraints.advance(on);
}

/// The cost of the inertias along a step: its slope is `start + share * curve`.
struct Line<V> {
    start: V,
    curve: V,
}

impl<V: Vector> Line<V> {
    #[inline(always)]
    fn new(bodies: &Bodies<'_, V>, mass: &[V; 36], here: &[V; 9], there: &[V; 9]) -> Self {
        let mut way = *there;
        for (way, here) in way.iter_mut().zip(here) {
            *way = *way - *here;
        }
        let heavy = times(mass, &way);
        Self {
            start: dot(here, &heavy) - dot(bodies.smooth, &way),
            curve: dot(&way, &heavy),
        }
    }

    /// The share of the step with the least cost, in these lanes; it may be beyond 1.
    ///
    /// The cost's slope is piecewise linear and rises: Newton's method on it is exact as soon as two
    /// shares lie on one piece. A share outside the bracket is replaced by the bracket's middle.
    #[inline(always)]
    fn best_share(&self, constraints: &Constraints<V>, mut searched: V::Mask) -> V {
        let token = self.start.token();
        let (zero, half) = (V::zero(token), V::of(token, 0.5));
        let (mut low, mut high) = (zero, V::of(token, f64::INFINITY));
        let same_share = V::of(token, same_share::<V::Scalar>());
        let mut share = V::of(token, 1.0);
        for _ in 0..MOST_STEPS {
            let (slope, rise) = constraints.slope(share);
            let slope = slope + self.curve.mul_add(share, self.start);
            low = V::select(slope.lt(zero), share, low);
            high = V::select(zero.lt(slope), share, high);
            let next = share - slope / (rise + self.curve);
            let open = V::of(token, f64::MAX).lt(high);
            let middle = V::select(open, low + low, half * (low + high));
            let beyond = V::or(next.lt(low), high.lt(next));
            let next = V::select(beyond, middle, next);
            let is_same = (next - share).abs().le(same_share * next.abs());
            share = V::select(searched, next, share);
            searched = V::and(searched, V::not(is_same));
            if !V::any(searched) {
                break;
            }
        }
        share
    }
}

#[inline(always)]
fn dot<V: Vector>(one: &[V; 9], other: &[V; 9]) -> V {
    let mut sum = V::zero(one[0].token());
    for (a, b) in one.iter().zip(other) {
        sum = a.mul_add(*b, sum);
    }
    sum
}
