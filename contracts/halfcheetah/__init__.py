"""Contract of halfcheetah-v0: Gymnasium's HalfCheetah-v5 on MuJoCo 3.14.0.

The claim is *tolerance-equivalent*. Whole episodes within 1e-3 are not claimed: the reference
itself, started 1e-15 off, leaves that after about a hundred of an episode's thousand steps. The
gates have names:
* A: a float64 candidate, one step from the reference's own state.
* B: a float32 candidate, one step from the reference's own state, by maximum and by quantiles.
* C: never corrected: windows of 5 steps, and how many steps an episode stays within 1e-3.
* D: returns and moments of the state over whole episodes, by a test of equivalence.

Facts about the reference:
* An action is float32, and so is its cost: Gymnasium squares and sums the action as given, not as
clamped by the physics.
* A NaN among the controls makes all six of that step zero; infinite ones are clamped. A position,
velocity or acceleration that is NaN or beyond 1e10 makes MuJoCo restart from all zeros, without
control for the rest of the step; the reward includes the jump.
* `qacc_warmstart` is the starting point of the search for the accelerations: the last substep's,
zero after a reset. It changes a step by 1e-13; it matters because MuJoCo's search stops early.
* The start is drawn from NumPy's generator of the integer seed[0] + 2^32 seed[1]: nine uniform
  positions within 0.1, then nine normal velocities times 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from twinstep.contract import Box, Contract, Field, Measure, Module, Randomness
from twinstep.errors import UserError
from twinstep.gates import Averages, GateRule, Horizon, Lockstep, Resync, Window
from twinstep.plans import PPO, Transfer

JOINTS = (
    "rootx",
    "rootz",
    "rooty",
    "bthigh",
    "bshin",
    "bfoot",
    "fthigh",
    "fshin",
    "ffoot",
)
BODIES = ("torso", *JOINTS[3:])
#: The ends of the capsules, in the order of MuJoCo's contact tests.
POINTS = tuple(f"{geom}{end}" for geom in ("torso", "head", *JOINTS[3:]) for end in ("+", "-"))

EVENTS = (
    "back_foot",
    "front_foot",
    "head",
    "torso",
    "front_shin",
    "back_shin",
    "back_thigh",
    "front_thigh",
    "limit",
    "two_limits",
    "three_contacts",  # or more
    "upside_down",
    "truncated",
)

#: The distances from the floor or a joint's limit (m, rad) at which the reference places states
#: "just" at such an edge, by the candidate's dtype. No other state lies nearer.
#: In float32 the ends' heights are off by 6e-7 m at most (measured; an angle of 5 pi is rounded by
#: 5e-7 rad), so nearer to the floor, contact or no contact does not depend on the candidate.
EDGES = {"float64": (1e-15, 1e-12), "float32": (2e-6, 2e-5)}

_SPEEDS = tuple(f"{name}_speed" for name in JOINTS)


def _joints(name: str, low: float = 0.0, high: float = 0.0, doc: str = "") -> Field:
    return Field(name, "float64", (9,), low=low, high=high, names=JOINTS, doc=doc)


def _row(name: str, shape: tuple[int, ...], names: tuple[str, ...] = (), doc: str = "") -> Field:
    return Field(name, "float64", shape, names=names, doc=doc)


QPOS = _joints("qpos", -1.0, 1.0, "MuJoCo's qpos: m and rad; rootz is from 0.7 m above the floor")
QVEL = _joints("qvel", -10.0, 10.0, "MuJoCo's qvel: m/s and rad/s")
WARMSTART = _joints("qacc_warmstart", -100.0, 100.0, "the last substep's accelerations")
ACTION = Field("action", "float32", (6,), low=-1.5, high=1.5, names=JOINTS[3:])

_PLANE = ("x", "z")


def _modules() -> tuple[Module, ...]:
    points, limits = (16,), (6,)
    return (
        Module(
            "kinematics",
            inputs=(QPOS,),
            outputs=(
                _row("body_cos", (7,), BODIES),
                _row("body_sin", (7,), BODIES),
                _row("joint_at", (7, 2), _PLANE, "where the bodies' joints are, m"),
                _row("com_at", (7, 2), _PLANE, "where the bodies' centres of mass are, m"),
                _row("end_at", (16, 2), _PLANE, "where the capsules' ends are, m"),
            ),
            source="mj_kinematics",
            doc="The seven bodies in the plane.",
        ),
        Module(
            "mass_matrix",
            inputs=(QPOS,),
            outputs=(_row("mass_matrix", (9, 9), JOINTS),),
            needs=("kinematics",),
            source="mj_crb",
        ),
        Module(
            "bias",
            inputs=(QPOS, QVEL),
            outputs=(_joints("qfrc_bias"),),
            needs=("kinematics",),
            source="mj_rne",
            doc="Gravity, centripetal and Coriolis forces.",
        ),
        Module(
            "forces",
            inputs=(QPOS, QVEL, ACTION),
            outputs=(_joints("qfrc_passive"), _joints("qfrc_actuator")),
            source="mj_passive, mj_fwdActuation",
            doc="Springs and dampers; motors with the control clamped to [-1, 1].",
        ),
        Module(
            "contacts",
            inputs=(QPOS,),
            outputs=(
                _row("depth", points, POINTS, "below the floor, m; 0 where it does not touch"),
                _row("contact_at", (16, 2), _PLANE, "the contact point; 0 where there is none"),
            ),
            needs=("kinematics",),
            source="mj_collision",
        ),
        Module(
            "rows",
            inputs=(QPOS, QVEL),
            outputs=(
                _row("contact_weight", points, POINTS, "efc_D of a contact's rows"),
                _row(
                    "contact_target",
                    (16, 3),
                    ("forward", "backward", "upward"),
                    "efc_aref of the rows n + mu t, n - mu t and n",
                ),
                _row("contact_jacobian", (16, 3, 9), JOINTS, "efc_J of the same rows"),
                _row("limit_weight", limits, JOINTS[3:], "efc_D of the limits' rows"),
                _row("limit_target", limits, JOINTS[3:], "efc_aref of the limits' rows"),
                _row("limit_side", limits, JOINTS[3:], "1 at the lower end, -1 at the upper"),
            ),
            needs=("contacts",),
            source="mj_makeConstraint, mj_referenceConstraint",
            doc="The rows of the constraint problem; all 0 where a row is not active.",
        ),
        Module(
            "newton",
            inputs=(QPOS, QVEL, ACTION, WARMSTART),
            outputs=(_joints("qacc"), _joints("qfrc_constraint")),
            needs=("mass_matrix", "bias", "forces", "rows"),
            source="mj_fwdConstraint",
            doc="The accelerations under contacts and limits, before Euler's implicit damping.",
        ),
        Module(
            "euler",
            inputs=(QPOS, QVEL, _joints("acceleration", -500.0, 500.0)),
            outputs=(_joints("next_qpos"), _joints("next_qvel")),
            needs=("newton",),
            source="mj_Euler",
            doc="One time step of 0.01 s, the joints' damping taken at its end.",
        ),
        Module(
            "substep",
            inputs=(QPOS, QVEL, WARMSTART, ACTION),
            outputs=(_joints("next_qpos"), _joints("next_qvel"), _joints("next_warmstart")),
            needs=("euler",),
            source="mj_step",
            doc="All of the above: a fifth of a step of the environment.",
        ),
        Module(
            "reward",
            inputs=(Field("x_velocity", "float64", low=-20.0, high=20.0), ACTION),
            outputs=(Field("reward", "float64"),),
            source="half_cheetah_v5.py:_get_rew",
            doc="The speed less a tenth of the squared controls.",
        ),
        Module(
            "reset",
            inputs=(Field("seed", "uint32", (2,), low=0, high=2**32 - 1, step=1),),
            outputs=(_joints("start_qpos"), _joints("start_qvel")),
            source="half_cheetah_v5.py:reset_model",
            doc="The start of the integer seed[0] + 2^32 seed[1].",
        ),
    )


def _gates() -> tuple[GateRule, ...]:
    """Return the gates; the first match decides. Modules' outputs are `module.output`."""

    def of(dtype: str, tolerances: Mapping[str, tuple[float, float]]) -> list[GateRule]:
        return [
            GateRule(Lockstep(atol, rtol), fields=fields, dtype=dtype)
            for fields, (atol, rtol) in tolerances.items()
        ]

    exact = [
        GateRule(Lockstep(), fields=fields)
        for fields in ("terminated", "truncated", "acting", "state.elapsed")
    ]
    double, single = ((1e-10, 1e-3),), ((1e-3, 5e-4), (2e-5, 0.15))
    one_step = [
        GateRule(Resync(1e-8, double), "obs", dtype="float64", name="A"),
        GateRule(Resync(1e-8, double), "state.q[pv]*", dtype="float64", name="A"),
        GateRule(Resync(1e-8, double), "reward", dtype="float64", name="A"),
        GateRule(Resync(1e-5), "state.qacc_warmstart", dtype="float64", name="A"),
        GateRule(Resync(1e-3), "state.qpos", dtype="float32", name="B"),
        GateRule(Resync(1e-3), "reward", dtype="float32", name="B"),
        GateRule(Resync(2e-2, single), "state.qvel", dtype="float32", name="B"),
        GateRule(Resync(2e-2, single), "obs", dtype="float32", name="B"),
        GateRule(Resync(10.0), "state.qacc_warmstart", dtype="float32", name="B"),
    ]
    # Placed states are stiffer than play's: as deep as 20 mm, as fast as 100 rad/s. A few of 16,384
    # are so stiff that MuJoCo itself, rounded to float32 at each substep, leaves its own step by
    # 1.6 rad/s where a candidate does by 3.5. So the maxima are loose and the shares decide:
    # of 16 sets of 16,384 fresh states none had more than 0.01 % of errors of a speed above 0.1, or
    # 0.84 % above 1e-3.
    speed = Resync(10.0, ((0.1, 5e-4), (1e-3, 2e-2), (2e-5, 0.3)))
    placed = [
        GateRule(gate, f"placed.{path}", dtype="float32")
        for path, gate in (
            ("reward", Resync(0.1, ((1e-3, 2e-3), (1e-4, 1e-2)))),
            ("state.qpos", Resync(0.1, ((1e-3, 1e-3), (1e-4, 1e-2)))),
            ("state.qvel", speed),
            ("obs", speed),
            ("state.qacc_warmstart", Resync(1500.0, ((10.0, 1e-3), (1.0, 5e-3)))),
        )
    ]
    return (
        *placed,
        *exact,
        # In the normal distribution's tails NumPy's log1p is not always correctly rounded.
        GateRule(Lockstep(atol=1e-15), "reset.start_qvel", "jax*", "float64"),
        *of("float64", _DOUBLE),
        *of("float32", _SINGLE),
        *one_step,
    )


