"""`--tolerance`: a first look beyond rounding, which is no verdict. On the toy `glide`."""

import pytest

from twinstep.tests.support.project_folder import Project

PROJECT = """
[tool.twinstep.envs]
glide = "twinstep.tests.toys.glide:GLIDE"
"""
CHOSEN = ("-m", "level2 or level3", "--variant", "bits", "--driver", "random")


@pytest.fixture(scope="module")
def project(tmp_path_factory, toy_cache):
    return Project(tmp_path_factory.mktemp("glide") / "project", toy_cache, PROJECT)


@pytest.fixture(scope="module")
def looked(project):
    both = ("--candidate", "rounds", "--candidate", "bounces")
    suite = "rollouts.test_lockstep interactions.test_steps"
    return project.pytest(*CHOSEN, *both, "--tolerance", "1e-9", suite=suite, env="glide")


def test_rounding_within_the_tolerance_passes_and_is_no_verdict(looked):
    pair = looked.verdict["pairs"]["glide@bits-rounds"]
    assert [pair["levels"][level]["passed"] for level in ("level2", "level3")] == [1, 1]
    assert pair["verdict"] == "not verified; within 1e-09 + 0 * |oracle|"
    assert pair["tolerance"] == "1e-09 + 0 * |oracle|"


def test_what_is_wrong_beyond_the_tolerance_is_reported_and_replayed(looked, project):
    assert looked.verdict["pairs"]["glide@bits-bounces"]["verdict"] == "differs"
    records = {project.record(r)["context"]["level"]: r for r in looked.verdict["reports"]}
    name = records[3]
    assert project.record(name)["diff"][0]["path"] == "state.v"
    again = project.twinstep("replay", f".twinstep/reports/{name}.json")
    assert again.stdout.strip().endswith("Reproduced byte for byte.")


def test_without_a_tolerance_the_same_candidate_differs(project):
    run = project.pytest(*CHOSEN, "--candidate", "rounds", env="glide")
    assert run.verdict["pairs"]["glide@bits-rounds"]["verdict"] == "differs"


@pytest.mark.parametrize("given", ["1e-3x", "1,2,3", "-1", "nan", "inf", ",", "1,"])
def test_a_wrong_tolerance_is_one_line(project, given):
    run = project.pytest(*CHOSEN, f"--tolerance={given}", env="glide")
    assert run.code == 4
    (line,) = [line for line in run.text.splitlines() if line.startswith("ERROR")]
    mend = "ABS or ABS,REL, numbers of at least 0, as in 1e-6,1e-5"
    assert line == f"ERROR: --tolerance {given}: {mend}"
