"""A limit that no episode reaches is asked for one step before it, where the state counts steps."""

import numpy as np
import pytest

from twinstep.compare.limits import find_limit
from twinstep.tests.support.project_folder import Project
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys.lap import LAP, STEPS

PROJECT = """
[tool.twinstep.envs]
lap = "twinstep.tests.toys.lap:LAP"
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory, toy_cache):
    project = Project(tmp_path_factory.mktemp("limits") / "project", toy_cache, PROJECT)
    chosen = [
        "--candidate",
        "right",
        "--candidate",
        "endless",
        "--episodes",
        "10",
        "--driver",
        "random",
    ]
    wanted = ("-m", "level2 or level3", "-k", "limit or episodes_match")
    suite = "interactions rollouts.test_lockstep"
    return project.pytest(*wanted, *chosen, suite=suite, env="lap")


def test_a_limit_is_compared_that_no_episode_reaches(ran):
    right, endless = (ran.verdict["pairs"][f"lap-{name}"] for name in ("right", "endless"))
    assert not any(seen["truncated"] for seen in right["drivers"].values())
    assert right["levels"]["level2"] == right["levels"]["level2"] | {"passed": 1, "failed": 0}
    assert not any("truncation" in line for line in right["never_seen"])
    assert endless["levels"]["level2"]["failed"] == 1
    assert endless["levels"]["level3"]["failed"] == 0
    assert "`truncated` is False, oracle True, at step 1 of 1" in ran.text
    assert "`state.clock` 23" in ran.text


def test_the_counter_and_its_last_value_are_found(tmp_path):
    with labs(tmp_path, LAP, 10) as lab_of:
        lab = lab_of("right")
        limit = find_limit(lab.contract, lab.oracle, lab.traces("random"))
        assert limit is not None
        assert (limit.counter, limit.last) == ("clock", STEPS - 1)
        steps = limit.steps.counted("clock", np.array([STEPS - 2, STEPS - 1]))
        frames, _ = lab.oracle.steps(steps.states, steps.actions[None], steps.starts)
        assert frames["truncated"].reshape(-1, 2).tolist() == [[False, True]] * 4