#: The rounding error of an arm. MuJoCo subtracts two positions of up to 1,000 m, each accurate to
#: 5.7e-14 m; float32 holds an arm of 1 m to 6e-8 m.
_ARM = {"float64": 1.14e-13, "float32": 6e-8}
#: The total mass (kg), and the turning rate of placed bodies (rad/s). Centripetal forces are
#: their product with an arm; where they cancel, the arm's rounding remains.
_MASS, _FASTEST = 14.0, 100.0
#: A row's target per metre of an arm: 2 / (dmax timeconst), normal and friction.
_TARGET = 125.0 * 1.4 * _FASTEST

#: Module output -> absolute and relative tolerance of a float64 candidate.
_DOUBLE = {
    "kinematics.*": (1e-12, 0.0),
    "mass_matrix.*": (2 * _MASS * _ARM["float64"], 0.0),
    "bias.*": (_MASS * _FASTEST**2 * _ARM["float64"], 1e-13),
    "forces.*": (1e-11, 0.0),
    "contacts.depth": (1e-13, 0.0),
    "contacts.contact_at": (1e-12, 0.0),
    "rows.contact_weight": (1e-9, 1e-9),
    "rows.contact_target": (_TARGET * _ARM["float64"], 1e-11),
    "rows.contact_jacobian": (1e-12, 0.0),
    "rows.limit_*": (1e-9, 1e-9),
    "newton.*": (1e-8, 1e-9),
    "euler.*": (1e-11, 1e-11),
    "substep.next_warmstart": (1e-8, 1e-9),
    "substep.*": (1e-9, 1e-12),
    "reward.*": (0.0, 0.0),
    "reset.*": (0.0, 0.0),
}
#: The same of a float32 candidate.
_SINGLE = {
    "kinematics.*": (1e-6, 2e-7),
    "mass_matrix.*": (1e-5, 1e-6),
    "bias.*": (_MASS * _FASTEST**2 * _ARM["float32"], 1e-5),
    "forces.*": (1e-4, 1e-6),
    "contacts.depth": (1e-6, 0.0),
    "contacts.contact_at": (1e-6, 2e-7),
    "rows.contact_weight": (1e-2, 1e-3),
    "rows.contact_target": (1e-2, 1e-4),
    "rows.contact_jacobian": (1e-5, 1e-6),
    "rows.limit_*": (1e-2, 1e-3),
    "newton.*": (2.0, 1e-3),
    "euler.*": (1e-4, 1e-5),
    "substep.next_warmstart": (2.0, 1e-3),
    "substep.*": (2e-2, 1e-5),
    "reward.*": (1e-5, 1e-6),
    "reset.*": (2e-8, 0.0),
}


