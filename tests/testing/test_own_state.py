"""The oracle's own state, loaded into it again: exact, and what differs is told with its values."""

import pytest

from twinstep.tests.support.project_folder import Project

PROJECT = """
[tool.twinstep.envs]
signed = "twinstep.tests.toys.signed:SIGNED"
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory, toy_cache):
    project = Project(tmp_path_factory.mktemp("signed") / "project", toy_cache, PROJECT)

    def run(variant):
        options = ("-k", "continues_exactly", "--episodes", "5", "--variant", variant)
        return project.pytest(*options, suite="interactions.test_state", env="signed").text

    return run


def test_a_zero_of_the_other_sign_is_a_difference_where_gates_are_exact(ran):
    assert "`obs.place` is 0 uninterrupted and -0 from there" in ran("exact")


def test_a_zero_of_the_other_sign_is_none_where_a_gate_allows_rounding(ran):
    assert "1 passed" in ran("rounding")


def test_a_state_that_load_does_not_set_is_told_with_its_values(ran):
    told = ran("forgets")
    assert "`state.way` is 3.5 uninterrupted and 0.5 from there" in told
    assert "`state` lacks a field that matters, or the oracle's `load` does not set one" in told
