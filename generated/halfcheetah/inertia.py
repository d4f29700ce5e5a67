"""Masses: the resistance to each joint's acceleration.

A `Load` is a symmetric 3x3 form on motions about the torso's joint. A body's inertia is one, and
so is a contact's stiffness. Both are added along the tree and turned into joint space alike, so
the contact problem's matrix costs no more than the mass matrix and is as sparse.
"""

from __future__ import annotations

from typing import NamedTuple

from twinstep.generated.halfcheetah.kinematics import Motion, Number, Pose
from twinstep.generated.halfcheetah.model import BODIES, JOINTS

#: Each joint's ancestors, nearest first: the places of the matrices' entries.
ANCESTORS: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (1, 0),
    (2, 1, 0),
    (3, 2, 1, 0),
    (4, 3, 2, 1, 0),
    (2, 1, 0),
    (6, 2, 1, 0),
    (7, 6, 2, 1, 0),
)
#: The entries (row, column) of a matrix, row >= column.
ENTRIES = tuple((i, j) for i in range(9) for j in (i, *ANCESTORS[i]))
ARMATURE = (0.0, 0.0, 0.0, *(joint.armature for joint in JOINTS))

Matrix = dict[tuple[int, int], Number]


class Load(NamedTuple):
    """A symmetric form on motions; `tx` couples turning with x."""

    tt: Number
    tx: Number
    tz: Number
    xx: Number
    xz: Number
    zz: Number

    def of(self, motion: Motion) -> Motion:
        """Return the form's value on a motion: for an inertia, its momentum."""
        return Motion(
            self.tt * motion.turn + self.tx * motion.x + self.tz * motion.z,
            self.tx * motion.turn + self.xx * motion.x + self.xz * motion.z,
            self.tz * motion.turn + self.xz * motion.x + self.zz * motion.z,
        )

    def plus(self, other: Load) -> Load:
        """Return the sum of two."""
        return Load(*(a + b for a, b in zip(self, other, strict=True)))


def inertias(places: list[Pose]) -> list[Load]:
    """Return the bodies' own inertias."""
    loads = []
    for body, pose in zip(BODIES, places, strict=True):
        x, z = pose.at(body.com_x, body.com_z)
        mass_x, mass_z = body.mass * x, body.mass * z
        about = body.inertia + mass_x * x + mass_z * z
        loads.append(Load(about, mass_z, -mass_x, body.mass, 0.0, body.mass))
    return loads


def composites(loads: list[Load]) -> list[Load]:
    """Return each body's load including those of all its descendants."""
    whole = list(loads)
    for number in range(len(BODIES) - 1, 0, -1):
        parent = BODIES[number].parent
        whole[parent] = whole[parent].plus(whole[number])
    return whole


def matrix(places: list[Pose], whole: list[Load], diagonal: tuple[Number, ...]) -> Matrix:
    """Return the joint-space matrix of composite loads, with `diagonal` added."""
    root = whole[0]
    entries = {
        (0, 0): root.xx + diagonal[0],
        (1, 0): root.xz,
        (1, 1): root.zz + diagonal[1],
        (2, 0): root.tx,
        (2, 1): root.tz,
        (2, 2): root.tt + diagonal[2],
    }
    for joint in range(3, 9):
        pose = places[joint - 2]
        push = whole[joint - 2].of(Motion(1.0, -pose.z, pose.x))
        entries[joint, 0], entries[joint, 1], entries[joint, 2] = push.x, push.z, push.turn
        for other in (joint, *(k for k in ANCESTORS[joint] if k > 2)):
            axis = places[other - 2]
            entries[joint, other] = push.turn - axis.z * push.x + axis.x * push.z
        entries[joint, joint] = entries[joint, joint] + diagonal[joint]
    return entries


def times(entries: Matrix, vector: list[Number]) -> list[Number]:
    """Return the matrix times a vector[9]."""
    product: list[Number] = [0.0] * 9
    for i, j in ENTRIES:
        product[i] = product[i] + entries[i, j] * vector[j]
        if i != j:
            product[j] = product[j] + entries[i, j] * vector[i]
    return product
