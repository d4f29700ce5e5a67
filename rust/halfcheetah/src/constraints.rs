//! The contacts and limits of a vector of lanes: those that at least one lane touches.

mod late;

use crate::block::places;
use crate::generated::contact::{at_joints, force, heights, limit, press, pushing, touch};
use crate::generated::structures::{Contact, Limit, Load, Motion, Pose, Rows};
use crate::generated::tables::{JOINTS, POINTS, Point};
use crate::vector::Vector;

use late::Late;
pub(crate) use late::Place;

/// The contacts and limits that are touched, and the rows that push.
pub(crate) struct Constraints<V: Vector> {
    token: V::Token,
    /// Contacts come first; the rest of the arrays is left over from before.
    count: usize,
    bodies: [usize; POINTS.len()],
    contacts: [Contact<V>; POINTS.len()],
    rows: [Rows<V>; POINTS.len()],
    /// Joints beyond a limit in some lane, one bit each.
    limited: u32,
    limits: [Limit<V>; JOINTS.len()],
    /// The weights of limits that push, 0 for others; and their forces without acceleration.
    pub limit_weights: [V; JOINTS.len()],
    pub limit_pushes: [V; JOINTS.len()],
    /// At both ends of a step; only where one is searched along.
    late: [Late<V>; 2],
}

/// No lane.
#[inline(always)]
pub(crate) fn none<V: Vector>(token: V::Token) -> V::Mask {
    V::zero(token).lt(V::zero(token))
}

/// The contact of a capsule end.
#[inline(always)]
pub(crate) fn contact<V: Vector>(
    point: &Point,
    places: &[Pose<V>; 7],
    moving: &[Motion<V>; 7],
    root_z: V,
) -> Contact<V> {
    let token = root_z.token();
    touch(
        &places[point.body],
        &moving[point.body],
        V::of(token, point.x),
        V::of(token, point.z),
        V::of(token, point.rest),
        V::of(token, point.weight),
        root_z,
    )
}

/// No motion, or no force.
#[inline(always)]
pub(crate) fn still<V: Vector>(token: V::Token) -> Motion<V> {
    let zero = V::zero(token);
    Motion {
        turn: zero,
        x: zero,
        z: zero,
    }
}

impl<V: Vector> Constraints<V> {
    /// Touches nothing.
    #[inline(always)]
    pub(crate) fn new(token: V::Token) -> Self {
        let zero = V::zero(token);
        let contact = Contact {
            x: zero,
            z: zero,
            weight: zero,
            normal: zero,
            tangent: zero,
        };
        let rows = Rows {
            forward: zero,
            backward: zero,
            upward: zero,
        };
        let limit = Limit {
            side: zero,
            weight: zero,
            target: zero,
        };
        Self {
            token,
            count: 0,
            bodies: [0; POINTS.len()],
            contacts: [contact; POINTS.len()],
            rows: [rows; POINTS.len()],
            limited: 0,
            limits: [limit; JOINTS.len()],
            limit_weights: [zero; JOINTS.len()],
            limit_pushes: [zero; JOINTS.len()],
            late: [Late::new(token); 2],
        }
    }

