//! What the pieces take and give, one structure per named tuple.
//!
//! Written by tools/halfcheetah/rust from generated/halfcheetah; do not edit.

/// Cosine and sine of a body's angle, and the place of its joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose<V> {
    pub cos: V,
    pub sin: V,
    pub x: V,
    pub z: V,
    pub vers: V,
    pub rise: V,
}

/// A rigid motion: turning rate, and velocity of what is at the torso's joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion<V> {
    pub turn: V,
    pub x: V,
    pub z: V,
}

/// A symmetric form on motions; `tx` couples turning with x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<V> {
    pub tt: V,
    pub tx: V,
    pub tz: V,
    pub xx: V,
    pub xz: V,
    pub zz: V,
}

/// One capsule end at the floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact<V> {
    pub x: V,
    pub z: V,
    pub weight: V,
    pub normal: V,
    pub tangent: V,
}

/// A contact's three rows: their weights where they push, else 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<V> {
    pub forward: V,
    pub backward: V,
    pub upward: V,
}

/// A joint limit. side: 1 at the lower end, -1 at the upper. weight, target: as a contact's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<V> {
    pub side: V,
    pub weight: V,
    pub target: V,
}
