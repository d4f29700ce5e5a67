"""The verdict's own part of one run: what `--nonce` asks for, and what `--module` leaves out."""

import pytest

from twinstep.tests.support.project_folder import Project

LEVELS = ("--candidate", "mine", "--driver", "random", "--episodes", "24", "--nonce", "a word")
SUITE = "properties.test_modules rollouts.test_lockstep"


@pytest.fixture
def project(tmp_path, toy_cache):
    return Project(tmp_path, toy_cache)


def test_a_verdict_with_a_nonce_names_every_test_that_was_collected(project):
    run = project.pytest(*LEVELS, suite=SUITE)
    listed = project.pytest(*LEVELS, "--collect-only", suite=SUITE)
    assert run.code == 0, run.text
    told = run.verdict["run"]
    assert told["nonce"] == "a word"
    assert told["ended"]
    assert sorted(told["tests"]) == sorted(n for n in listed.text.splitlines() if "::" in n)
    assert set(told["tests"].values()) <= {"passed", "skipped"}
    assert not told["why"]


def test_a_failed_test_names_its_report_there(project):
    project.plant()
    run = project.pytest(*LEVELS, suite=SUITE)
    told = run.verdict["run"]
    failed = [name for name, outcome in told["tests"].items() if outcome == "failed"]
    assert failed
    assert {told["why"][name] for name in failed} == {f"report {n}" for n in run.verdict["reports"]}


def test_without_a_nonce_a_verdict_is_the_same_whenever_it_is_made(project):
    assert "run" not in project.pytest(*LEVELS[:-2], suite=SUITE).verdict


STOPS = """
import pytest

def pytest_runtest_setup(item):
    if "match" in item.name:
        pytest.exit("enough")
"""


def test_a_run_that_is_broken_off_says_so_and_what_did_not_run(project):
    (project.folder / "stops.py").write_text(STOPS)
    told = project.pytest(*LEVELS, "-p", "stops", suite=SUITE).verdict["run"]
    assert not told["ended"]
    assert "not run" in told["tests"].values()


def test_module_leaves_the_tests_of_that_module(project):
    run = project.pytest(*LEVELS, "--module", "take", suite=SUITE)
    assert run.code == 0, run.text
    assert run.verdict["run"]["tests"]
    assert all(name.endswith("-take]") for name in run.verdict["run"]["tests"])


def test_an_unknown_module_is_one_line(project):
    run = project.pytest(*LEVELS, "--module", "tkae")
    assert run.code == 4
    assert "unknown module 'tkae'; did you mean 'take'?" in run.text
    assert "Traceback" not in run.text


def test_of_many_modules_only_the_chosen_are_tested(project):
    asked = ("--module", "ball", "--module", "serve", "--collect-only")
    listed = project.pytest(*asked, suite="properties.test_modules", env="pong")
    modules = {line.rpartition("-")[2] for line in listed.text.splitlines() if "::" in line}
    assert modules == {"ball]", "serve]"}