    /// Finds the contacts and limits that are touched.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        places: &[Pose<V>; 7],
        moving: &[Motion<V>; 7],
        q: &[V; 9],
        v: &[V; 9],
    ) {
        let token = self.token;
        let zero = V::zero(token);
        let apart = heights(places, q[1]);
        let mut below = 0;
        for (point, apart) in apart.iter().enumerate() {
            below |= u32::from(V::any(apart.lt(zero))) << point;
        }
        self.count = 0;
        while below != 0 {
            let point = &POINTS[below.trailing_zeros() as usize];
            below &= below - 1;
            self.bodies[self.count] = point.body;
            self.contacts[self.count] = contact(point, places, moving, q[1]);
            self.count += 1;
        }
        self.limited = 0;
        for (k, joint) in JOINTS.iter().enumerate() {
            let angle = q[3 + k];
            let beyond = V::or(
                angle.lt(V::of(token, joint.low)),
                V::of(token, joint.high).lt(angle),
            );
            self.limited |= u32::from(V::any(beyond)) << k;
        }
        self.limit_weights = [zero; JOINTS.len()];
        self.limit_pushes = [zero; JOINTS.len()];
        for k in self.limited() {
            let joint = &JOINTS[k];
            let (low, high) = (V::of(token, joint.low), V::of(token, joint.high));
            self.limits[k] = limit(q[3 + k], v[3 + k], low, high, V::of(token, joint.weight));
        }
    }

    /// The joints beyond a limit in some lane.
    #[inline(always)]
    fn limited(&self) -> impl Iterator<Item = usize> + use<V> {
        places(self.limited)
    }

    /// Whether nothing is touched in any lane.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.count == 0 && self.limited == 0
    }

    /// The lanes in which something is touched.
    #[inline(always)]
    pub(crate) fn touched(&self) -> V::Mask {
        let zero = V::zero(self.token);
        let mut touched = none::<V>(self.token);
        for contact in &self.contacts[..self.count] {
            touched = V::or(touched, contact.weight.ne(zero));
        }
        for k in self.limited() {
            touched = V::or(touched, self.limits[k].weight.ne(zero));
        }
        touched
    }

    /// Lets the rows push that do so at an acceleration. Returns the lanes in which one changed.
    #[inline(always)]
    pub(crate) fn update(&mut self, speeding: &[Motion<V>; 7], acceleration: &[V; 9]) -> V::Mask {
        let zero = V::zero(self.token);
        let mut changed = none::<V>(self.token);
        for k in 0..self.count {
            let now = pushing(&self.contacts[k], &speeding[self.bodies[k]]);
            let before = &self.rows[k];
            changed = V::or(changed, now.forward.ne(before.forward));
            changed = V::or(changed, now.backward.ne(before.backward));
            changed = V::or(changed, now.upward.ne(before.upward));
            self.rows[k] = now;
        }
        for k in self.limited() {
            let at = &self.limits[k];
            let short = at.side.mul_add(acceleration[3 + k], at.target);
            let now = V::select(short.lt(zero), at.weight, zero);
            changed = V::or(changed, now.ne(self.limit_weights[k]));
            self.limit_weights[k] = now;
            self.limit_pushes[k] = -(now * at.side * at.target);
        }
        changed
    }

    /// Sets the loads and pushes of touched bodies to their own loads plus everything that pushes. Those
    /// of the other bodies stay.
    #[inline(always)]
    pub(crate) fn press(
        &self,
        own: &[Load<V>; 7],
        loads: &mut [Load<V>; 7],
        pushes: &mut [Motion<V>; 7],
    ) {
        let mut last = usize::MAX;
        for k in 0..self.count {
            let body = self.bodies[k];
            // A body's contacts come one after the other.
            let (load, push) = if body == last {
                (loads[body], pushes[body])
            } else {
                (own[body], still(self.token))
            };
            last = body;
            (loads[body], pushes[body]) = press(&self.contacts[k], &self.rows[k], &load, &push);
        }
    }

    /// The forces of the pushing rows on the joints, at an acceleration.
    #[inline(always)]
    pub(crate) fn forces(
        &self,
        places: &[Pose<V>; 7],
        speeding: &[Motion<V>; 7],
        acceleration: &[V; 9],
    ) -> [V; 9] {
        let mut pushes = [still(self.token); 7];
        for k in 0..self.count {
            let body = self.bodies[k];
            let more = force(&self.contacts[k], &self.rows[k], &speeding[body]);
            let push = &mut pushes[body];
            push.turn = push.turn + more.turn;
            push.x = push.x + more.x;
            push.z = push.z + more.z;
        }
        let mut forces = at_joints(places, &pushes);
        for k in self.limited() {
            let at = &self.limits[k];
            let short = at.side.mul_add(acceleration[3 + k], at.target);
            forces[3 + k] = forces[3 + k] - self.limit_weights[k] * at.side * short;
        }
        forces
    }
}
