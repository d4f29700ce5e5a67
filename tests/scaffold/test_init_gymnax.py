"""A project that `twinstep init` writes around gymnax runs, and finds what differs."""

import re

import numpy as np
import pytest

from twinstep.compare import autoreset
from twinstep.env.timestep import TimeStep
from twinstep.gates import Lockstep
from twinstep.tests.support import init_projects
from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import (
    BOTH,
    CHECKOUT,
    EPISODES,
    SHORT,
    begin_slide,
    complaints,
    gymnax,
    run,
)  # fmt: skip

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

pytestmark = pytest.mark.e2e

#: A step from placed states, both ways of handing states over, and whole episodes.
QUICK = "episodes_match or placed or continues or from_the_oracles"
INTERFACES = pytest.mark.parametrize(
    ("limit", "more"),
    [(init_projects.TOGETHER, ""), (init_projects.APART, init_projects.APARTLY)],
    ids=["0.x", "1.0"],
)


@pytest.mark.skipif(not CHECKOUT, reason="ruff and its settings are in the checkout")
@INTERFACES
def test_what_is_written_for_gymnax_passes_our_own_lint(empty, limit, more):
    begin_slide(empty, limit, more)
    for beside in ("gymnax.py", "slides.py"):
        (empty / beside).unlink()
    assert not complaints(empty)


@INTERFACES
def test_a_gymnax_twin_that_is_equal_is_green(empty, limit, more):
    """Ends and the time limit too, in both of gymnax's interfaces; its fields in another order."""
    text = begin_slide(empty, limit, more)
    assert "Starts are matched" in text
    for word in ("Larger than rounding", "differs by rounding", "does not run", "Zeros of"):
        assert word not in text
    assert (
        'PARTS = (\n    "at",\n    "speed",\n)'
        in (empty / "twinstep_slide/fast/candidate.py").read_text()
    )
    code, text = run(empty, "pytest", *EPISODES, "-m", "level2 or level3", "-k", QUICK)
    assert code == 0, text
    assert "slide-gymnax (float32 on cpu): equal" in text
    assert "terminated" in text
    assert "truncated" in text
    assert "never seen" not in text


def test_a_bug_is_a_step_from_a_placed_state_and_a_report_without_a_case_shows_none(slide):
    """The comparison as shipped ends in a sentence: no case of it can be replayed."""
    fill(slide / "gymnax.py", [("jnp.abs(after.at) > 2", "jnp.abs(after.at) > 2.5"),
                               ("-jnp.abs(state.at)", "-jnp.abs(after.at)")])  # fmt: skip
    code, text = run(
        slide, "pytest", *SHORT, "-m", "level2 or level3", "-k", f"{QUICK} or auto_resets"
    )
    assert code == 1, text
    reports = text.split("Found by ")
    placed = next(part for part in reports if "placed states differ" in part)
    assert "1-minimal" in text
    for kind in ("off", "same-step", "next-step"):
        assert f"`make(..., auto_reset='{kind}')` with driver random: `reward` is -" in text
    for word in ("it differs at reset", "module ?", "E   "):
        assert word not in text
    assert "twinstep replay" in placed
    # Two bugs are two sorts of states.
    assert re.search(r"differ \(\d+ in \{reward\}, \d+ in \{reward, terminated\}", placed)


def test_an_array_that_differs_is_shown_by_its_first_element_that_does():
    """Eight digits of both sides may be equal."""
    want = np.array([[[0.5, 0.1, 0.3]]], np.float32)
    got = want.copy()
    got[0, 0, 1] = np.nextafter(np.float32(0.1), np.float32(1))
    goes_on = np.zeros((1, 1), bool)
    heads = {"obs": want, "terminated": goes_on, "truncated": goes_on}
    found = autoreset.mismatch(
        autoreset.ExpectedSteps(np.zeros((1, 1)), heads, ~goes_on),
        TimeStep(got, *[None] * 6),
        {"obs": Lockstep()},
    )
    assert found.said == "`obs[1]` is 0.10000001, expected 0.1, at step 1 of lane 0"


def test_a_difference_of_the_time_limits_is_said_and_found_by_one_step(empty):
    gymnax(empty, edits=[("episode: object = 12", "episode: object = 13")])
    code, text = run(empty, "twinstep.cli", *BOTH)
    assert code == 0
    assert "The time limits differ: 12 steps in the reference, 13 in the candidate." in text
    first = next(line for line in text.splitlines() if not line.startswith("wrote "))
    assert first.startswith(
        "Larger than rounding: `truncated` is False, oracle True, one step from "
    )
    assert "time=11, action [" in first
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1, text
    assert "slide-gymnax fails level 3" in text


