"""One step of the environment: five substeps of the physics and the reward."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.halfcheetah.apart import apart, lanes_last
from twinstep.generated.halfcheetah.forces import bias, motors, passive
from twinstep.generated.halfcheetah.inertia import (
    ARMATURE,
    Load,
    Matrix,
    composites,
    inertias,
    matrix,
)
from twinstep.generated.halfcheetah.kinematics import Motion, Pose, motions, poses
from twinstep.generated.halfcheetah.linear import solved
from twinstep.generated.halfcheetah.model import GRAVITY, JOINTS, TIMESTEP
from twinstep.generated.halfcheetah.newton import Problem, constraints_of, left_over, solve
from twinstep.generated.halfcheetah.reset import reset as drawn
from twinstep.generated.halfcheetah.state import (
    CONTROL_COST,
    SUBSTEPS,
    Array,
    State,
)

#: MuJoCo rejects numbers beyond this (mjMAXVAL).
HUGE = 1e10


def reset(seed: Array, dtype: Any) -> State:
    """Begin the episode of a seed u32[2] in float32 or float64."""
    qpos, qvel = drawn(seed, dtype)
    zero = jnp.zeros((), dtype)
    return State(qpos, qvel, jnp.zeros(9, dtype), jnp.int32(0), zero)


@lanes_last
def step(state: State, action: Array) -> State:
    """Play one step with an action f32[6]."""

    def once(turn: Array, now: tuple[Array, ...]) -> tuple[Array, ...]:
        *state, lost, run, _ = now
        q, v, warm, control, again = substep(turn, *state)
        return q, v, warm, control, lost | again, run + TIMESTEP * v[0], price_of(turn, action)

    # The displacement is summed by itself: far from the origin two positions share most bits.
    none, still = jnp.zeros_like(state.qpos[0], bool), jnp.zeros_like(state.qpos[0])
    begin = (*state[:3], action, none, still, jnp.zeros_like(action[0]))
    qpos, qvel, warmstart, _, lost, run, price = jax.lax.fori_loop(0, SUBSTEPS, once, begin)
    # A state lost on the way has jumped to the origin, and the reward includes the jump.
    run = jnp.where(lost, qpos[0] - state.qpos[0], run)
    return State(
        qpos,
        qvel,
        warmstart,
        state.elapsed + 1,
        run / (SUBSTEPS * TIMESTEP) - price.astype(run.dtype),
    )


def substep(
    turn: Array, qpos: Array, qvel: Array, warmstart: Array, action: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Play 0.01 s. Returns qpos, qvel, the start of the next search, the action to continue
    with, and the lanes whose state was lost: MuJoCo restarted from all zeros.

    All arrays are [..., N]. turn: a loop's counter, see `apart`.
    """
    qpos, qvel, warmstart, action, lost = _as_mujoco_checks(qpos, qvel, warmstart, action)
    problem = problem_of(turn, qpos, qvel, action)
    acceleration = solve(problem, warmstart)
    # In float32 the remainder is rounding alone.
    exact = qpos.dtype == np.float64
    left = left_over(problem, acceleration) if exact else jnp.zeros_like(qpos)
    moved = *euler(turn, problem, qpos, qvel, acceleration, left), acceleration
    # From all zeros, where nothing is touched, the cheetah falls.
    wild = _wild(acceleration)
    falls = jnp.zeros_like(acceleration).at[1].set(-GRAVITY)
    instead = TIMESTEP**2 * falls, TIMESTEP * falls, falls
    qpos, qvel, warmstart = (
        jnp.where(wild[None], a, b) for a, b in zip(instead, moved, strict=True)
    )
    return qpos, qvel, warmstart, jnp.where(wild[None], 0.0, action), lost | wild


def _wild(values: Array) -> Array:
    """Return where [N] one of values [..., N] is NaN or too large for MuJoCo."""
    return ~jnp.all(jnp.abs(values) <= HUGE, 0)


def problem_of(turn: Array, qpos: Array, qvel: Array, action: Array) -> Problem:
    """Return the quantities that determine the accelerations."""
    q, v = list(qpos), list(qvel)
    places = apart(turn, places_of, qpos)
    moving = apart(turn, motions, places, v)
    loads = apart(turn, _inertias, places)
    smooth = apart(turn, smooth_forces, places, moving, q, v, list(action.astype(qpos.dtype)))
    given = apart(turn, lambda *a: constraints_of(*a)[0], places, moving, q, v)
    return Problem(places, loads, smooth, given)


def smooth_forces(
    places: list[Pose], moving: list[Motion], q: list[Array], v: list[Array], action: list[Array]
) -> list[Array]:
    """Return the joint forces [9] of everything except contacts and limits."""
    smooth = [-force for force in bias(places, moving)]
    driven = zip(passive(q, v), motors(action), strict=True)
    return [*smooth[:3], *(a + b + c for a, (b, c) in zip(smooth[3:], driven, strict=True))]


def euler(
    turn: Array,
    problem: Problem,
    qpos: Array,
    qvel: Array,
    acceleration: Array,
    left: Array,
) -> tuple[Array, Array]:
    """Advance by one time step, with the joints' damping taken at its end.

    MuJoCo solves (M + h B) a' = f with the time step h, the damping B and the forces f, which are
    M a plus the `left` unbalanced by the search for a. Solving for the part removed by the damping,
    (M + h B) (a - a') = h B a + left, keeps more digits.
    """
    damping = [TIMESTEP * joint.damping for joint in JOINTS]
    diagonal = (*ARMATURE[:3], *(ARMATURE[3 + k] + damping[k] for k in range(6)))

    def damped(places: list[Pose], loads: list[Load]) -> Matrix:
        return matrix(places, composites(loads), diagonal)

    lost = [damping[k] * acceleration[3 + k] + left[3 + k] for k in range(6)]
    right = [*left[:3], *lost]
    lost = apart(turn, solved, apart(turn, damped, problem.places, problem.loads), right)
    faster = qvel + TIMESTEP * (acceleration - jnp.stack(lost))
    return qpos + TIMESTEP * faster, faster


def places_of(qpos: Array) -> list[Pose]:
    return _arrays(poses(list(qpos)), qpos)


def _inertias(places: list[Pose]) -> list[Load]:
    return _arrays(inertias(places), places[0].cos)


def _arrays(tree: Any, like: Array) -> Any:
    """Return the tree with its plain numbers as arrays [N]."""
    return jax.tree.map(
        lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, like.dtype), like.shape[-1:]), tree
    )


def price_of(turn: Array, action: Array) -> Array:
    """Return the controls' cost f32[N], each operation rounded to float32 as NumPy does.

    The controls are those given, not the clamped ones. Multiplications are separated from their
    sums: a compiler that fuses the two rounds once where NumPy rounds twice.
    """
    squares = apart(turn, lambda controls: controls * controls, action)
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return apart(turn, lambda amount: np.float32(CONTROL_COST) * amount, total)


def _as_mujoco_checks(
    qpos: Array, qvel: Array, warmstart: Array, action: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the values that MuJoCo continues with, and where [N] they are not those given.

    An invalid position or velocity makes MuJoCo restart from all zeros, without control for
    the rest of the step. A NaN among the controls makes all of them zero.
    """
    lost = _wild(qpos) | _wild(qvel)
    qpos, qvel, warmstart = (jnp.where(lost[None], 0.0, a) for a in (qpos, qvel, warmstart))
    no_control = lost | jnp.isnan(action).any(0)
    return qpos, qvel, warmstart, jnp.where(no_control[None], 0.0, action), lost
