"""Module calls: results of MuJoCo's own functions, put into the contract's form.

MuJoCo lists only active constraints. Here every one of the 16 points that may touch the floor has
a place: geom after geom, the end along the capsule's axis before the other one. So has each
of the 6 driven joints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import mujoco as _mujoco
import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields

#: The library is compiled and has no types.
mujoco: Any = _mujoco

JOINTS = 9
DRIVEN = 6
POINTS = 16
#: The joints that move the torso come first; the driven ones end each list.
FIRST_DRIVEN = JOINTS - DRIVEN
#: Geom 0 is the floor.
FIRST_CAPSULE = 1
#: Rows of a contact: plus and minus friction times each of two tangents.
ROWS = 4
_PLANE = [0, 2]  # x and z

Row = dict[str, Any]


def call(
    env: gymnasium.Env, contract: Contract, module: str, inputs: Fields
) -> dict[str, np.ndarray]:
    """Evaluate a module of the contract on inputs with a leading N.

    Returns its outputs [N, ...] in the contract's dtypes. env: any state; it is left changed.
    KeyError for a module that the contract does not have.
    """
    declared = contract.module(module)
    given = {f.name: np.asarray(inputs[f.name], f.dtype) for f in declared.inputs}
    count = len(next(iter(given.values())))
    outputs = {f.name: np.zeros((count, *f.shape), f.dtype) for f in declared.outputs}
    evaluate = _CALLS[module]
    for n in range(count):
        row = evaluate(env, {name: value[n] for name, value in given.items()})
        for name, value in outputs.items():
            value[n] = row[name]
    return outputs


def _forward(env: gymnasium.Env, given: Row) -> Any:
    """Return MuJoCo's data with everything computed for this state; fields not given are 0."""
    inside: Any = env.unwrapped
    data = inside.data
    for name in ("qpos", "qvel", "qacc_warmstart"):
        getattr(data, name)[:] = given.get(name, 0.0)
    data.ctrl[:] = given.get("action", 0.0)
    mujoco.mj_forward(inside.model, data)
    return data


def _model(env: gymnasium.Env) -> Any:
    inside: Any = env.unwrapped
    return inside.model


# ---- the parts of a substep -------------------------------------------------------------


def ends(model: Any, data: Any) -> np.ndarray:
    """Return f64[16, 3]: the capsules' ends, as centres of their round caps."""
    centre = data.geom_xpos[FIRST_CAPSULE:]
    axis = data.geom_xmat[FIRST_CAPSULE:].reshape(-1, 3, 3)[:, :, 2]
    half = model.geom_size[FIRST_CAPSULE:, 1:2] * axis
    both = np.empty((POINTS, 3))
    both[::2], both[1::2] = centre + half, centre - half
    return both


def _kinematics(env: gymnasium.Env, given: Row) -> Row:
    data = _forward(env, given)
    turned = data.xmat[1:]  # about y: row by row cos, 0, sin, 0, 1, 0, -sin, 0, cos
    return {
        "body_cos": turned[:, 0],
        "body_sin": turned[:, 2],
        "joint_at": data.xpos[1:, _PLANE],
        "com_at": data.xipos[1:, _PLANE],
        "end_at": ends(_model(env), data)[:, _PLANE],
    }


def _mass_matrix(env: gymnasium.Env, given: Row) -> Row:
    data = _forward(env, given)
    full = np.zeros((JOINTS, JOINTS))
    mujoco.mj_fullM(_model(env), data, full)
    return {"mass_matrix": full}


def _bias(env: gymnasium.Env, given: Row) -> Row:
    return {"qfrc_bias": _forward(env, given).qfrc_bias}


def _forces(env: gymnasium.Env, given: Row) -> Row:
    data = _forward(env, given)
    return {"qfrc_passive": data.qfrc_passive, "qfrc_actuator": data.qfrc_actuator}


