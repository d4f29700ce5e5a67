"""Level 1: laws that the modules of HalfCheetah obey together, independent of the reference.

Modules are compared with each other, never with the oracle: it only places the states. The two
sides of a law are computed here in float64 from the candidate's outputs.

Tolerances are relative to the largest term of a law in a state, in units of the candidate's own
precision. Measured maxima are those of all four candidates.
"""

import numpy as np
import pytest

pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("halfcheetah"),
    pytest.mark.needs("candidate.call"),
]

STATES = 256
JOINTS = 9
GRAVITY = 9.81
MASS = 14.0
#: The rate at which a constraint removes its speed: 2 / (dmax timeconst) of solimp and solref, 1/s.
CONSTRAINT_DAMPING = 2 / (0.8 * 0.02)
FRICTION = 0.4
#: Roundings of the largest term, measured 1.6 at most.
ROUNDINGS = 10
#: The same of a slope, whose error is eps^(4/5) of the largest term: measured 8.9 at most of
#: places, whose chain turns faster than any joint, and 2.0 of forces.
SLOPES = 20
#: Each capsule has two ends; torso and head are one body.
BODY_OF_POINT = np.repeat([0, 0, 1, 2, 3, 4, 5, 6], 2)


@pytest.fixture
def twinstep_states(twinstep_lab):
    """Return the result of `drawn`."""
    return drawn(twinstep_lab)


def drawn(lab):
    """Return played and placed states and actions [256, ...], in the candidate's precision."""
    inputs = lab.reference.module_inputs(lab.contract.module("newton"), STATES, "physics")
    return {name: rounded(lab, values) for name, values in inputs.items()}


def rounded(lab, values):
    """Return float64 numbers that the candidate represents exactly; an action is float32 anyway."""
    return values if values.dtype == np.float32 else values.astype(lab.runner.dtype).astype(float)


def ask(lab, module, state, **instead):
    """Return a module's outputs in float64 for a state that may hold more than its inputs."""
    given = {**state, **instead}
    inputs = {field.name: given[field.name] for field in lab.contract.module(module).inputs}
    found = lab.runner.call(module, inputs)
    return {name: np.asarray(values, float) for name, values in found.items()}


def mass_of(lab, state):
    """Return the mass matrices [N, 9, 9]."""
    return ask(lab, "mass_matrix", state)["mass_matrix"]


def bias_of(lab, state, **instead):
    """Return gravity, centripetal and Coriolis forces [N, 9]."""
    return ask(lab, "bias", state, **instead)["qfrc_bias"]


def rows_of(lab, state):
    """Return weights [N, 54], targets [N, 54] and Jacobians [N, 54, 9] of all rows.

    A contact's row `upward` stands for two of MuJoCo's.
    """
    found = ask(lab, "rows", state)
    count = len(found["limit_side"])
    limits = found["limit_side"][:, :, None] * np.eye(JOINTS)[3:]
    weights = found["contact_weight"][:, :, None] * [1, 1, 2]
    targets, jacobian = found["contact_target"], found["contact_jacobian"]
    return (
        np.concatenate([weights.reshape(count, -1), found["limit_weight"]], 1),
        np.concatenate([targets.reshape(count, -1), found["limit_target"]], 1),
        np.concatenate([jacobian.reshape(count, -1, JOINTS), limits], 1),
    )


def pushes(lab, state, qacc):
    """Return the rows' forces on the joints at accelerations [N, 9] and how many rows push [N].

    In between: the size of the forces' terms [N, 9]. A stiff row multiplies the difference of its
    target and its acceleration, so its force is rounded by much more than its own size.
    """
    weight, target, jacobian = rows_of(lab, state)
    force = weight * np.maximum(0, target - times(jacobian, qacc))
    reach = times(np.abs(jacobian), np.abs(qacc)) + np.abs(target)
    turned = jacobian.swapaxes(1, 2)
    terms = times(np.abs(turned), weight * reach * (force > 0))
    return times(turned, force), terms, (force > 0).sum(1)


def require_balance(lab, state, qacc):
    """Fail unless accelerations are those of all forces, the gradient of MuJoCo's cost 0."""
    mass, bias, given = mass_of(lab, state), bias_of(lab, state), ask(lab, "forces", state)
    pushed, terms, _ = pushes(lab, state, qacc)
    forces = (given["qfrc_passive"], given["qfrc_actuator"], pushed, -bias)
    terms = terms + times(np.abs(mass), np.abs(qacc)) + sum(map(np.abs, forces))
    require_small(times(mass, qacc) - sum(forces), terms, ROUNDINGS * eps(lab))


def times(matrix, vector):
    """Return matrix times vector, state by state."""
    return np.einsum("n...j,nj->n...", matrix, vector)


def largest(values):
    """Return each state's largest size [N]."""
    return np.abs(values).reshape(len(values), -1).max(1)


