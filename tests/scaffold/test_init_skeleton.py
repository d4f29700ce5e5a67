"""A project that `twinstep init` writes with a skeleton: what it says, and filled in."""

import pytest

from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import CHECKOUT, EPISODES, ROOT, begin, run

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

pytestmark = pytest.mark.e2e


def test_a_skeleton_says_which_file_to_write(empty):
    begin(empty, "gymnasium:MountainCar-v0")
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1
    assert "write `step` in twinstep_mine/fast/candidate.py" in text
    assert "Traceback" not in text


#: The example's rules behind a skeleton's reset and step, as a stranger would write them.
QUICK = "episodes_match or placed"
POLE = (
    ("DTYPE = \"float32\"", "DTYPE = \"float64\""),
    ('    raise NotImplementedError("write `step` in twinstep_pole/fast/candidate.py")',
     "    x, x_dot, theta, theta_dot = state.values\n"
     "    after = rules.move(x, x_dot, theta, theta_dot)\n"
     "    speeds = rules.push(x_dot, theta, theta_dot, action[0])\n"
     "    values = jnp.stack([after[0], speeds[0], after[1], speeds[1]])\n"
     "    ended, reward, _ = rules.judge(after[0], after[1], jnp.int32(-1))\n"
     "    late = state.time + 1 >= 500\n"
     "    return State(values, state.time + 1, _observed(values), reward, ended, late)"),
    ("import jax.numpy as jnp\n",
     "import jax.numpy as jnp\n\nfrom twinstep_cartpole.fast import rules\n"),
)  # fmt: skip


@pytest.mark.skipif(not CHECKOUT, reason="the example is in the checkout only")
def test_a_skeleton_that_is_filled_in_is_equal_to_gymnasium_and_a_slip_is_found(empty):
    """The real CartPole and a candidate in float64, then a candidate with a wrong sign."""
    begin(empty, "gymnasium:CartPole-v1", "pole")
    candidate = empty / "twinstep_pole/fast/candidate.py"
    fill(candidate, POLE)
    path = {"PYTHONPATH": str(ROOT / "examples" / "cartpole")}
    code, text = run(empty, "pytest", *EPISODES, "-m", "level2 or level3", "-k", QUICK, **path)
    assert code == 0, text
    fill(candidate, [("[after[0], speeds[0], after[1]", "[after[0], -speeds[0], after[1]")])
    code, text = run(empty, "pytest", *EPISODES, **path)
    assert code == 1, text
    assert "shrunk from 1 to 1 steps, 1-minimal" in text


def test_a_candidate_cannot_call_the_reference(empty):
    """A twin that calls Gymnasium's own class would agree with it and prove nothing."""
    begin(empty, "gymnasium:MountainCar-v0")
    with (empty / "twinstep_mine/fast/candidate.py").open("a") as file:
        file.write("import gymnasium\nENV = gymnasium.make('MountainCar-v0')\n")
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1
    assert "gymnasium.envs.classic_control.mountain_car belongs to the oracle" in text


def test_another_reference_than_the_one_pinned_is_refused(empty, monkeypatch):
    begin(empty, "gymnasium:MountainCar-v0")
    path = empty / "twinstep_mine/oracle/probe.py"
    whole = path.read_text()
    for old, new, says in (
        ('"gymnasium": "', '"gymnosium": "', "gymnosium is not installed"),
        ('SHA256 = "', 'SHA256 = "0', "mountain_car.py is not as it was"),
        ('"gymnasium": "', '"gymnasium": "0', "the proof is against 01."),
    ):
        path.write_text(whole)
        fill(path, [(old, new)])
        scope = {}
        exec(path.read_text(), scope)
        assert says in scope["probe"]({}).problem
    code, text = run(empty, "pytest", *EPISODES, "-rs")
    assert code == 0
    assert says in text
    assert " passed" not in text
