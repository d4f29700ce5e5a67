"""The Rust files of the physics: their functions, and the shapes of their arguments."""

from __future__ import annotations

from twinstep.generated.halfcheetah import constraints, forces, inertia, kinematics, model

from . import pieces

Pose, Motion, Load = kinematics.Pose, kinematics.Motion, inertia.Load
POSE, MOTION, LOAD = Pose(*[None] * 6), Motion(*[None] * 3), Load(*[None] * 6)
#: The torso's joint is what everything is about.
PLACES = [Pose(None, None, 0.0, 0.0, None, 0.0), *[POSE] * 6]
NINE, SIX = [None] * 9, [None] * 6
MASS = [None] * len(inertia.ENTRIES)
CONTACT = constraints.Contact(*[None] * 5)
#: A body's own inertia: with its mass, which is a number.
LOADS = [Load(None, None, None, body.mass, 0.0, body.mass) for body in model.BODIES]

BLOCKS = (
    (
        "prepare",
        "Poses, velocities, forces that are there anyway, inertias.",
        (
            "The bodies' poses, motions and inertias; joint forces without contacts and limits.",
            "prepare",
            pieces.prepare,
            {"q": NINE, "v": NINE, "action": SIX},
        ),
        (
            "The bodies' motions under joint velocities; the same for accelerations at rest.",
            "motions",
            kinematics.motions,
            {"places": PLACES, "v": NINE},
        ),
        (
            "The joint forces that keep the joints from accelerating.",
            "bias",
            pieces.bias,
            {"q": NINE, "v": NINE},
        ),
        (
            "The spring and damper forces, and the motor forces, of the driven joints.",
            "drive",
            pieces.drive,
            {"q": NINE, "v": NINE, "action": SIX},
        ),
    ),
    (
        "contact",
        "Contacts with the floor and joint limits.",
        (
            "How far each capsule end is from the floor. root_z: qpos of the torso's height.",
            "heights",
            pieces.heights,
            {"places": PLACES, "root_z": None},
        ),
        (
            "The contact of a capsule end at (x, z) of a body's frame.",
            "touch",
            pieces.touch,
            {
                "pose": POSE,
                "moving": MOTION,
                "x": None,
                "z": None,
                "rest": None,
                "inverse_weight": None,
                "root_z": None,
            },
        ),
        (
            "The weights of the rows that push when the body accelerates so.",
            "pushing",
            constraints.pushing,
            {"at": CONTACT, "speeding": MOTION},
        ),
        (
            "How late the rows are when the body accelerates so: what is below 0 pushes.",
            "late",
            pieces.late,
            {"at": CONTACT, "speeding": MOTION},
        ),
        (
            "A body's load and push with those of a contact added.",
            "press",
            pieces.press,
            {"at": CONTACT, "rows": constraints.Rows(*[None] * 3), "load": LOAD, "push": MOTION},
        ),
        (
            "The force of a contact's rows on a body that accelerates so.",
            "force",
            pieces.force,
            {"at": CONTACT, "rows": constraints.Rows(*[None] * 3), "speeding": MOTION},
        ),
        (
            "The limit of a joint.",
            "limit",
            constraints.limit,
            {"angle": None, "rate": None, "low": None, "high": None, "inverse_weight": None},
        ),
        (
            "The joint forces of forces on the bodies.",
            "at_joints",
            forces.at_joints,
            {"places": PLACES, "pushes": [MOTION] * 7},
        ),
    ),
    (
        "solve",
        "Linear systems in the joints' accelerations.",
        (
            "The acceleration that balances the forces, with these rows pushing.",
            "solve",
            pieces.solve,
            {
                "places": PLACES,
                "loads": [LOAD] * 7,
                "pushes": [MOTION] * 7,
                "smooth": NINE,
                "limit_weights": SIX,
                "limit_pushes": SIX,
            },
        ),
        (
            "The acceleration under forces when damping is implicit, as in Euler's step.",
            "damped",
            pieces.damped,
            {"places": PLACES, "loads": LOADS, "right": NINE},
        ),
        (
            "The mass matrix times a vector.",
            "mass_times",
            pieces.mass_times,
            {"places": PLACES, "loads": LOADS, "vector": NINE},
        ),
        (
            "The entries of the mass matrix that are not 0: each joint's row in its triangle.",
            "mass_entries",
            pieces.mass_entries,
            {"places": PLACES, "loads": LOADS},
        ),
        (
            "The acceleration under forces where nothing is touched.",
            "balanced",
            pieces.balanced,
            {"mass": MASS, "right": NINE},
        ),
        (
            "A mass matrix of entries times a vector.",
            "times",
            pieces.times,
            {"mass": MASS, "vector": NINE},
        ),
        (
            "The sum of the mass matrix's diagonal.",
            "trace",
            pieces.trace,
            {"mass": MASS},
        ),
        (
            "The mass matrix.",
            "mass_matrix",
            pieces.mass_matrix,
            {"places": PLACES, "loads": LOADS},
        ),
    ),
)
