"""The accelerations under contacts and limits: the minimum of MuJoCo's convex cost.

The cost is quadratic for each set of pushing rows: a full Newton step reaches the minimum of the
present set, and if no row changes, that is the minimum. Where rows change, the step's length is
the one that lowers the cost most (an exact line search).

In float64 the search goes as MuJoCo's: from the cheaper of the last accelerations and those without
constraints, always by line searches, and it stops where MuJoCo's does: before the first step where
the forces left unbalanced and the gain that the step promises are both below 1e-8 of the mass
matrix's trace, as at rest; later where one of them is, or the gain of the last step. One step in a
hundred thousand then ends 1e-3 off the minimum, and the next state 1e-5. Float32 rounds more than
that: there full steps save the searching, and one more after the rows are found, computed row by
row from the remainder, restores the digits lost to the matrix of stiff contacts. Play needs at most
6 of them, placed states 9. In theory they could go round in a circle, so from FULL_STEPS on the
solver searches.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep.generated.halfcheetah.apart import apart
from twinstep.generated.halfcheetah.constraints import (
    FRICTION,
    Contact,
    Limit,
    Rows,
    contact,
    distance,
    limit,
    pushing,
    stiffness,
)
from twinstep.generated.halfcheetah.forces import at_joints
from twinstep.generated.halfcheetah.inertia import (
    ARMATURE,
    Load,
    Matrix,
    composites,
    matrix,
    times,
)
from twinstep.generated.halfcheetah.kinematics import Motion, Pose, motions
from twinstep.generated.halfcheetah.linear import solved
from twinstep.generated.halfcheetah.model import JOINTS, POINTS, TOLERANCE
from twinstep.generated.halfcheetah.state import Array

#: Newton steps that float32 takes whole; later ones use a line search.
FULL_STEPS = 10
#: No problem needs so many steps; the bound keeps a lane that is not finite from looping forever.
MOST_STEPS = 100

_OF = [point.body for point in POINTS]


class Constraints(NamedTuple):
    """All contacts, fields [16, N], and all limits, fields [6, N]."""

    contacts: Contact
    limits: Limit


class Pushing(NamedTuple):
    """The weights of the rows that push: contacts' [16, N] each, limits' [6, N]."""

    rows: Rows
    limits: Array


class Problem(NamedTuple):
    """The problem to minimise: the bodies' places and inertias, smooth forces, constraints."""

    places: list[Pose]
    loads: list[Load]
    smooth: list[Array]
    given: Constraints


class _Search(NamedTuple):
    """settled: whether the last step changed no row. gain: by how much it lowered the cost."""

    at: Array
    rows: Pushing
    steps: Array
    done: Array
    settled: Array
    gain: Array


def column(values: tuple[float, ...], like: Array) -> Array:
    """Return constants as [len, 1], to go with [len, N]."""
    return jnp.array(values, like.dtype)[:, None]


