"""What two sides draw for themselves is compared in distribution, steps as well as starts."""

import numpy as np
import pytest

from twinstep.compare.outcomes import chosen_steps
from twinstep.testing import require_alike_steps
from twinstep.testing.lab import Divergence
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.lots import LOTS

PROJECT = """
[tool.twinstep.envs]
lots = "twinstep.tests.toys.lots:LOTS"

[tool.pytest.ini_options]
twinstep = true
"""


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    with labs(tmp_path_factory.mktemp("lots"), LOTS, 100) as lab_of:
        yield lab_of


def _said(lab, driver="random"):
    with pytest.raises(Divergence) as found:
        require_alike_steps(lab, driver)
    return found.value.record["context"]["note"]


@pytest.mark.parametrize("driver", ["random", "sticky"])
def test_steps_that_are_drawn_alike_are_alike(lab_of, driver):
    lab = lab_of("right")
    require_alike_steps(lab, driver)
    assert lab.notes["coverage"]["episodes"] == 400
    (line,) = lab.notes["lines"]
    assert "400 starts and a step after each; a value's share off by 0." in line


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        ("farther", "at the start `obs.place` lies in 0 to 5"),
        ("five", "`reward after a step` lies in 0 to 5"),
        (
            "turns",
            "`obs.side after a step` and `obs.side before the step` go together in another "
            "way: their rank correlation is -0.",
        ),
    ],
)
def test_what_differs_is_told(lab_of, candidate, says):
    assert says in _said(lab_of(candidate))


def test_first_steps_and_later_ones_are_chosen():
    at = chosen_steps(2000, 64, np.random.default_rng(1))
    assert set(at) == set(range(1, 65))
    assert 0.05 < (at == 1).mean() < 0.2
    assert 0.2 < (at > 32).mean() < 0.4
    assert set(chosen_steps(50, 1, np.random.default_rng(1))) == {1}


def test_a_run_says_that_the_pair_is_alike_in_distribution(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache, PROJECT)
    suite = "properties.test_randomness interactions.test_batches rollouts.test_lockstep"
    run = project.pytest("--candidate", "right", suite=suite, env="lots")
    assert run.code == 0, run.text
    pair = run.verdict["pairs"]["lots-right"]
    assert pair["verdict"] == "alike in distribution"
    assert pair["compared"] == ["distribution random", "distribution sticky"]
    assert "rules.one_step" in str(pair["does_not_apply"])