def test_starts_that_the_candidate_cannot_be_put_into_are_said(empty):
    gymnax(empty, edits=[("array([state.at, state.speed", "array([state.at + 1, state.speed")])
    code, text = run(empty, "twinstep.cli", *BOTH)
    assert code == 0
    assert "NOT matched (no fields of gymnax's state give the reference's observation" in text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("state.time + 1)", "state.time + 1.0)",
         "the candidate's step changes the types of its state: `inner.time` from int32 to float32"),
        ("after = State(speed, ", "after = nowhere(speed, ",
         "the candidate cannot step: NameError: name 'nowhere' is not defined"),
    ],
)  # fmt: skip
def test_what_does_not_run_is_a_line_of_init(empty, old, new, says):
    gymnax(empty, edits=[(old, new)])
    code, text = run(empty, "twinstep.cli", *BOTH)
    assert code == 0
    assert f"\nWhat is written does not run yet: {says}\n" in text
    assert "Traceback" not in text


# ---- gymnax itself ----------------------------------------------------------------------


@pytest.fixture
def gymnax_itself():
    pytest.importorskip("gymnax", reason="gymnax is not installed", exc_type=ImportError)


def _begun(folder, id, name):
    """Begin a pair's project; return what init prints."""
    command = ("init", "--oracle", f"gymnasium:{id}", "--candidate", f"gymnax:{id}", "--name", name)
    code, text = run(folder, "twinstep.cli", *command)
    assert code == 0, text
    return text


def test_two_bugs_of_gymnaxs_car_are_one_step_each(gymnax_itself, empty):
    """It stops at the goal, where Gymnasium's stops at the left wall; float32 rounds beside it."""
    id = "MountainCarContinuous-v0"
    printed = _begun(empty, id, "car")
    found = [line for line in printed.splitlines() if line.startswith("Larger than rounding: ")]
    assert any("`reward` is 99.9" in line for line in found)
    assert any("oracle 0, " in line and "position=-1.1" in line for line in found)
    code, text = run(empty, "pytest", *EPISODES, "-m", "level2 or level3", "-k", QUICK)
    assert code == 1
    # Random play of 24 episodes reaches neither.
    assert "car-gymnax fails level 2: `" in text
    assert " ulp" not in text
    candidate = empty / "twinstep_car/fast/candidate.py"
    fill(candidate, [("    obs, inner, reward, terminated, _ = ENV.step_env(now, state.inner, "
                      "action[0], PARAMS)\n", CAR)])  # fmt: skip
    code, text = run(empty, "pytest", *EPISODES, "-m", "level2 or level3", "-k", QUICK)
    assert code == 0, text
    assert "car-gymnax (float32 on cpu): equal" in text


#: Gymnasium's rule, in place of gymnax's.
CAR = """\
    before = state.inner
    force = jnp.clip(action[0][0], -1.0, 1.0)
    speed = before.velocity + force * 0.0015 - 0.0025 * jnp.cos(3 * before.position)
    speed = jnp.clip(speed, -0.07, 0.07)
    at = jnp.clip(before.position + speed, -1.2, 0.6)
    speed = jnp.where((at == jnp.asarray(-1.2, at.dtype)) & (speed < 0), 0, speed)
    inner = before.replace(position=at, velocity=speed, time=before.time + 1)
    terminated = (at >= 0.45) & (speed >= 0)
    reward = 100.0 * terminated - 0.1 * action[0][0] ** 2
    obs = ENV.get_obs(inner)
"""


@pytest.mark.parametrize("id", ["Acrobot-v1", "CartPole-v1", "Pendulum-v1"])
def test_gymnax_is_equal_but_for_rounding(id, gymnax_itself, empty):
    printed = _begun(empty, id, "twin")
    assert "Starts are matched" in printed
    assert "differs by rounding (float32: " in printed
    assert "Larger than rounding" not in printed
    candidate = empty / "twinstep_twin/fast/candidate.py"
    fill(candidate, [('DTYPE = "float32"', 'DTYPE = "float64"')])
    code, text = run(empty, "pytest", *EPISODES, "-m", "level2 or level3", "-k", QUICK)
    assert code == 0, text
    assert "twin-gymnax (float64 on cpu): equal" in text
