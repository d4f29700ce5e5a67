"""The parts of a step, each alone, for one lane: the contract's modules."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from twinstep.generated.halfcheetah import dynamics
from twinstep.generated.halfcheetah.apart import lanes_last
from twinstep.generated.halfcheetah.forces import bias, motors, passive
from twinstep.generated.halfcheetah.inertia import (
    ARMATURE,
    ENTRIES,
    composites,
    inertias,
    matrix,
)
from twinstep.generated.halfcheetah.kinematics import Motion, motions, poses
from twinstep.generated.halfcheetah.model import BODIES, FRICTION, POINTS, ROOT_HEIGHT
from twinstep.generated.halfcheetah.newton import (
    Constraints,
    at_points,
    constraint_forces,
    constraints_of,
    solve,
)
from twinstep.generated.halfcheetah.reset import reset as drawn
from twinstep.generated.halfcheetah.state import Array

Outputs = dict[str, Array]


def kinematics(qpos: Array) -> Outputs:
    """Return the world positions of bodies, centres of mass and capsule ends."""
    places = poses(list(qpos))

    def world(x: Array, z: Array) -> Array:
        return jnp.stack([x + qpos[0], z + qpos[1] + ROOT_HEIGHT])

    paired = list(zip(places, BODIES, strict=True))
    coms = [pose.at(body.com_x, body.com_z) for pose, body in paired]
    ends = [places[point.body].at(point.x, point.z) for point in POINTS]
    return {
        "body_cos": jnp.stack([pose.cos for pose in places]),
        "body_sin": jnp.stack([pose.sin for pose in places]),
        "joint_at": jnp.stack([world(pose.x, pose.z) for pose in places]),
        "com_at": jnp.stack([world(*com) for com in coms]),
        "end_at": jnp.stack([world(*end) for end in ends]),
    }


def mass_matrix(qpos: Array) -> Outputs:
    """Return the joint-space mass matrix, armature included."""
    places = poses(list(qpos))
    entries = matrix(places, composites(inertias(places)), ARMATURE)
    dense = jnp.zeros((9, 9), qpos.dtype)
    for i, j in ENTRIES:
        dense = dense.at[i, j].set(entries[i, j]).at[j, i].set(entries[i, j])
    return {"mass_matrix": dense}


def _bias(qpos: Array, qvel: Array) -> Outputs:
    places = poses(list(qpos))
    return {"qfrc_bias": jnp.stack(bias(places, motions(places, list(qvel))))}


def forces(qpos: Array, qvel: Array, action: Array) -> Outputs:
    """Return the forces of springs and dampers, and of the motors."""
    root = [jnp.zeros_like(qpos[0])] * 3
    driven = motors(list(action.astype(qpos.dtype)))
    return {
        "qfrc_passive": jnp.stack([*root, *passive(list(qpos), list(qvel))]),
        "qfrc_actuator": jnp.stack([*root, *driven]),
    }


@lanes_last
def _constraints(qpos: Array, qvel: Array) -> tuple[Constraints, Array, Array]:
    """Return the constraints, the points' distances, and the points' normal and tangent speeds."""
    q, v = list(qpos), list(qvel)
    places = dynamics.places_of(qpos)
    given, apart = constraints_of(places, motions(places, v), q, v)
    columns = []
    for joint in range(9):
        unit = [jnp.full_like(qpos[0], float(k == joint)) for k in range(9)]
        moving = Motion(*at_points(motions(places, unit)))
        columns.append(jnp.stack(moving.at(given.contacts.x, given.contacts.z), 1))
    return given, apart, jnp.stack(columns, 2)


def contacts(qpos: Array) -> Outputs:
    """Return the depth of each point, and its contact point."""
    given, apart, _ = _constraints(qpos, jnp.zeros_like(qpos))
    at = [given.contacts.x + qpos[0], given.contacts.z + qpos[1] + ROOT_HEIGHT]
    touching = apart < 0.0
    return {
        "depth": jnp.where(touching, -apart, 0.0),
        "contact_at": jnp.where(touching[:, None], jnp.stack(at, 1), 0.0),
    }


def rows(qpos: Array, qvel: Array) -> Outputs:
    """Return the rows of the constraint problem; all 0 where a row is not active."""
    given, apart, jacobian = _constraints(qpos, qvel)
    normal, slide = given.contacts.normal, FRICTION * given.contacts.tangent
    along, up = FRICTION * jacobian[:, 0], jacobian[:, 1]
    touching = (apart < 0.0)[:, None]
    active = given.limits.weight > 0.0
    return {
        "contact_weight": given.contacts.weight,
        "contact_target": jnp.where(
            touching, -jnp.stack([normal + slide, normal - slide, normal], 1), 0.0
        ),
        "contact_jacobian": jnp.where(
            touching[..., None], jnp.stack([up + along, up - along, up], 1), 0.0
        ),
        "limit_weight": given.limits.weight,
        "limit_target": jnp.where(active, -given.limits.target, 0.0),
        "limit_side": jnp.where(active, given.limits.side, 0.0),
    }


@lanes_last
def _newton(qpos: Array, qvel: Array, action: Array, warmstart: Array) -> tuple[Array, Array]:
    problem = dynamics.problem_of(jnp.int32(0), qpos, qvel, action)
    acceleration = solve(problem, warmstart)
    return acceleration, constraint_forces(problem, acceleration)


def newton(qpos: Array, qvel: Array, action: Array, qacc_warmstart: Array) -> Outputs:
    """Return the accelerations, and the forces of contacts and limits."""
    found = _newton(qpos, qvel, action, qacc_warmstart)
    return dict(zip(("qacc", "qfrc_constraint"), found, strict=True))


@lanes_last
def _euler(qpos: Array, qvel: Array, acceleration: Array) -> tuple[Array, Array]:
    problem = dynamics.problem_of(jnp.int32(0), qpos, qvel, jnp.zeros_like(qpos[:6]))
    balanced = jnp.zeros_like(acceleration)
    return dynamics.euler(jnp.int32(0), problem, qpos, qvel, acceleration, balanced)


def euler(qpos: Array, qvel: Array, acceleration: Array) -> Outputs:
    """Return the state one time step later."""
    found = _euler(qpos, qvel, acceleration)
    return dict(zip(("next_qpos", "next_qvel"), found, strict=True))


@lanes_last
def _substep(qpos: Array, qvel: Array, warmstart: Array, action: Array) -> tuple[Array, ...]:
    return dynamics.substep(jnp.int32(0), qpos, qvel, warmstart, action)[:3]


def substep(qpos: Array, qvel: Array, qacc_warmstart: Array, action: Array) -> Outputs:
    """Return the state 0.01 s later."""
    names = ("next_qpos", "next_qvel", "next_warmstart")
    return dict(zip(names, _substep(qpos, qvel, qacc_warmstart, action), strict=True))


@lanes_last
def _price(action: Array) -> Array:
    # 0, but not a constant: see `apart`.
    return dynamics.price_of(jnp.isinf(action[0, 0]).astype(jnp.int32), action)


def reward(x_velocity: Array, action: Array) -> Outputs:
    """Return the reward of a step."""
    return {"reward": x_velocity - _price(action).astype(x_velocity.dtype)}


def reset(seed: Array, dtype: Any) -> Outputs:
    """Return the start of a seed u32[2]."""
    return dict(zip(("start_qpos", "start_qvel"), drawn(seed, dtype), strict=True))


MODULES = {
    "kinematics": kinematics,
    "mass_matrix": mass_matrix,
    "bias": _bias,
    "forces": forces,
    "contacts": contacts,
    "rows": rows,
    "newton": newton,
    "euler": euler,
    "substep": substep,
    "reward": reward,
    "reset": reset,
}
