//! The accelerations under contacts and limits: MuJoCo's convex problem, solved to its minimum.
//!
//! The cost is quadratic for each set of rows that push. A full step reaches the minimum of the
//! present set; when no row changes, that is the minimum. A lane that is done stays where it is,
//! because the same rows give the same bits again. So no lane's result depends on its neighbours.

use crate::constraints::{Constraints, still};
use crate::generated::prepare::motions;
use crate::generated::solve::{mass_times, solve};
use crate::generated::structures::{Load, Motion, Pose};
use crate::real::Real;
use crate::search::Search;
use crate::vector::Vector;

/// Steps that are taken whole; the lengths of later ones are searched for. MuJoCo searches from the
/// first step on, and so does float64. Float32 rounds more than that changes, so it saves the
/// searching; play needs about five steps at most.
pub(crate) const fn full_steps<T: Real>() -> usize {
    if T::AS_MUJOCO { 0 } else { 10 }
}

/// The quadratic part: a lane's bodies, and the forces without contacts and limits.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a, V> {
    pub places: &'a [Pose<V>; 7],
    pub loads: &'a [Load<V>; 7],
    pub smooth: &'a [V; 9],
}

/// The bodies' loads plus everything that pushes, and the pushes.
pub(crate) struct Pressed<V> {
    loads: [Load<V>; 7],
    pushes: [Motion<V>; 7],
}

impl<V: Vector> Bodies<'_, V> {
    #[inline(always)]
    pub(crate) fn unpressed(&self) -> Pressed<V> {
        Pressed {
            loads: *self.loads,
            pushes: [still(self.smooth[0].token()); 7],
        }
    }

    /// The minimum for the rows that push now.
    #[inline(always)]
    pub(crate) fn target(&self, pressed: &mut Pressed<V>, constraints: &Constraints<V>) -> [V; 9] {
        constraints.press(self.loads, &mut pressed.loads, &mut pressed.pushes);
        solve(
            self.places,
            &pressed.loads,
            &pressed.pushes,
            self.smooth,
            &constraints.limit_weights,
            &constraints.limit_pushes,
        )
    }
}

/// Returns the accelerations, searched from `begin` on. The constraints then push accordingly.
#[inline(always)]
pub(crate) fn newton<V: Vector>(
    bodies: Bodies<'_, V>,
    constraints: &mut Constraints<V>,
    begin: &[V; 9],
    full_steps: usize,
) -> [V; 9] {
    let mut pressed = bodies.unpressed();
    let mut here = *begin;
    let mut is_found = constraints.is_free();
    if is_found {
        here = bodies.target(&mut pressed, constraints);
    } else if full_steps > 0 {
        constraints.update(&motions(bodies.places, begin), begin);
        for _ in 0..full_steps {
            here = bodies.target(&mut pressed, constraints);
            let changed = constraints.update(&motions(bodies.places, &here), &here);
            is_found = !V::any(changed);
            if is_found {
                break;
            }
        }
    }
    if !is_found {
        let search = Search {
            bodies,
            constraints: &mut *constraints,
            here,
        };
        here = V::enter(begin[0].token(), search);
    }
    if V::Scalar::REFINES {
        refine(bodies, &mut pressed, constraints, &mut here);
    }
    here
}

/// Corrects accelerations by the forces that they leave unbalanced.
///
/// A foot that is pressed far into the floor is a thousand times as stiff as its leg is heavy. Float32
/// loses three digits of the leg's inertia to that; here they come back.
#[inline(always)]
fn refine<V: Vector>(
    bodies: Bodies<'_, V>,
    pressed: &mut Pressed<V>,
    constraints: &Constraints<V>,
    here: &mut [V; 9],
) {
    let speeding = motions(bodies.places, here);
    let forces = constraints.forces(bodies.places, &speeding, here);
    let pull = mass_times(bodies.places, bodies.loads, here);
    let mut left = *bodies.smooth;
    for k in 0..9 {
        left[k] = left[k] + forces[k] - pull[k];
    }
    // The forces include the rows' pushes.
    constraints.press(bodies.loads, &mut pressed.loads, &mut pressed.pushes);
    let token = here[0].token();
    let (pushes, limit_pushes) = ([still(token); 7], [V::zero(token); 6]);
    let weights = &constraints.limit_weights;
    let more = solve(
        bodies.places,
        &pressed.loads,
        &pushes,
        &left,
        weights,
        &limit_pushes,
    );
    for (here, more) in here.iter_mut().zip(more) {
        *here = *here + more;
    }
}
