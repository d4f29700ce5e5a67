"""Write `generated/halfcheetah/model.py` from MuJoCo's compiled model.

    python tools/halfcheetah/model.py SOURCE [--check]

SOURCE is a MuJoCo model file, or `gymnasium` for the one that Gymnasium's HalfCheetah-v5 loads.
Only numbers from MuJoCo's compiler are written. The script checks that the model is the planar
chain that the physics is written for. --check writes nothing and exits with 1 if the file differs.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "generated" / "halfcheetah" / "model.py"
#: MuJoCo keeps impedances away from 0 and 1 by this much (mjMINIMP, mjMAXIMP).
LEAST_IMPEDANCE, MOST_IMPEDANCE = 0.0001, 0.9999


def load(source: str) -> mujoco.MjModel:
    """Return the compiled model of a file, or of Gymnasium's environment."""
    if source != "gymnasium":
        return mujoco.MjModel.from_xml_path(source)
    import gymnasium

    return gymnasium.make("HalfCheetah-v5").unwrapped.model


def require(true: bool, what: str) -> None:
    """Stop unless the model has the shape that the physics is written for."""
    if not true:
        sys.exit(f"this model cannot be used: {what}")


def check(model: mujoco.MjModel) -> None:
    """Check every assumption of the planar physics."""
    opt = model.opt
    require((model.nq, model.nv, model.nu) == (9, 9, 6), "9 joints and 6 motors are expected")
    require(opt.solver == mujoco.mjtSolver.mjSOL_NEWTON, "the solver is not Newton's")
    require((opt.iterations, opt.ls_iterations) == (100, 50), "iterations are not the defaults")
    require(not np.any(opt.gravity[:2]), "gravity is not along z")
    require(not opt.density and not opt.viscosity, "there is a medium")
    require(opt.integrator == mujoco.mjtIntegrator.mjINT_EULER, "the integrator is not Euler")
    require(opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL, "the friction cone is not pyramidal")
    require(opt.impratio == 1.0 and not opt.disableflags, "impratio and flags are not the defaults")
    require(not np.any(model.qpos_spring) and not np.any(model.qpos0), "a joint has an offset")
    require(not np.any(model.dof_frictionloss), "a joint has dry friction")
    require(not np.any(model.geom_margin) and not np.any(model.geom_gap), "a geom has a margin")
    require(not np.any(model.jnt_margin), "a joint limit has a margin")
    require(not np.any(model.jnt_pos), "a joint is not at its body's origin")
    require(model.jnt_axis.tolist() == [[1, 0, 0], [0, 0, 1]] + [[0, 1, 0]] * 7, "joint axes")
    require(np.all(model.body_quat[1:] == [1, 0, 0, 0]), "a body is turned")
    require(np.all(model.body_pos[:, 1] == 0), "a body is out of the plane")
    require(np.all(model.geom_contype[1:] == 1), "a capsule does not touch the floor")
    require(not np.any(model.geom_conaffinity[1:]), "capsules touch each other")
    require(np.all(model.geom_condim == 3), "contacts have other dimensions than 3")
    require(len(np.unique(model.geom_friction, axis=0)) == 1, "frictions differ")
    require(len(np.unique(model.geom_size[1:, 0])) == 1, "radii differ")
    solver = (model.geom_solref, model.geom_solimp)
    require(all(len(np.unique(a, axis=0)) == 1 for a in solver), "contacts differ in stiffness")
    solver = (model.jnt_solref, model.jnt_solimp)
    require(all(len(np.unique(a, axis=0)) == 1 for a in solver), "limits differ in stiffness")
    require(np.all(model.geom_solref == model.jnt_solref[0]), "two time constants")
    solimp = np.concatenate([model.geom_solimp, model.jnt_solimp])
    require(np.all(solimp[:, 3:] == [0.5, 2.0]), "an impedance curve is not the usual one")
    require(np.all(model.actuator_ctrlrange == [-1, 1]), "a control range is not [-1, 1]")
    require(model.actuator_trnid[:, 0].tolist() == [3, 4, 5, 6, 7, 8], "motors and joints")


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a quaternion."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def bodies(model: mujoco.MjModel) -> list[str]:
    """Return the rows of the bodies, torso first."""
    rows = []
    for body in range(1, model.nbody):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body)
        turned = rotation(model.body_iquat[body])
        inertia = (turned @ np.diag(model.body_inertia[body]) @ turned.T)[1, 1]
        x, _, z = model.body_pos[body]
        if body == 1:
            x, z = 0.0, 0.0  # the joints' origin; its height is ROOT_HEIGHT
        com_x, _, com_z = model.body_ipos[body]
        numbers = (x, z, model.body_mass[body], com_x, com_z, inertia)
        rows.append(f'    Body("{name}", {model.body_parentid[body] - 1}, {listed(numbers)}),')
    return rows


