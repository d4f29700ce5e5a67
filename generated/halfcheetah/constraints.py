"""Contacts with the floor and joint limits: MuJoCo's soft constraints, specialised to the plane.

A contact of MuJoCo's pyramidal cone has four rows: the normal plus and minus friction times each
tangent. One tangent leaves the plane, where nothing moves: its two rows are both the normal alone.
So a contact here has three rows, the third of twice the weight.
"""

from __future__ import annotations

from typing import NamedTuple

from twinstep.generated.halfcheetah.inertia import Load
from twinstep.generated.halfcheetah.kinematics import Motion, Number, Pose
from twinstep.generated.halfcheetah.model import (
    CONTACT_WIDTH,
    DAMPING,
    FRICTION,
    LEAST_IMPEDANCE,
    LIMIT_WIDTH,
    MOST_IMPEDANCE,
    ROOT_HEIGHT,
    STIFFNESS,
)


class Contact(NamedTuple):
    """One capsule end at the floor.

    x, z: the contact point, about the torso's joint. weight: MuJoCo's efc_D of a row, 0 where the
    point does not touch. normal, tangent: the targets of the accelerations (minus efc_aref).
    """

    x: Number
    z: Number
    weight: Number
    normal: Number
    tangent: Number


class Rows(NamedTuple):
    """A contact's three rows: their weights where they push, else 0."""

    forward: Number
    backward: Number
    upward: Number


class Limit(NamedTuple):
    """A joint limit. side: 1 at the lower end, -1 at the upper. weight, target: as a contact's."""

    side: Number
    weight: Number
    target: Number


def impedance(depth: Number, width: float) -> Number:
    """Return MuJoCo's impedance d(r) at a depth >= 0: from least to most over `width`."""
    xp = depth.__array_namespace__()
    far = xp.minimum(depth * (1.0 / width), 1.0)
    near = 1.0 - far
    curve = xp.where(far <= 0.5, 2.0 * far * far, 1.0 - 2.0 * near * near)
    return LEAST_IMPEDANCE + curve * (MOST_IMPEDANCE - LEAST_IMPEDANCE)


def distance(
    pose: Pose, x: Number, z: Number, rest: Number, root_z: Number
) -> tuple[Number, Number, Number]:
    """Return a capsule end's distance from the floor, and its contact point if it touched.

    rest: the distance where all of qpos is zero. root_z: the height of the torso's joint above its
    own place there. The contact is half way into the overlap.
    """
    point_x, _ = pose.at(x, z)
    apart = root_z + pose.rise_of(x, z) + rest
    return apart, point_x, 0.5 * apart - (root_z + ROOT_HEIGHT)


def contact(apart: Number, x: Number, z: Number, inverse_weight: Number, moving: Motion) -> Contact:
    """Return the rows of a capsule end that is `apart` from the floor and on a moving body."""
    xp = apart.__array_namespace__()
    depth = -xp.minimum(apart, 0.0)
    stiff = impedance(depth, CONTACT_WIDTH)
    # R of the normal is (1 - d)/d * inverse_weight * (1 + mu^2); of each row 2 mu^2 as much.
    share = 1.0 / (2.0 * FRICTION**2 * (1.0 + FRICTION**2))
    weight = share * stiff / ((1.0 - stiff) * inverse_weight)
    speed_x, speed_z = moving.at(x, z)
    return Contact(
        x,
        z,
        xp.where(apart < 0.0, weight, 0.0),
        DAMPING * speed_z - STIFFNESS * stiff * depth,
        DAMPING * speed_x,
    )


def limit(angle: Number, rate: Number, low: Number, high: Number, inverse_weight: Number) -> Limit:
    """Return the row of a joint's limit; its two ends are never reached at once."""
    xp = angle.__array_namespace__()
    below, above = angle - low, high - angle
    side = xp.where(below < above, 1.0, -1.0)
    apart = xp.minimum(below, above)
    depth = -xp.minimum(apart, 0.0)
    stiff = impedance(depth, LIMIT_WIDTH)
    weight = stiff / ((1.0 - stiff) * inverse_weight)
    target = DAMPING * side * rate - STIFFNESS * stiff * depth
    return Limit(side, xp.where(apart < 0.0, weight, 0.0), target)


def pushing(at: Contact, speeding: Motion) -> Rows:
    """Return the rows that push at this acceleration of the body: those still too slow."""
    xp = at.weight.__array_namespace__()
    tangent, normal = speeding.at(at.x, at.z)
    normal = at.normal + normal
    slide = FRICTION * (at.tangent + tangent)
    return Rows(
        xp.where(normal + slide < 0.0, at.weight, 0.0),
        xp.where(normal - slide < 0.0, at.weight, 0.0),
        xp.where(normal < 0.0, 2.0 * at.weight, 0.0),
    )


def stiffness(at: Contact, rows: Rows) -> tuple[Load, Motion]:
    """Return the pushing rows' load on the body, and their force where it does not accelerate."""
    both = rows.forward + rows.backward
    nn = both + rows.upward
    nt = FRICTION * (rows.forward - rows.backward)
    tt = FRICTION**2 * both
    load = Load(
        at.x * (at.x * nn - at.z * nt) + at.z * (at.z * tt - at.x * nt),
        at.z * tt - at.x * nt,
        at.z * nt - at.x * nn,
        tt,
        nt,
        nn,
    )
    upward = -(nn * at.normal + nt * at.tangent)
    forward = -(nt * at.normal + tt * at.tangent)
    return load, Motion(at.z * forward - at.x * upward, forward, upward)