def require_small(difference, terms, tolerance):
    """Fail unless each state's difference is this small relative to the largest of its terms."""
    error, size = largest(difference), largest(terms)
    at = int((error / np.maximum(size, np.finfo(float).tiny)).argmax())
    assert (error <= tolerance * size).all(), f"state {at}: {error[at]:.3g} beside {size[at]:.3g}"


def eps(lab):
    """Return the distance from 1 to the candidate's next number."""
    return float(np.finfo(lab.runner.dtype).eps)


def direction(qvel):
    """Return the velocities' directions, the fastest joint's rate 1, and that rate."""
    speed = largest(qvel)[:, None]
    return qvel / np.where(speed > 0, speed, 1), speed


def slope(lab, module, qpos, way):
    """Return the slope of a module's outputs along the pose direction `way`: five points."""
    step = eps(lab) ** 0.2
    shifts = np.array([1, -1, 2, -2])[:, None, None] * step * way
    found = ask(lab, module, {"qpos": (qpos + shifts).reshape(-1, JOINTS)})
    apart = {name: v.reshape(4, len(qpos), *v.shape[1:]) for name, v in found.items()}
    return {n: (8 * (v[0] - v[1]) - (v[2] - v[3])) / (12 * step) for n, v in apart.items()}


# ---- masses and their motion ------------------------------------------------------------


def test_the_mass_matrix_is_symmetric_and_positive_definite(twinstep_lab, twinstep_states):
    """Symmetric to the last bit; no motion is without energy; the whole has one mass."""
    mass = mass_of(twinstep_lab, twinstep_states)
    np.testing.assert_array_equal(mass, mass.swapaxes(1, 2))
    np.linalg.cholesky(mass)
    require_small(mass[:, :2, :2] - MASS * np.eye(2), mass, ROUNDINGS * eps(twinstep_lab))


def test_gravity_pulls_each_joint_by_the_mass_that_it_lifts(twinstep_lab, twinstep_states):
    """At rest the bias is the potential energy's gradient: g times the row of rootz."""
    weight = bias_of(twinstep_lab, twinstep_states, qvel=0 * twinstep_states["qvel"])
    lifted = GRAVITY * mass_of(twinstep_lab, twinstep_states)[:, 1]
    require_small(weight - lifted, lifted, ROUNDINGS * eps(twinstep_lab))


def test_centripetal_and_coriolis_forces_follow_from_the_mass_matrix(twinstep_lab, twinstep_states):
    """Lagrange's: bias(q, v) - bias(q, 0) is dM/dt v less half the gradient of v.Mv."""
    qpos, qvel = twinstep_states["qpos"], twinstep_states["qvel"]
    turning = bias_of(twinstep_lab, twinstep_states) - bias_of(
        twinstep_lab, twinstep_states, qvel=0 * qvel
    )
    way, speed = direction(qvel)
    changing = slope(twinstep_lab, "mass_matrix", qpos, way)["mass_matrix"] * speed[:, :, None]
    units = np.broadcast_to(np.eye(JOINTS)[:, None], (JOINTS, *qpos.shape)).reshape(-1, JOINTS)
    gradients = slope(twinstep_lab, "mass_matrix", np.tile(qpos, (JOINTS, 1)), units)["mass_matrix"]
    gradients = gradients.reshape(JOINTS, -1, JOINTS, JOINTS)
    pulled = np.einsum("ni,knij,nj->nk", qvel, gradients, qvel) / 2
    terms = np.abs(mass_of(twinstep_lab, twinstep_states)) * speed[:, :, None] ** 2
    weight = bias_of(twinstep_lab, twinstep_states, qvel=0 * qvel)
    size = np.maximum(largest(terms), largest(weight))
    require_small(
        turning - (times(changing, qvel) - pulled), size, SLOPES * eps(twinstep_lab) ** 0.8
    )


def test_energy_changes_by_what_dampers_motors_and_constraints_do(twinstep_lab, twinstep_states):
    """Kinetic energy, height and springs together: inertia's own forces do no net work."""
    qvel, mass = twinstep_states["qvel"], mass_of(twinstep_lab, twinstep_states)
    way, speed = direction(qvel)
    changing = (
        slope(twinstep_lab, "mass_matrix", twinstep_states["qpos"], way)["mass_matrix"]
        * speed[:, :, None]
    )
    given, springs = (
        ask(twinstep_lab, "forces", twinstep_states),
        ask(twinstep_lab, "forces", twinstep_states, qvel=0 * qvel),
    )
    found = ask(twinstep_lab, "newton", twinstep_states)
    stored = -springs["qfrc_passive"]
    done = given["qfrc_passive"] + stored + given["qfrc_actuator"] + found["qfrc_constraint"]
    parts = (times(mass, found["qacc"]), times(changing, qvel) / 2, GRAVITY * mass[:, 1], stored)
    terms = times(np.abs(mass), np.abs(found["qacc"])) + np.abs(done) + np.abs(stored)
    terms += largest(mass)[:, None] * speed**2
    gained, worked = (np.einsum("ni,ni->n", qvel, force) for force in (sum(parts), done))
    size = np.einsum("ni,ni->n", np.abs(qvel), terms)
    require_small(gained - worked, size, SLOPES * eps(twinstep_lab) ** 0.8)


