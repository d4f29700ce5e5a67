"""Level 1: invariances of HalfCheetah's physics, and its conserved quantities.

As in `test_physics`, modules and steps are compared with each other, not with the oracle.
"""

import numpy as np
import pytest

from twinstep.properties.halfcheetah.test_physics import (
    GRAVITY,
    JOINTS,
    MASS,
    ROUNDINGS,
    STATES,
    ask,
    bias_of,
    drawn,
    eps,
    largest,
    mass_of,
    pushes,
    require_balance,
    require_small,
    rounded,
    times,
)
from twinstep.testing import LANES as RECORDED

pytestmark = [
    pytest.mark.level1,
    pytest.mark.environment("halfcheetah"),
    pytest.mark.needs("candidate.call"),
]

#: Lanes of a step: as in level 3, so that nothing further is compiled.
LANES = RECORDED
#: The joints that move the whole body: only the floor and gravity act on them.
ROOT = slice(0, 3)
TIMESTEP = 0.01
SUBSTEPS = 5
CONTROL_COST = 0.1


@pytest.fixture
def twinstep_states(twinstep_lab):
    """Return the result of `drawn`."""
    return drawn(twinstep_lab)


@pytest.fixture
def twinstep_flying(twinstep_lab, twinstep_states):
    """Return the same states 1 to 3 m higher than a start's pose, where nothing touches."""
    heights = twinstep_lab.reference.rng("flying").uniform(1, 3, STATES)
    high = np.array(twinstep_states["qpos"])
    high[:, 1] = rounded(twinstep_lab, heights)
    made = twinstep_states | {"qpos": high}
    assert not ask(twinstep_lab, "contacts", made)["depth"].any()
    return made


def played(lab, states, actions):
    """Play one step of LANES states; return its frames in float64."""
    begin = {name: states[name] for name in ("qpos", "qvel", "qacc_warmstart")}
    begin["elapsed"] = np.zeros(LANES, np.int32)
    frames = lab.runner.play_from(begin, actions[None, :, None])
    return {path: values[0].astype(float) for path, values in frames.items()}


def some(states):
    """Return LANES of the states, of all kinds."""
    spread = np.arange(LANES) * STATES // LANES
    return {name: values[spread] for name, values in states.items()}


def damping(lab):
    """Return the joints' damping [9], derived from the passive force of a unit velocity."""
    still = {"qpos": np.zeros((JOINTS, JOINTS)), "action": np.zeros((JOINTS, 6), np.float32)}
    force = ask(lab, "forces", still, qvel=np.eye(JOINTS))["qfrc_passive"]
    np.testing.assert_array_equal(force, np.diag(np.diag(force)))
    return -np.diag(force)


# ---- places -----------------------------------------------------------------------------


def test_a_shift_along_the_floor_changes_nothing_but_x(twinstep_lab, twinstep_states):
    """A step from another place on the floor shows, moves and earns the same."""
    here = some(twinstep_states)
    near, far = np.array(here["qpos"]), np.array(here["qpos"])
    near[:, 0] = 0
    far[:, 0] = rounded(twinstep_lab, twinstep_lab.reference.rng("shift").uniform(-30, 30, LANES))
    one = played(twinstep_lab, here | {"qpos": near}, here["action"])
    other = played(twinstep_lab, here | {"qpos": far}, here["action"])
    for path in ("obs", "state.qvel", "state.qacc_warmstart"):
        np.testing.assert_array_equal(one[path], other[path], path)
    one_end, other_end = one["state.qpos"], other["state.qpos"]
    np.testing.assert_array_equal(one_end[:, 1:], other_end[:, 1:])
    # Each substep rounds x once: measured 1.0 roundings in all.
    slack = (
        SUBSTEPS / 2 * eps(twinstep_lab) * np.maximum(np.abs(far[:, 0]), np.abs(other_end[:, 0]))
    )
    assert (np.abs(other_end[:, 0] - far[:, 0] - one_end[:, 0]) <= slack).all()
    # A reward may be the difference of two places, and is rounded accordingly.
    earned = np.abs(one["reward"] - other["reward"])[:, 0]
    size = np.abs(one["reward"][:, 0])
    assert (earned <= slack / (SUBSTEPS * TIMESTEP) + ROUNDINGS * eps(twinstep_lab) * size).all()


