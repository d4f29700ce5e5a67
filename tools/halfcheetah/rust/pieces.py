"""The parts of the physics that become one Rust function each.

Those that the description has as they are needed are not here.
"""

from __future__ import annotations

from typing import Any

from twinstep.generated.halfcheetah import (
    constraints,
    forces,
    inertia,
    kinematics,
    linear,
    model,
)
from twinstep.generated.halfcheetah.kinematics import Motion

from .symbols import symbol


def prepare(q: list[Any], v: list[Any], action: list[Any]) -> Any:
    places = kinematics.poses(q)
    moving = kinematics.motions(places, v)
    smooth = [-force for force in forces.bias(places, moving)]
    driven = zip(forces.passive(q, v), forces.motors(action), strict=True)
    for joint, (spring, motor) in enumerate(driven, 3):
        smooth[joint] = smooth[joint] + spring + motor
    return places, moving, smooth, inertia.inertias(places)


def bias(q: list[Any], v: list[Any]) -> list[Any]:
    places = kinematics.poses(q)
    return forces.bias(places, kinematics.motions(places, v))


def heights(places: list[Any], root_z: Any) -> list[Any]:
    return [
        constraints.distance(places[point.body], point.x, point.z, point.rest, root_z)[0]
        for point in model.POINTS
    ]


def touch(
    pose: Any, moving: Any, x: Any, z: Any, rest: Any, inverse_weight: Any, root_z: Any
) -> Any:
    found = constraints.distance(pose, x, z, rest, root_z)
    return constraints.contact(*found, inverse_weight, moving)


def late(at: Any, speeding: Any) -> list[Any]:
    tangent, normal = speeding.at(at.x, at.z)
    normal, slide = at.normal + normal, constraints.FRICTION * (at.tangent + tangent)
    return [normal + slide, normal - slide, normal]


def press(at: Any, rows: Any, load: Any, push: Any) -> Any:
    more, force = constraints.stiffness(at, rows)
    return load.plus(more), Motion(*(a + b for a, b in zip(push, force, strict=True)))


def force(at: Any, rows: Any, speeding: Any) -> Any:
    # What a row falls short by is small; the push and what acceleration takes off it are large.
    tangent, normal = speeding.at(at.x, at.z)
    short = at._replace(normal=at.normal + normal, tangent=at.tangent + tangent)
    return constraints.stiffness(short, rows)[1]


def solve(
    places: Any, loads: Any, pushes: Any, smooth: Any, limit_weights: Any, limit_pushes: Any
) -> list[Any]:
    right = [a + b for a, b in zip(smooth, forces.at_joints(places, pushes), strict=True)]
    diagonal = list(inertia.ARMATURE)
    for joint in range(6):
        diagonal[3 + joint] = diagonal[3 + joint] + limit_weights[joint]
        right[3 + joint] = right[3 + joint] + limit_pushes[joint]
    whole = inertia.composites(loads)
    return linear.solved(inertia.matrix(places, whole, tuple(diagonal)), right)


def damped(places: list[Any], loads: list[Any], right: list[Any]) -> list[Any]:
    joints = zip(inertia.ARMATURE[3:], model.JOINTS, strict=True)
    extra = (armature + model.TIMESTEP * joint.damping for armature, joint in joints)
    whole = inertia.composites(loads)
    return linear.solved(inertia.matrix(places, whole, (0.0, 0.0, 0.0, *extra)), right)


def mass_times(places: list[Any], loads: list[Any], vector: list[Any]) -> list[Any]:
    whole = inertia.composites(loads)
    return inertia.times(inertia.matrix(places, whole, inertia.ARMATURE), vector)


def mass_entries(places: list[Any], loads: list[Any]) -> list[Any]:
    entries = inertia.matrix(places, inertia.composites(loads), inertia.ARMATURE)
    return [entries[place] for place in inertia.ENTRIES]


def entries_of(mass: list[Any]) -> inertia.Matrix:
    return dict(zip(inertia.ENTRIES, mass, strict=True))


def balanced(mass: list[Any], right: list[Any]) -> list[Any]:
    return linear.solved(entries_of(mass), right)


def times(mass: list[Any], vector: list[Any]) -> list[Any]:
    return inertia.times(entries_of(mass), vector)


def trace(mass: list[Any]) -> Any:
    return sum(entries_of(mass)[joint, joint] for joint in range(9))


def mass_matrix(places: list[Any], loads: list[Any]) -> list[Any]:
    entries = inertia.matrix(places, inertia.composites(loads), inertia.ARMATURE)
    return [[entries.get((max(i, j), min(i, j)), symbol(0.0)) for j in range(9)] for i in range(9)]


def drive(q: list[Any], v: list[Any], action: list[Any]) -> Any:
    return forces.passive(q, v), forces.motors(action)