#: Ten training seeds spread by 150 to 300: too widely for ten to show a margin of 100.
_SMALL = Transfer(
    margin=100.0,
    solved=500.0,
    steps=300_000,
    ppo=PPO(lanes=32, steps=128, learning_rate=3e-3, entropy=0.0),
    episodes=32,
    gap=5.0,
    training=False,
)
#: For a GPU; not tried yet.
_FULL = replace(
    _SMALL,
    solved=1500.0,
    steps=20_000_000,
    ppo=PPO(lanes=1024, steps=32, learning_rate=1e-3, minibatches=16, gamma=0.99, entropy=0.0),
    episodes=128,
    gap=10.0,
)


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract of halfcheetah-v0; UserError for an invalid parameter."""
    if params["max_episode_steps"] < 1:
        raise UserError(f"max_episode_steps={params['max_episode_steps']}: at least 1 is needed")
    return Contract(
        version="halfcheetah-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, (6,), beyond=1.5),
        observation=Field("obs", "float64", (17,), names=(*JOINTS[1:], *_SPEEDS)),
        state=(
            QPOS,
            QVEL,
            WARMSTART,
            Field(
                "elapsed",
                "int32",
                low=0,
                high=params["max_episode_steps"] - 1,
                step=1,
                doc="steps played in this episode",
            ),
        ),
        reward_dtype="float64",
        randomness=Randomness(
            "NumPy's generator of the seed, as Gymnasium draws from it",
            parts={"positions": ("state.qpos",), "velocities": ("state.qvel",)},
        ),
        modules=_modules(),
        gates=_gates(),
        further=(
            GateRule(Window(5, 1e-5), "state.q[pv]*", dtype="float64", name="C"),
            GateRule(Window(5, 0.2, ((2e-3, 1e-3),)), "state.qpos", dtype="float32", name="C"),
            GateRule(Horizon(1e-3, 60, 25), "state.q[pv]*", dtype="float64", name="C"),
            GateRule(Horizon(1e-3, 10), "state.q[pv]*", dtype="float32", name="C"),
            GateRule(Horizon(2e-3, 10, 5), "state.qpos", dtype="float32", name="C"),
            GateRule(Averages(0.75), "reward", name="D"),
            GateRule(Averages(1.0), "obs", name="D"),
        ),
        events=EVENTS,
        measures=(
            Measure("largest |qvel|", "state.qvel"),
            Measure("farthest", "state.qpos", "max"),
        ),
        drivers=("random", "sticky", "trained"),
        horizon=params["max_episode_steps"],
        transfer=_SMALL,
        full_transfer=_FULL,
        largest_batch=4096,
        source_view="location",
    )
