"""`twinstep init` with MODULE:CALLABLE: classes of one's own, and what is wrong with one."""

import pytest

from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import CHECKOUT, EPISODES, complaints, run, written

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

#: A reference of twenty lines: its state lies in attributes, and it truncates by itself.
LANDER = """
import gymnasium
import numpy as np


class Lander(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height, self.speed, self.fuel, self.t = self.np_random.uniform(5, 10), 0.0, 20, 0
        return self.look(), {}

    def step(self, action):
        burn = min(int(action), self.fuel)
        self.fuel, self.t = self.fuel - burn, self.t + 1
        self.speed += 0.5 * burn - 0.4
        self.height += self.speed
        landed = self.height <= 0
        return self.look(), 10 + self.speed if landed else -0.1, landed, self.t >= 30, {}

    def look(self):
        return np.array([self.height, self.speed, self.fuel], np.float32)
"""
#: The same with other names, in another order, without Gymnasium's base class, drawing differently.
QUICK = """
import gymnasium
import numpy as np


class Quick:
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, seed=None):
        self._now = [0, 20]
        self._v, self._h = 0.0, 5 + 5 * np.random.default_rng(seed + 1).random()
        return self._observe(), {}

    def step(self, action):
        burn = min(int(action), self._now[1])
        self._now = [self._now[0] + 1, self._now[1] - burn]
        self._v = self._v + (0.5 * burn - 0.4)
        self._h = self._h + self._v
        over = bool(self._h <= 0)
        return self._observe(), 10 + self._v if over else -0.1, over, self._now[0] >= 30, {}

    def _observe(self):
        return np.array([self._h, self._v, self._now[1]], np.float32)
"""
BOTH = ("twinstep.cli", "init", "--oracle", "lander:Lander", "--candidate", "quick:Quick")
QUICK_TESTS = ("-m", "level2 or level3", "-k", "episodes_match or placed or continues")


@pytest.fixture
def own(empty):
    """A folder with both modules."""
    (empty / "lander.py").write_text(LANDER)
    (empty / "quick.py").write_text(QUICK)
    return empty


NARROW = """
import numpy as np
from lander import Lander


class Narrow(Lander):
    def reset(self, *, seed=None, options=None):
        np.random.RandomState(seed)  # which takes 32 bits
        return super().reset(seed=seed)

    def step(self, action):
        seen, reward, _, _, told = super().step(action)
        return seen, reward, False, False, told
"""


def test_narrow_seeds_and_episodes_without_an_end_are_written(own):
    """Such a project was written, said to run, and stopped at its first seed of 64 bits."""
    (own / "narrow.py").write_text(NARROW)
    (own / "other.py").write_text(QUICK.replace("over = bool(self._h <= 0)", "over = False")
                                  .replace("self._now[0] >= 30", "False"))  # fmt: skip
    sides = ("--oracle", "narrow:Narrow", "--candidate", "other:Quick")
    code, text = run(own, "twinstep.cli", "init", *sides)
    assert code == 0, text
    assert "No episode of random play ended: `ends=False` in contract.py says so." in text
    assert "It runs as it is." in text
    assert "ends=False," in (own / "twinstep_narrow/contract.py").read_text()
    bridge = (own / "twinstep_narrow/oracle/bridge.py").read_text()
    assert "seed=lambda start: int(start.seed[0]) >> 1" in bridge
    code, text = run(own, "twinstep.cli", "init", "other", *BOTH[2:])
    assert code == 0, text
    contract = (own / "other/twinstep_lander/contract.py").read_text()
    bridge = (own / "other/twinstep_lander/oracle/bridge.py").read_text()
    assert "ends=False" not in contract, "its episodes end"
    assert "seed=" not in bridge, "it takes seeds of 64 bits"


def test_an_id_whose_namespace_is_not_registered_is_told_with_the_mend(own):
    code, text = run(own, "twinstep.cli", "init", "--oracle", "gymnasium:far/Away-v0")
    assert code == 4
    assert "Or name the module that registers it: gymnasium:MODULE:far/Away-v0" in text


@pytest.mark.e2e
def test_two_classes_of_ones_own_are_equal_without_a_line_written(own):
    code, text = run(own, *BOTH)
    assert code == 0, text
    assert "Starts are matched: both sides are put into the same state" in text
    for word in ("Larger than rounding", "differs by rounding", "does not run", "load:"):
        assert word not in text
    code, text = run(own, "pytest", *EPISODES, *QUICK_TESTS)
    assert code == 0, text
    assert "lander-quick (float64 on cpu): equal" in text
    assert "truncated" in text


@pytest.mark.e2e
def test_a_bug_of_ones_own_class_is_one_step_by_its_attributes_names(own):
    fill(own / "quick.py", [("0.5 * burn - 0.4", "0.5 * burn - 0.4 - 0.01 * (burn > 1)")])
    code, text = run(own, *BOTH)
    assert code == 0, text
    found = next(line for line in text.splitlines() if not line.startswith("wrote "))
    assert found.startswith("Larger than rounding: `state.height` is ")
    assert "`state.speed` is " in found
    assert "action [2]" in found
    code, text = run(own, "pytest", *EPISODES)
    assert code == 1, text
    assert "Suspect: **step** (`quick.py:" in text
    assert "obs.height" in text