def test_a_turn_of_the_whole_body_turns_the_mass_matrix(twinstep_lab, twinstep_states):
    """The joints' inertia is the same any way up, and their pull on the torso turns with it."""
    turned = np.array(twinstep_states["qpos"])
    turned[:, 2] += twinstep_lab.reference.rng("turn").uniform(-3, 3, STATES)
    turned = rounded(twinstep_lab, turned)
    angle = turned[:, 2] - twinstep_states["qpos"][:, 2]
    before, after = (
        mass_of(twinstep_lab, twinstep_states),
        mass_of(twinstep_lab, twinstep_states | {"qpos": turned}),
    )
    require_small(after[:, 2:, 2:] - before[:, 2:, 2:], before, ROUNDINGS * eps(twinstep_lab))
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.stack([np.stack([cos, sin], 1), np.stack([-sin, cos], 1)], 1)
    want = rotation @ before[:, :2, 2:]
    # An angle after several turns has fewer digits: its size counts too.
    terms = largest(before) * np.maximum(1, largest(turned[:, 2]))
    require_small(after[:, :2, 2:] - want, terms, ROUNDINGS * eps(twinstep_lab))


# ---- momentum ---------------------------------------------------------------------------


def test_in_the_air_gravity_alone_accelerates_the_whole(twinstep_lab, twinstep_flying):
    """No joint's motor, spring or limit moves the body's centre or turns the whole body."""
    found, mass, bias = (
        ask(twinstep_lab, "newton", twinstep_flying),
        mass_of(twinstep_lab, twinstep_flying),
        bias_of(twinstep_lab, twinstep_flying),
    )
    require_no_push(twinstep_lab, mass, bias, found["qacc"])


def test_in_the_air_a_substep_changes_momentum_by_gravity_alone(twinstep_lab, twinstep_flying):
    """The damping at a substep's end is within the body: M (v' - v) = -h bias at the root."""
    mass, bias = mass_of(twinstep_lab, twinstep_flying), bias_of(twinstep_lab, twinstep_flying)
    after = ask(twinstep_lab, "substep", twinstep_flying)
    gained = (after["next_qvel"] - twinstep_flying["qvel"]) / TIMESTEP
    sizes = (np.abs(after["next_qvel"]) + np.abs(twinstep_flying["qvel"])) / TIMESTEP
    require_no_push(twinstep_lab, mass, bias, gained, sizes + np.abs(after["next_warmstart"]))


def require_no_push(lab, mass, bias, acceleration, sizes=0.0):
    """Fail unless these accelerations need no force at the root. sizes: of terms before them."""
    needed = times(mass, acceleration) + bias
    terms = times(np.abs(mass), np.abs(acceleration) + sizes) + np.abs(bias)
    require_small(needed[:, ROOT], terms, ROUNDINGS * eps(lab))


def test_in_the_air_a_step_changes_momentum_by_gravity_alone(twinstep_lab):
    """From slow motion, whose turning within a substep counts little, over all five substeps."""
    rng = twinstep_lab.reference.rng("falling")
    qpos, qvel = 0.002 * rng.normal(size=(LANES, JOINTS)), 0.1 * rng.normal(size=(LANES, JOINTS))
    qpos[:, 1] += 2
    qpos[:, 2] = rng.uniform(-np.pi, np.pi, LANES)
    begin = {
        "qpos": rounded(twinstep_lab, qpos),
        "qvel": rounded(twinstep_lab, qvel),
        "qacc_warmstart": 0 * qvel,
    }
    end = played(twinstep_lab, begin, np.zeros((LANES, 6), np.float32))
    before, after = (
        times(mass_of(twinstep_lab, {"qpos": place})[:, :2], speed)
        for place, speed in (
            (begin["qpos"], begin["qvel"]),
            (end["state.qpos"], end["state.qvel"]),
        )
    )
    fallen = [0.0, -MASS * GRAVITY * SUBSTEPS * TIMESTEP]
    # Euler moves on by the new velocities: measured 9e-4 of that, whatever the precision.
    np.testing.assert_allclose(after - before, np.tile(fallen, (LANES, 1)), rtol=0, atol=3e-3)


# ---- forces and time --------------------------------------------------------------------


