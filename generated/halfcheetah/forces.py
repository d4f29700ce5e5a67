"""Forces other than those of contacts and limits: gravity, turning, springs, dampers, motors."""

from __future__ import annotations

from twinstep.generated.halfcheetah.kinematics import Motion, Number, Pose
from twinstep.generated.halfcheetah.model import BODIES, GRAVITY, JOINTS


def bias(places: list[Pose], moving: list[Motion]) -> list[Number]:
    """Return the joint forces [9] that keep the joints from accelerating (MuJoCo's qfrc_bias).

    If no joint accelerates, no rotation speeds up, so all accelerations are
    centripetal: towards the joint by the squared turning rate times the distance.
    """
    accelerations: list[tuple[Number, Number]] = []
    pushes = []
    for body, pose, motion in zip(BODIES, places, moving, strict=True):
        if body.parent < 0:
            here: tuple[Number, Number] = (0.0, GRAVITY)
        else:
            parent, rate = places[body.parent], moving[body.parent].turn
            at = accelerations[body.parent]
            square = rate * rate
            here = at[0] - square * (pose.x - parent.x), at[1] - square * (pose.z - parent.z)
        accelerations.append(here)
        x, z = pose.at(body.com_x, body.com_z)
        square = motion.turn * motion.turn
        force_x = body.mass * (here[0] - square * (x - pose.x))
        force_z = body.mass * (here[1] - square * (z - pose.z))
        pushes.append(Motion(z * force_x - x * force_z, force_x, force_z))
    return at_joints(places, pushes)


def at_joints(places: list[Pose], pushes: list[Motion]) -> list[Number]:
    """Return the joint forces [9] of forces on the bodies; `turn` is the moment."""
    whole = list(pushes)
    for number in range(len(BODIES) - 1, 0, -1):
        parent = BODIES[number].parent
        whole[parent] = Motion(*(a + b for a, b in zip(whole[parent], whole[number], strict=True)))
    root = whole[0]
    joints = [root.x, root.z, root.turn]
    for pose, push in zip(places[1:], whole[1:], strict=True):
        joints.append(push.turn - pose.z * push.x + pose.x * push.z)
    return joints


def passive(q: list[Number], v: list[Number]) -> list[Number]:
    """Return the forces [6] of the driven joints' springs and dampers."""
    return [
        -joint.stiffness * angle - joint.damping * rate
        for joint, angle, rate in zip(JOINTS, q[3:], v[3:], strict=True)
    ]


def motors(action: list[Number]) -> list[Number]:
    """Return the forces [6] of the motors: MuJoCo clamps the control to [-1, 1]."""
    xp = action[0].__array_namespace__()
    return [
        joint.gear * xp.minimum(xp.maximum(control, -1.0), 1.0)
        for joint, control in zip(JOINTS, action, strict=True)
    ]
