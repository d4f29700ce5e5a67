//! The lateness of rows, and its cost: a row pushes where its lateness is below 0.

use super::{Constraints, none};
use crate::block::places;
use crate::generated::contact::late;
use crate::generated::structures::{Motion, Rows};
use crate::generated::tables::{JOINTS, POINTS};
use crate::vector::Vector;

/// The lateness of each row at some accelerations.
#[derive(Clone, Copy)]
pub(crate) struct Late<V> {
    /// Forward, backward, upward.
    contacts: [[V; 3]; POINTS.len()],
    limits: [V; JOINTS.len()],
}

impl<V: Vector> Late<V> {
    #[inline(always)]
    pub(crate) fn new(token: V::Token) -> Self {
        let zero = V::zero(token);
        Self {
            contacts: [[zero; 3]; POINTS.len()],
            limits: [zero; JOINTS.len()],
        }
    }
}

/// The two ends of a step; the lateness of rows is known at both.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Here,
    There,
}

/// A row's weight if it is late, else 0.
#[inline(always)]
fn if_late<V: Vector>(late: V, weight: V) -> V {
    let zero = V::zero(late.token());
    V::select(late.lt(zero), weight, zero)
}

impl<V: Vector> Constraints<V> {
    /// Computes the lateness of the rows at accelerations.
    #[inline(always)]
    pub(crate) fn look(&mut self, place: Place, speeding: &[Motion<V>; 7], acceleration: &[V; 9]) {
        let to = &mut self.late[place as usize];
        for k in 0..self.count {
            to.contacts[k] = late(&self.contacts[k], &speeding[self.bodies[k]]);
        }
        for k in places(self.limited) {
            let at = &self.limits[k];
            to.limits[k] = at.side.mul_add(acceleration[3 + k], at.target);
        }
    }

    /// Calls `see` with each row's weight, and its lateness at both ends.
    #[inline(always)]
    fn rows(&self, mut see: impl FnMut(V, V, V)) {
        let [here, there] = &self.late;
        for k in 0..self.count {
            let weight = self.contacts[k].weight;
            let weights = [weight, weight, weight + weight];
            for (row, weight) in weights.into_iter().enumerate() {
                see(weight, here.contacts[k][row], there.contacts[k][row]);
            }
        }
        for k in places(self.limited) {
            see(self.limits[k].weight, here.limits[k], there.limits[k]);
        }
    }

    /// Twice the cost of the rows.
    #[inline(always)]
    pub(crate) fn cost(&self, place: Place) -> V {
        let zero = V::zero(self.token);
        let mut cost = zero;
        self.rows(|weight, here, there| {
            let late = match place {
                Place::Here => here.min(zero),
                Place::There => there.min(zero),
            };
            cost = (weight * late).mul_add(late, cost);
        });
        cost
    }

    /// The lanes in which a row pushes at only one of the ends, and the curvature of the cost on the way
    /// that comes from the rows that push here.
    #[inline(always)]
    pub(crate) fn compare(&self) -> (V::Mask, V) {
        let (mut changed, mut curve) = (none::<V>(self.token), V::zero(self.token));
        self.rows(|weight, here, there| {
            let (now, then) = (if_late(here, weight), if_late(there, weight));
            changed = V::or(changed, now.ne(then));
            let change = there - here;
            curve = (now * change).mul_add(change, curve);
        });
        (changed, curve)
    }

    /// The slope of the rows' cost at a share of the way, and the slope's rise there.
    #[inline(always)]
    pub(crate) fn slope(&self, share: V) -> (V, V) {
        let (mut slope, mut rise) = (V::zero(self.token), V::zero(self.token));
        self.rows(|weight, here, there| {
            let change = there - here;
            let late = change.mul_add(share, here);
            let pushed = if_late(late, weight * change);
            slope = pushed.mul_add(late, slope);
            rise = pushed.mul_add(change, rise);
        });
        (slope, rise)
    }

    /// Moves `here` the same way as the accelerations, for lateness is linear in them. Then lets the rows
    /// push that are late there.
    #[inline(always)]
    pub(crate) fn advance(&mut self, on: impl Fn(V, V) -> V) {
        let [here, there] = &mut self.late;
        for k in 0..self.count {
            let (here, there) = (&mut here.contacts[k], &there.contacts[k]);
            for (here, there) in here.iter_mut().zip(there) {
                *here = on(*here, *there);
            }
            let weight = self.contacts[k].weight;
            self.rows[k] = Rows {
                forward: if_late(here[0], weight),
                backward: if_late(here[1], weight),
                upward: if_late(here[2], weight + weight),
            };
        }
        for k in places(self.limited) {
            here.limits[k] = on(here.limits[k], there.limits[k]);
            let at = &self.limits[k];
            let weight = if_late(here.limits[k], at.weight);
            self.limit_weights[k] = weight;
            self.limit_pushes[k] = -(weight * at.side * at.target);
        }
    }
}
