"""What a daily suite may leave out: tests that are repeated, and pairs that are proved."""

import json

import pytest

from twinstep.tests.support.project_folder import PYPROJECT, RIGHT, SHORT, WRONG, Project

#: Duel in two variants that differ in nothing.
DECLARED = """
import dataclasses

from twinstep import Parameter, Variant
from twinstep.tests.toys.duel import DUEL

TWO = dataclasses.replace(
    DUEL,
    parameters=(Parameter("number", 1, "of the variant"),),
    variants=(Variant("one", {}), Variant("two", {"number": 2})),
)
"""
SUITE = "interactions.test_batches rollouts.test_lockstep"


@pytest.fixture(scope="module")
def project(tmp_path_factory, toy_cache):
    """A project whose package has a verdict on both variants of its candidate."""
    declared = PYPROJECT.replace("twinstep.tests.toys.duel:DUEL", "fastduel.two:TWO")
    project = Project(tmp_path_factory.mktemp("daily"), toy_cache, declared)
    (project.package / "two.py").write_text(DECLARED)
    run = project.pytest(*SHORT, "-m", "level3", suite=SUITE)
    assert run.code == 0, run.text
    verdict = run.verdict
    assert set(verdict["pairs"]) == {"duel@one-mine", "duel@two-mine"}
    # As if levels 1 and 2 had run too.
    for entry in verdict["pairs"].values():
        entry["verdict"] = "equal"
        entry["levels"]["level2"] = {}
    (project.package / "verdict.json").write_text(json.dumps(verdict))
    return project


def listed(project, marks):
    """The variants of the tests that a run with these marks collects."""
    text = project.pytest(*SHORT, "-m", marks, "--collect-only", suite=SUITE).text
    return {name for name in ("one", "two") if f"duel@{name}-mine" in text}


def test_a_further_variant_with_a_stored_verdict_is_proved_and_the_first_never(project):
    assert listed(project, "proved") == {"two"}
    assert listed(project, "not proved") == {"one"}


@pytest.mark.parametrize("field", ["sources", "contract_digest", "verdict", "platform", "pins"])
def test_a_verdict_on_something_else_proves_nothing(project, field):
    path = project.package / "verdict.json"
    kept = path.read_text()
    changed = json.loads(kept)
    changed["pairs"]["duel@two-mine"][field] = "another"
    path.write_text(json.dumps(changed))
    try:
        assert listed(project, "proved") == set()
        assert listed(project, "not proved") == {"one", "two"}
    finally:
        path.write_text(kept)


def test_a_candidate_that_was_edited_is_not_proved(project):
    project.plant(RIGHT, WRONG)
    try:
        assert listed(project, "proved") == set()
    finally:
        project.mend()


def test_how_a_candidate_is_called_is_repeated_in_a_further_variant_and_level_3_is_not(project):
    assert listed(project, "repeated") == {"two"}
    assert listed(project, "calling and not repeated") == {"one"}
    assert listed(project, "level3 and not repeated") == {"one", "two"}
