"""A JAX candidate's auto-reset of its own is what ships, and is compared with the oracle's."""

import numpy as np
import pytest

from twinstep.env.make import Env
from twinstep.environment import Variant
from twinstep.project.registry import EnvVariant
from twinstep.tests.support.project_folder import Project
from twinstep.tests.toys.lap import LAP

# A long way from end to end.
pytestmark = pytest.mark.e2e

PROJECT = """
[tool.twinstep.envs]
lap = "twinstep.tests.toys.lap:LAP"
"""


@pytest.fixture(scope="module", params=["", "--isolate"], ids=["in process", "isolated"])
def ran(request, tmp_path_factory, toy_cache):
    project = Project(tmp_path_factory.mktemp("lap") / "project", toy_cache, PROJECT)
    chosen = [f"--candidate={name}" for name in ("right", "own", "forever", "swallows")]
    wanted = ("-m", "level3", "--episodes", "10", "-k", "through_auto_resets or steps_from or pgx")
    wanted += (request.param,) if request.param else ()
    return project.pytest(*wanted, *chosen, suite="rollouts", env="lap")


def test_a_right_auto_reset_of_its_own_passes(ran):
    for name in ("right", "own"):
        level3 = ran.verdict["pairs"][f"lap-{name}"]["levels"]["level3"]
        assert (level3["failed"], level3["errors"]) == (0, 0), ran.text
        assert level3["passed"]


@pytest.mark.parametrize("name", ["forever", "swallows"])
def test_a_wrong_auto_reset_of_its_own_differs(ran, name):
    assert ran.verdict["pairs"][f"lap-{name}"]["verdict"] == "differs"
    assert "auto_reset='same-step'" in ran.text


def test_what_needs_the_cores_auto_reset_does_not_apply_to_it(ran):
    assert "candidate.pure" in str(ran.verdict["pairs"]["lap-own"]["does_not_apply"])


def test_without_auto_reset_it_can_be_traced_as_any_other():
    for mode, traceable in (("off", True), ("same-step", False)):
        env = Env(EnvVariant(LAP, Variant("", {})), "own", mode)
        assert env.traceable is traceable
        state, first = env.reset(seed=np.zeros((2, 2), np.uint32))
        assert first.obs.shape == (2, 3)