def at_points(of_bodies: list[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the values of each point's body: fields [16, N] from seven tuples."""
    return tuple(jnp.stack(values)[jnp.array(_OF)] for values in zip(*of_bodies, strict=True))


def to_bodies(of_points: Array) -> list[Array]:
    """Return the sums [7] over each body's points: the torso has four, the others two each."""
    pairs = of_points.reshape(8, 2, -1).sum(1)
    return [pairs[0] + pairs[1], *pairs[2:]]


def constraints_of(
    places: list[Pose], moving: list[Motion], q: list[Array], v: list[Array]
) -> tuple[Constraints, Array]:
    """Return the constraints of a state, and the points' distances from the floor [16, N]."""
    x, z, rest, weight = (column(values, q[0]) for values in list(zip(*POINTS, strict=True))[2:])
    where, motion = Pose(*at_points(places)), Motion(*at_points(moving))
    apart_by, at_x, at_z = distance(where, x, z, rest, q[1][None])
    _, low, high, *_, limit_weight = zip(*JOINTS, strict=True)
    ends = (column(values, q[0]) for values in (low, high, limit_weight))
    limits = limit(jnp.stack(q[3:]), jnp.stack(v[3:]), *ends)
    return Constraints(contact(apart_by, at_x, at_z, weight, motion), limits), apart_by


def pushing_rows(places: list[Pose], given: Constraints, acceleration: list[Array]) -> Pushing:
    """Return which rows push at an acceleration."""
    speeding = Motion(*at_points(motions(places, acceleration)))
    limits = given.limits
    late = limits.side * jnp.stack(acceleration[3:]) + limits.target < 0.0
    return Pushing(
        pushing(given.contacts, speeding),
        jnp.where(late, limits.weight, 0.0),
    )


def system(problem: Problem, now: Pushing) -> Matrix:
    """Return the matrix of the minimum for the rows that push now."""
    places, loads, _, given = problem
    stiff, _ = stiffness(given.contacts, now.rows)
    added = [Load(*parts) for parts in zip(*map(to_bodies, stiff), strict=True)]
    whole = [load.plus(extra) for load, extra in zip(loads, added, strict=True)]
    diagonal = [*ARMATURE[:3], *(ARMATURE[3 + k] + now.limits[k] for k in range(6))]
    return matrix(places, composites(whole), tuple(diagonal))


def solve(problem: Problem, begin: Array, full_steps: int | None = None) -> Array:
    """Return the accelerations [9, N]. begin: where the search starts, MuJoCo's qacc_warmstart.

    A finished lane stays as it is while others continue, so no lane depends on another.
    full_steps: Newton steps that are taken whole; FULL_STEPS if not given.
    """
    as_mujoco = begin.dtype == np.float64
    if full_steps is None:
        full_steps = 0 if as_mujoco else FULL_STEPS
    mass = matrix(problem.places, composites(problem.loads), ARMATURE)
    least_gain = TOLERANCE * sum(mass[k, k] for k in range(9))
    if as_mujoco:
        begin = _cheaper(problem, mass, begin)

    def improved(search: _Search) -> _Search:
        entries = apart(search.steps, system, problem, search.rows)
        missing = list(-apart(search.steps, left_over, problem, search.at, search.rows))
        way = jnp.stack(apart(search.steps, solved, entries, missing))
        target = search.at + way
        rows = pushing_rows(problem.places, problem.given, list(target))
        same = _same(rows, search.rows)
        if as_mujoco:
            left = jnp.stack(missing)
            promised = 0.5 * (way * left).sum(0) < least_gain
            balanced = jnp.sqrt((left * left).sum(0)) < least_gain
            gained = (search.gain > 0.0) & (search.gain < least_gain)
            begun = search.steps > 0
            enough = jnp.where(begun, promised | balanced | gained, promised & balanced)
            stays, done = search.done | enough, same | enough
        else:
            stays, done = search.done, search.settled

        def shortened() -> tuple[Array, Pushing, Array]:
            share, gain = _best_share(problem, mass, search.at, target, stays | done | same)
            at = search.at + share[None] * way
            return at, pushing_rows(problem.places, problem.given, list(at)), gain

        if full_steps:
            whole = search.steps < full_steps
            found = jax.lax.cond(whole, lambda: (target, rows, search.gain), shortened)
        else:
            found = shortened()
        old = search.at, search.rows
        at, rows = jax.tree.map(lambda a, b: jnp.where(stays[None], a, b), old, found[:2])
        return _Search(at, rows, search.steps + 1, search.done | done, same, found[2])

    rows = pushing_rows(problem.places, problem.given, list(begin))
    none = jnp.zeros(begin.shape[1:], bool)
    first = _Search(begin, rows, jnp.int32(0), none, none, jnp.full_like(begin[0], jnp.inf))
    return jax.lax.while_loop(lambda s: ~s.done.all() & (s.steps < MOST_STEPS), improved, first).at


def constraint_forces(
    problem: Problem, acceleration: Array, pushing: Pushing | None = None
) -> Array:
    """Return the joint forces [9, N] of contacts and limits at an acceleration.

    pushing: the rows that push; by default those that do at this acceleration.
    """
    places, _, _, given = problem
    pushing = pushing or pushing_rows(places, given, list(acceleration))
    late = _late(given, places, acceleration)
    pairs = zip((*pushing.rows, pushing.limits), late, strict=True)
    forward, backward, upward, limits = (-weight * by for weight, by in pairs)
    normal, tangent = forward + backward + upward, FRICTION * (forward - backward)
    x, z = given.contacts.x, given.contacts.z
    pushes = [z * tangent - x * normal, tangent, normal]
    joints = at_joints(places, [Motion(*p) for p in zip(*map(to_bodies, pushes), strict=True)])
    return jnp.stack(joints).at[3:].add(given.limits.side * limits)


def left_over(problem: Problem, acceleration: Array, pushing: Pushing | None = None) -> Array:
    """Return the forces [9, N] that an acceleration leaves unbalanced; pushing: as above.

    Row by row, which keeps digits that the matrix of stiff rows would lose.
    """
    mass = matrix(problem.places, composites(problem.loads), ARMATURE)
    needed = jnp.stack(times(mass, list(acceleration)))
    return needed - jnp.stack(problem.smooth) - constraint_forces(problem, acceleration, pushing)


def _same(one: Pushing, other: Pushing) -> Array:
    """Return where no row differs, [N]."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return jnp.stack([jnp.all(a == b, 0) for a, b in pairs]).all(0)


def _late(given: Constraints, places: list[Pose], acceleration: Array) -> tuple[Array, ...]:
    """Return the lag of each row: forward, backward and upward [16, N], limits [6, N]."""
    tangent, normal = Motion(*at_points(motions(places, list(acceleration)))).at(
        given.contacts.x, given.contacts.z
    )
    normal = normal + given.contacts.normal
    slide = FRICTION * (tangent + given.contacts.tangent)
    limits = given.limits.side * acceleration[3:] + given.limits.target
    return normal + slide, normal - slide, normal, limits


def _cheaper(problem: Problem, mass: Matrix, begin: Array) -> Array:
    """Return, lane by lane, `begin` or the accelerations without constraints."""
    smooth = jnp.stack(solved(mass, problem.smooth))

    def cost(at: Array) -> Array:
        away = at - smooth
        rows = pushing_rows(problem.places, problem.given, list(at))
        late = _late(problem.given, problem.places, at)
        pairs = zip((*rows.rows, rows.limits), late, strict=True)
        pushed = sum((weight * by * by).sum(0) for weight, by in pairs)
        return (away * jnp.stack(times(mass, list(away)))).sum(0) + pushed

    return jnp.where((cost(begin) > cost(smooth))[None], smooth, begin)


class _Share(NamedTuple):
    at: Array
    low: Array
    high: Array
    done: Array
    steps: Array


def _best_share(
    problem: Problem, mass: Matrix, here: Array, there: Array, known: Array
) -> tuple[Array, Array]:
    """Return the share [N] of the way at which the cost is least, and by how much it is less.

    The share is 1 where `known`.

    The cost's slope is piecewise linear and rises: Newton's method on it is exact as soon as
    two shares lie on one piece. A share that leaves the bracket is halved.
    """
    places, _, smooth, given = problem
    way = there - here
    heavy = jnp.stack(times(mass, list(way)))
    curve = (way * heavy).sum(0)
    start = (here * heavy).sum(0) - (jnp.stack(smooth) * way).sum(0)
    late = _late(given, places, here)
    faster = tuple(b - a for a, b in zip(late, _late(given, places, there), strict=True))
    weights = (given.contacts.weight,) * 2 + (2.0 * given.contacts.weight, given.limits.weight)

    def improve(now: _Share) -> _Share:
        slope, bend = start + now.at * curve, curve
        for weight, by, change in zip(weights, late, faster, strict=True):
            value = by + now.at[None] * change
            pushed = jnp.where(value < 0.0, weight * change, 0.0)
            slope = slope + (pushed * value).sum(0)
            bend = bend + (pushed * change).sum(0)
        low = jnp.where(slope < 0.0, now.at, now.low)
        high = jnp.where(slope > 0.0, now.at, now.high)
        at = now.at - slope / bend
        middle = jnp.where(jnp.isinf(high), 2.0 * low, 0.5 * (low + high))
        at = jnp.where((at < low) | (at > high), middle, at)
        done = now.done | (jnp.abs(at - now.at) <= 1e-15 * jnp.abs(at))
        return _Share(jnp.where(now.done, now.at, at), low, high, done, now.steps + 1)

    one = jnp.ones_like(here[0])
    first = _Share(one, 0.0 * one, jnp.inf * one, known, jnp.int32(0))
    end = jax.lax.while_loop(lambda s: ~s.done.all() & (s.steps < MOST_STEPS), improve, first)
    more = end.at * (start + 0.5 * end.at * curve)
    for weight, by, change in zip(weights, late, faster, strict=True):
        then = jnp.minimum(by + end.at[None] * change, 0.0)
        was = jnp.minimum(by, 0.0)
        more = more + 0.5 * (weight * (then - was) * (then + was)).sum(0)
    return end.at, -more