def touching(model: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers i64[N] of the contacts that have rows, and the point i64[N] of each.

    MuJoCo lists an end that just reaches the floor, at a distance of 0, and makes no rows for it.

    A contact names its geom only. Its place is straight below its capsule end, and the two
    ends of a capsule are never closer than its length.
    """
    found = data.contact
    chosen = np.flatnonzero(found.efc_address >= 0)
    geoms = found.geom[chosen, 1].astype(np.int64)
    first = 2 * (geoms - FIRST_CAPSULE)
    depth = found.dist[chosen] / 2 + model.geom_size[geoms, 0]
    centre = found.pos[chosen] + depth[:, None] * found.frame[chosen, :3]
    at = ends(model, data)
    apart = [np.abs(at[first + end] - centre).max(1) for end in (0, 1)]
    assert (np.minimum(*apart) < 1e-6).all(), "a contact is at neither end of its capsule"
    return chosen, first + (apart[1] < apart[0])


def _contacts(env: gymnasium.Env, given: Row) -> Row:
    data, model = _forward(env, given), _model(env)
    depth, at = np.zeros(POINTS), np.zeros((POINTS, 2))
    if data.ncon:
        chosen, points = touching(model, data)
        depth[points] = -data.contact.dist[chosen]
        at[points] = data.contact.pos[chosen][:, _PLANE]
    return {"depth": depth, "contact_at": at}


def _rows(env: gymnasium.Env, given: Row) -> Row:
    data, model = _forward(env, given), _model(env)
    weight, target = np.zeros(POINTS), np.zeros((POINTS, 3))
    jacobian = np.zeros((POINTS, 3, JOINTS))
    all_rows = data.efc_J.reshape(data.nefc, JOINTS)  # 9 joints are stored densely
    for contact, point in zip(*touching(model, data), strict=True) if data.ncon else ():
        begin = data.contact.efc_address[contact]
        rows = np.arange(begin, begin + ROWS)
        weights = data.efc_D[rows]
        assert (weights == weights[0]).all(), "the rows of a contact differ in weight"
        weight[point] = weights[0]
        # The capsule's axis decides which tangent comes first, and its sign. The torso's motion
        # along x enters the rows differently: forward most, backward least, upward not at all.
        by_x = rows[np.argsort(all_rows[rows, 0])]
        chosen = by_x[[3, 0, 1]]
        target[point], jacobian[point] = data.efc_aref[chosen], all_rows[chosen]
    limits = {name: np.zeros(DRIVEN) for name in ("limit_weight", "limit_target", "limit_side")}
    for row in np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT):
        joint = data.efc_id[row] - FIRST_DRIVEN
        limits["limit_weight"][joint] = data.efc_D[row]
        limits["limit_target"][joint] = data.efc_aref[row]
        limits["limit_side"][joint] = all_rows[row, data.efc_id[row]]
    return {
        "contact_weight": weight,
        "contact_target": target,
        "contact_jacobian": jacobian,
        **limits,
    }


def _newton(env: gymnasium.Env, given: Row) -> Row:
    data = _forward(env, given)
    return {"qacc": data.qacc, "qfrc_constraint": data.qfrc_constraint}


def _euler(env: gymnasium.Env, given: Row) -> Row:
    """Let MuJoCo integrate an acceleration that did not come from its own forces."""
    data, model = _forward(env, given), _model(env)
    # It starts from forces, so it gets those that this acceleration needs.
    mujoco.mj_mulM(model, data, data.qfrc_smooth, given["acceleration"])
    data.qfrc_constraint[:] = 0
    data.qacc[:] = given["acceleration"]
    mujoco.mj_Euler(model, data)
    return _next(data)


def _substep(env: gymnasium.Env, given: Row) -> Row:
    inside: Any = env.unwrapped
    data = inside.data
    for name in ("qpos", "qvel", "qacc_warmstart"):
        getattr(data, name)[:] = given[name]
    data.ctrl[:] = given["action"]
    mujoco.mj_step(inside.model, data)
    return _next(data)


def _next(data: Any) -> Row:
    return {
        "next_qpos": data.qpos,
        "next_qvel": data.qvel,
        "next_warmstart": data.qacc_warmstart,
    }


# ---- the environment's own parts --------------------------------------------------------


def _reward(env: gymnasium.Env, given: Row) -> Row:
    inside: Any = env.unwrapped
    return {"reward": inside._get_rew(given["x_velocity"], given["action"])[0]}


def _reset(env: gymnasium.Env, given: Row) -> Row:
    inside: Any = env.unwrapped
    low, high = (int(word) for word in given["seed"])
    env.reset(seed=low | high << 32)
    return {"start_qpos": inside.data.qpos, "start_qvel": inside.data.qvel}


_CALLS: dict[str, Callable[[gymnasium.Env, Row], Row]] = {
    "kinematics": _kinematics,
    "mass_matrix": _mass_matrix,
    "bias": _bias,
    "forces": _forces,
    "contacts": _contacts,
    "rows": _rows,
    "newton": _newton,
    "euler": _euler,
    "substep": _substep,
    "reward": _reward,
    "reset": _reset,
}