def test_dampers_take_energy_and_springs_pull_back(twinstep_lab, twinstep_states):
    """The dampers' power is never above 0, and no spring pushes away from its rest."""
    moving, still = (
        ask(twinstep_lab, "forces", twinstep_states, qvel=n * twinstep_states["qvel"])
        for n in (1, 0)
    )
    springs = still["qfrc_passive"]
    damped = moving["qfrc_passive"] - springs
    assert (springs * twinstep_states["qpos"] <= 0).all()
    slack = ROUNDINGS * eps(twinstep_lab) * np.abs(springs * twinstep_states["qvel"])
    assert (damped * twinstep_states["qvel"] <= slack).all()


# ---- contacts and limits ----------------------------------------------------------------


def test_what_does_not_touch_has_no_rows(twinstep_lab, twinstep_states):
    """Rows exist exactly where a point is below the floor, and have 0 everywhere else."""
    touching = ask(twinstep_lab, "contacts", twinstep_states)["depth"] > 0
    found = ask(twinstep_lab, "rows", twinstep_states)
    np.testing.assert_array_equal(found["contact_weight"] > 0, touching)
    assert (found["contact_weight"] >= 0).all()
    assert not found["contact_target"][~touching].any()
    assert not found["contact_jacobian"][~touching].any()
    within = found["limit_weight"] == 0
    np.testing.assert_array_equal(np.abs(found["limit_side"]), ~within)
    assert not found["limit_target"][within].any()
    assert touching.any(0).all(), "a point touches in no state"


def test_contact_rows_are_the_motion_of_the_point_that_touches(twinstep_lab, twinstep_states):
    """A row's Jacobian is the contact point's velocity, from slopes of the ends' places."""
    # Far from the origin an end's place has few digits left.
    qpos = twinstep_states["qpos"] * (np.arange(JOINTS) > 0)
    contacts = ask(twinstep_lab, "contacts", twinstep_states, qpos=qpos)
    place = ask(twinstep_lab, "kinematics", twinstep_states, qpos=qpos)
    way, _ = direction(twinstep_states["qvel"])
    moved = slope(twinstep_lab, "kinematics", qpos, way)
    turn = place["body_cos"] * moved["body_sin"] - place["body_sin"] * moved["body_cos"]
    below = contacts["contact_at"][:, :, 1] - place["end_at"][:, :, 1]
    up = moved["end_at"][:, :, 1]
    along = FRICTION * (moved["end_at"][:, :, 0] + turn[:, BODY_OF_POINT] * below)
    want = np.stack([up + along, up - along, up], 2)
    got = times(ask(twinstep_lab, "rows", twinstep_states, qpos=qpos)["contact_jacobian"], way)
    touching = (contacts["depth"] > 0)[:, :, None]
    # The ends' places and rates are of the size of the body, 1 m, and of the rate, 1.
    require_small((got - want) * touching, np.ones(STATES), SLOPES * eps(twinstep_lab) ** 0.8)


def test_rows_are_slowed_by_their_own_speed(twinstep_lab, twinstep_states):
    """A row's target falls with its speed, J v, and depends on velocities in no other way."""
    weight, target, jacobian = rows_of(twinstep_lab, twinstep_states)
    still_weight, still, still_jacobian = rows_of(
        twinstep_lab, twinstep_states | {"qvel": 0 * twinstep_states["qvel"]}
    )
    np.testing.assert_array_equal(weight, still_weight)
    np.testing.assert_array_equal(jacobian, still_jacobian)
    slowed = CONSTRAINT_DAMPING * times(jacobian, twinstep_states["qvel"])
    terms = CONSTRAINT_DAMPING * times(np.abs(jacobian), np.abs(twinstep_states["qvel"])) + np.abs(
        target
    )
    require_small(target - still + slowed, terms, ROUNDINGS * eps(twinstep_lab))


def test_accelerations_are_the_optimum_of_the_contact_problem(twinstep_lab, twinstep_states):
    """Bodies' inertia balances all forces, each row pushing by its weight times its lag.

    A float64 candidate stops early as MuJoCo does, in play one substep in 100,000. None of 4096
    placed states is one, so only rounding remains here.
    """
    found = ask(twinstep_lab, "newton", twinstep_states)
    pushed, terms, pushing = pushes(twinstep_lab, twinstep_states, found["qacc"])
    require_small(found["qfrc_constraint"] - pushed, terms, ROUNDINGS * eps(twinstep_lab))
    require_balance(twinstep_lab, twinstep_states, found["qacc"])
    assert {0, 1, 2, 3} <= set(pushing), "no state with so many pushing rows"