@pytest.mark.e2e
@pytest.mark.skipif(not CHECKOUT, reason="ruff and its settings are in the checkout")
def test_what_is_written_for_ones_own_classes_passes_our_own_lint(own):
    assert run(own, *BOTH)[0] == 0
    for beside in ("lander.py", "quick.py"):
        (own / beside).unlink()
    assert not complaints(own)


@pytest.mark.e2e
def test_a_skeleton_of_ones_own_class_lacks_step_alone(own):
    code, text = run(own, "twinstep.cli", "init", "--oracle", "lander:Lander", "below")
    assert code == 0, text
    assert "Next: cd below && PYTHONPATH=.. pytest -m level3" in text
    code, text = run(own / "below", "pytest", *EPISODES, PYTHONPATH="..")
    assert code == 1
    assert "write `_observed` in twinstep_lander/fast/candidate.py" in text
    assert "Traceback" not in text


@pytest.mark.e2e
def test_a_module_below_the_project_is_no_candidate_that_may_import_its_reference(own):
    with (own / "quick.py").open("a") as file:
        file.write("\nimport lander\n")
    assert run(own, *BOTH)[0] == 0
    code, text = run(own, "pytest", *EPISODES)
    assert code == 1
    assert "lander belongs to the oracle" in text


@pytest.mark.e2e
def test_an_object_is_copied_and_starts_of_a_seed_are_equal_where_nothing_can_be_placed(own):
    """Its height lies in a dictionary, which no attribute shows; both draw from the same seed."""
    hidden = LANDER.replace("self.height", "self.all['h']").replace(
        "        super().reset(seed=seed)",
        "        super().reset(seed=seed)\n        self.all = {}",
    )
    (own / "lander.py").write_text(hidden + "\n\nLANDER = Lander()\n")
    (own / "quick.py").write_text(hidden + "\n\nMINE = Lander()\n")
    code, text = run(
        own, "twinstep.cli", "init", "--oracle", "lander:LANDER", "--candidate", "quick:MINE",
        "--name", "pair",
    )  # fmt: skip
    assert code == 0, text
    assert "Starts are matched: a seed gives both sides the same start." in text
    code, text = run(own, "pytest", *EPISODES)
    assert code == 0, text
    assert "pair-quick (float64 on cpu): equal" in text


def _edited(old, new):
    return LANDER.replace(old, new)


@pytest.mark.parametrize(
    ("candidate", "module", "says"),
    [
        ("", LANDER.replace("class Lander", "class Lender"),
         "--oracle lander:Lander: lander has no `Lander` (it has gymnasium, np, Lender)"),
        ("", "import nothing_there\n", "lander needs nothing_there: install it"),
        ("", "1 / 0\n", "--oracle lander:Lander: lander cannot be imported: division by zero"),
        ("", "def Lander():\n    raise OSError('no data')\n",
         "--oracle lander:Lander: it raises OSError, called without arguments: no data"),
        ("", "class Lander:\n    def step(self, action): ...\n",
         "--oracle lander:Lander: a Lander has no `reset`: give a class or factory of an"),
        ("", _edited("gymnasium.spaces.Discrete(3)", "3"),
         "Lander has no action_space of gymnasium.spaces: give it one"),
        ("", _edited("return self.look(), {}", "return self.look()"),
         "reset returns no (obs, info): wrap an environment of the old kind"),
        ("", _edited("landed, self.t >= 30, {}", "landed, {}"),
         "step returns no (obs, reward, terminated, truncated, info): wrap an environment of"),
        ("", _edited("burn = min(", "burn = mean("),
         "--oracle lander:Lander: step raises NameError: name 'mean' is not defined"),
        ("", _edited("self.t >= 30", "self.t >= 30 or 1 / (self.t - 29) == 0"),
         "--oracle lander:Lander: it raises while it is played: ZeroDivisionError: division by"),
        ("", _edited("return np.array([self", "return {}, np.array([self"),
         "lander:Lander observes Box, which is not one array: wrap it"),
        ("lander:Lander", LANDER,
         "--candidate lander:Lander: both sides lie in lander, and a candidate must not import"),
        ("quick:Quick", _edited("Discrete(3)", "Discrete(4)"),
         "the action spaces differ: lander:Lander has Discrete(4), quick:Quick has Discrete(3)"),
        ("quick:Quick", _edited("self.speed, self.fuel], np", "self.speed], np"),
         "the observations differ: lander:Lander has shape [2], quick:Quick has [3]"),
        ("quick:Quick", _edited("self.fuel], np.float32", "self.fuel], np.int32"),
         "the observations differ: lander:Lander has int32, quick:Quick has float32"),
        ("quick:Slow", LANDER, "--candidate quick:Slow: quick has no `Slow` (it has gymnasium, np"),
        ("slow:Slow", LANDER, "--candidate slow:Slow: there is no module slow here: install it"),
    ],
)  # fmt: skip
def test_what_is_no_environment_is_one_line_and_writes_nothing(own, candidate, module, says):
    (own / "lander.py").write_text(module)
    more = ("--candidate", candidate) if candidate else ()
    code, text = run(own, "twinstep.cli", "init", "--oracle", "lander:Lander", *more)
    assert code == 4, text
    assert says in text
    assert text.count("\n") == 1
    assert written(own) == {"lander.py", "quick.py"}