def joints(model: mujoco.MjModel) -> list[str]:
    """Return the rows of the six driven joints; joint k turns body k + 1."""
    rows = []
    for k in range(6):
        joint = k + 3
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        require(model.jnt_bodyid[joint] == k + 2, "joints and bodies are in another order")
        numbers = (
            *model.jnt_range[joint],
            model.jnt_stiffness[joint],
            model.dof_damping[joint],
            model.dof_armature[joint],
            model.actuator_gear[k, 0],
            model.dof_invweight0[joint],
        )
        rows.append(f'    Joint("{name}", {listed(numbers)}),')
    return rows


def points(model: mujoco.MjModel) -> list[str]:
    """Return the rows of the capsules' ends, in the order in which MuJoCo tests them."""
    rows = []
    for geom in range(1, model.ngeom):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
        body = model.geom_bodyid[geom]
        axis = rotation(model.geom_quat[geom])[:, 2] * model.geom_size[geom, 1]
        for sign in (1, -1):
            x, _, z = model.geom_pos[geom] + sign * axis
            rest = rest_height(model, body) + z - model.geom_size[geom, 0]
            numbers = (x, z, rest, model.body_invweight0[body, 0])
            rows.append(f'    Point("{name}", {body - 1}, {listed(numbers)}),')
    return rows


def rest_height(model: mujoco.MjModel, body: int) -> float:
    """Return how high a body's joint is where all joint positions are zero."""
    height = 0.0
    while body:
        height += float(model.body_pos[body, 2])
        body = model.body_parentid[body]
    return height


def listed(numbers: tuple[float, ...]) -> str:
    """Write numbers so that reading gives the same bits."""
    return ", ".join(repr(float(number)) for number in numbers)


def table(model: mujoco.MjModel) -> str:
    """Return the text of the generated module."""
    contact, limit = model.geom_solimp[0], model.jnt_solimp[0]
    least = max(contact[0], LEAST_IMPEDANCE)
    time_constant, damping_ratio = model.geom_solref[0]
    time_constant = max(time_constant, 2 * model.opt.timestep)  # as refsafe does
    most = contact[1]
    require(most == limit[1] and contact[0] == limit[0], "two impedance ranges")
    scalars = {
        "TIMESTEP": model.opt.timestep,
        "GRAVITY": -model.opt.gravity[2],
        "ROOT_HEIGHT": model.body_pos[1, 2],
        "RADIUS": model.geom_size[1, 0],
        "FRICTION": model.geom_friction[0, 0],
        "LEAST_IMPEDANCE": least,
        "MOST_IMPEDANCE": min(most, MOST_IMPEDANCE),
        "CONTACT_WIDTH": contact[2],
        "LIMIT_WIDTH": limit[2],
        "STIFFNESS": 1 / (most**2 * time_constant**2 * damping_ratio**2),
        "DAMPING": 2 / (most * time_constant),
        "TOLERANCE": model.opt.tolerance,
    }
    lines = [
        f'"""Numbers of HalfCheetah as MuJoCo {mujoco.__version__} compiles it.',
        "",
        "Written by tools/halfcheetah/model.py; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class Body(NamedTuple):",
        '    """x, z: the joint in the parent\'s frame. com_x, com_z: mass centre in its own."""',
        "",
        "    name: str",
        "    parent: int",
        *(f"    {n}: float" for n in ("x", "z", "mass", "com_x", "com_z", "inertia")),
        "",
        "",
        "class Joint(NamedTuple):",
        '    """One of the six driven joints; weight: MuJoCo\'s dof_invweight0."""',
        "",
        "    name: str",
        *(
            f"    {n}: float"
            for n in ("low", "high", "stiffness", "damping", "armature", "gear", "weight")
        ),
        "",
        "",
        "class Point(NamedTuple):",
        '    """One end of a capsule, in its body\'s frame; weight: MuJoCo\'s body_invweight0.',
        "",
        "    rest: its distance from the floor where all joint positions are zero.",
        '    """',
        "",
        "    geom: str",
        "    body: int",
        *(f"    {n}: float" for n in ("x", "z", "rest", "weight")),
        "",
        "",
        "# fmt: off",
        "# ruff: noqa: E501",
        f'MUJOCO = "{mujoco.__version__}"',
        *(f"{name} = {float(value)!r}" for name, value in scalars.items()),
        "BODIES = (",
        *bodies(model),
        ")",
        "JOINTS = (",
        *joints(model),
        ")",
        "POINTS = (",
        *points(model),
        ")",
        "# fmt: on",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table."""
    given = [word for word in sys.argv[1:] if word != "--check"]
    if len(given) != 1:
        sys.exit("usage: python tools/halfcheetah/model.py gymnasium|FILE.xml [--check]")
    model = load(given[0])
    check(model)
    if "--check" in sys.argv:
        sys.exit(PYTHON.read_text() != table(model))
    PYTHON.write_text(table(model))
    print(f"wrote {PYTHON.relative_to(ROOT)} from MuJoCo {mujoco.__version__}")


main()
