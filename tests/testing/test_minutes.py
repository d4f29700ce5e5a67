"""`--minutes` plays on beyond the usual episodes, in a candidate's own time."""

import pytest

from twinstep.tests.support.project_folder import Project

PROJECT = """
[tool.twinstep.envs]
lap = "twinstep.tests.toys.lap:LAP"
drift = "twinstep.tests.toys.drift:DRIFT"
"""
FEW = ("-m", "level3", "--episodes", "20", "--driver", "random", "-k", "episodes_match")


@pytest.fixture(scope="module")
def ran(tmp_path_factory, toy_cache):
    project = Project(tmp_path_factory.mktemp("lap") / "project", toy_cache, PROJECT)

    def run(candidate, *options, env="lap", few=FEW):
        return project.pytest(*few, f"--candidate={candidate}", *options, env=env)

    return run


def test_minutes_find_what_no_usual_episode_shows(ran):
    assert ran("rare").code == 0
    run = ran("rare", "--minutes", "0.5")
    assert run.code == 1
    assert "lap-rare fails level 3: `reward` is " in run.text


def test_the_verdict_counts_further_episodes_with_the_first(ran):
    usual, longer = (
        ran("right", *options).verdict["pairs"]["lap-right"]["drivers"]["random"]
        for options in ((), ("--minutes", "0.05"))
    )
    assert usual["episodes"] == 20
    assert longer["episodes"] >= 40
    assert longer["steps"] > usual["steps"]
    assert longer["terminated"] + longer["truncated"] == longer["episodes"]


def test_physics_that_is_compared_from_states_goes_on_too(ran):
    few = (*FEW[:-1], "from_the_oracles")
    run = ran("f32", "--minutes", "0.05", env="drift", few=few)
    assert run.code == 0, run.text
    assert run.verdict["pairs"]["drift-f32"]["drivers"]["random"]["episodes"] >= 40


@pytest.mark.parametrize("wrong", ["-1", "nan", "inf"])
def test_no_length_of_time_is_one_line(ran, wrong):
    run = ran("right", f"--minutes={wrong}")
    assert run.code == 4
    assert f"--minutes {wrong}: a number of at least 0" in run.text