def test_springs_dampers_and_motors_do_not_act_on_the_torso(twinstep_lab, twinstep_states):
    """Their forces at the root's joints are 0, exactly."""
    for name, force in ask(twinstep_lab, "forces", twinstep_states).items():
        assert not force[:, ROOT].any(), name


def test_a_substep_damps_at_its_end(twinstep_lab, twinstep_states):
    """M (v' - v) / h is all forces, the dampers' of the new velocity; q' = q + h v'.

    The next search begins with the accelerations without that, which balance.
    """
    mass, bias, given = (
        mass_of(twinstep_lab, twinstep_states),
        bias_of(twinstep_lab, twinstep_states),
        ask(twinstep_lab, "forces", twinstep_states),
    )
    after = ask(twinstep_lab, "substep", twinstep_states)
    begin, end, qacc = twinstep_states["qvel"], after["next_qvel"], after["next_warmstart"]
    require_balance(twinstep_lab, twinstep_states, qacc)
    pushed, terms, _ = pushes(twinstep_lab, twinstep_states, qacc)
    later = given["qfrc_passive"] - damping(twinstep_lab) * (end - begin)
    forces = (later, given["qfrc_actuator"], pushed, -bias)
    speeds = (np.abs(begin) + np.abs(end)) / TIMESTEP + np.abs(qacc)
    terms = terms + sum(map(np.abs, forces)) + times(np.abs(mass), speeds)
    changed = times(mass, end - begin) / TIMESTEP
    require_small(changed - sum(forces), terms, ROUNDINGS * eps(twinstep_lab))
    moved = after["next_qpos"] - twinstep_states["qpos"] - TIMESTEP * end
    places = np.abs(twinstep_states["qpos"]) + np.abs(after["next_qpos"])
    assert (np.abs(moved) <= eps(twinstep_lab) * (places + TIMESTEP * np.abs(end))).all()


def test_euler_damps_any_acceleration_at_the_end(twinstep_lab, twinstep_states):
    """(M + h B) (v' - v) = h M a, with the damping B that the passive forces have."""
    accelerations = twinstep_lab.reference.rng("euler").uniform(
        -500, 500, twinstep_states["qvel"].shape
    )
    acceleration = rounded(twinstep_lab, accelerations)
    after, mass = (
        ask(twinstep_lab, "euler", twinstep_states, acceleration=acceleration),
        mass_of(twinstep_lab, twinstep_states),
    )
    gained = (after["next_qvel"] - twinstep_states["qvel"]) / TIMESTEP
    damped = TIMESTEP * damping(twinstep_lab) * gained
    speeds = (np.abs(after["next_qvel"]) + np.abs(twinstep_states["qvel"])) / TIMESTEP
    terms = times(np.abs(mass), speeds + np.abs(acceleration))
    require_small(times(mass, gained - acceleration) + damped, terms, ROUNDINGS * eps(twinstep_lab))


def test_controls_are_clamped_for_the_physics_but_not_for_their_price(
    twinstep_lab, twinstep_states
):
    """Beyond [-1, 1] a control moves no more than at the end, and costs its whole square."""
    here = some(twinstep_states)
    strong = (1.5 * here["action"]).astype(np.float32)
    most = np.clip(strong, -1, 1)
    assert (strong != most).any(1).mean() > 0.9  # six small controls stay within
    one, other = (
        ask(twinstep_lab, "forces", here, action=strong),
        ask(twinstep_lab, "forces", here, action=most),
    )
    np.testing.assert_array_equal(one["qfrc_actuator"], other["qfrc_actuator"])
    first, second = played(twinstep_lab, here, strong), played(twinstep_lab, here, most)
    for path in first.keys() - {"reward"}:
        np.testing.assert_array_equal(first[path], second[path], path)
    prices = [CONTROL_COST * (a.astype(float) ** 2).sum(1) for a in (strong, most)]
    saved = (second["reward"] - first["reward"])[:, 0]
    # The cost is float32 in every candidate, as in Gymnasium; a reward has its own rounding.
    size = np.abs(first["reward"][:, 0]) + np.abs(second["reward"][:, 0])
    slack = ROUNDINGS * (np.finfo(np.float32).eps * prices[0] + eps(twinstep_lab) * size)
    assert (np.abs(saved - (prices[0] - prices[1])) <= slack).all()
