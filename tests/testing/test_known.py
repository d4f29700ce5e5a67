"""What a daily suite may leave out: tests that are repeated, and pairs that are proved."""

import json

import pytest

from twinstep.tests.support.project_folder import Project

DECLARED = """
[tool.twinstep.envs]
glide = "twinstep.tests.toys.glide:GLIDE"
"""
ASKED = ("--candidate", "fast")
SUITE = "properties interactions rollouts"


@pytest.fixture(scope="module")
def verified(tmp_path_factory, toy_cache):
    """A project with a verdict of its own on both variants, and that verdict."""
    project = Project(tmp_path_factory.mktemp("known"), toy_cache, DECLARED)
    run = project.pytest(*ASKED, "-m", "level3", suite="rollouts.test_lockstep", env="glide")
    assert run.code == 0, run.text
    verdict = run.verdict
    assert set(verdict["pairs"]) == {"glide@bits-fast", "glide@zeros-fast"}
    # As if levels 1 and 2 had run too.
    for entry in verdict["pairs"].values():
        entry["verdict"] = "equal"
    (project.folder / ".twinstep" / "verdict.json").write_text(json.dumps(verdict))
    return project, verdict


def listed(project, marks):
    """The variants of the tests that a run with these marks collects."""
    text = project.pytest(*ASKED, "-m", marks, "--collect-only", suite=SUITE, env="glide").text
    return {name for name in ("bits", "zeros") if f"glide@{name}-fast" in text}


def test_a_further_variant_with_a_verdict_on_its_files_is_proved_and_the_first_never(verified):
    project, _ = verified
    assert listed(project, "proved") == {"zeros"}
    assert listed(project, "not proved") == {"bits"}


@pytest.mark.parametrize("field", ["sources", "contract_digest", "verdict", "platform"])
def test_a_verdict_on_other_files_proves_nothing(verified, field):
    project, verdict = verified
    path = project.folder / ".twinstep" / "verdict.json"
    changed = json.loads(json.dumps(verdict))
    changed["pairs"]["glide@zeros-fast"][field] = "another"
    path.write_text(json.dumps(changed))
    try:
        assert listed(project, "proved") == set()
    finally:
        path.write_text(json.dumps(verdict))


def test_how_a_candidate_is_called_is_repeated_in_a_further_variant_and_level_3_is_not(verified):
    project, _ = verified
    assert listed(project, "repeated and calling") == {"zeros"}
    assert listed(project, "calling and not repeated") == {"bits"}
    assert listed(project, "level3 and not repeated") == {"bits", "zeros"}
