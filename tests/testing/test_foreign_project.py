"""A project that does not use twinstep sees nothing of an installed plugin.

Its own marks, fixtures and options have the names that twinstep's suite uses.
"""

import re
import sys

import pytest

from twinstep.tests.support.project_folder import Folder

CONFTEST = """
import pytest

def pytest_addoption(parser):
    for name in ("--env", "--driver", "--set", "--variant"):
        parser.addoption(name, action="append", default=[])

@pytest.fixture
def lab():
    return "their lab"

@pytest.fixture
def reference():
    return "their reference"

@pytest.fixture(params=["firefox", "chrome"])
def driver(request):
    return request.param
"""
INI = """
[pytest]
addopts = --strict-markers
markers =
    slow: theirs
    environment(name): theirs
    gates: theirs
    declared: theirs
    level4: theirs
    needs: theirs
"""
TESTS = """
import sys
import pytest

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.level4
def test_level4(): pass

@pytest.mark.environment("staging")
def test_environment(): pass

@pytest.mark.gates("none")
@pytest.mark.declared("nothing")
@pytest.mark.needs("candidate.nonsense")
def test_marks(): pass

def test_fixtures(lab, reference): assert (lab, reference) == ("their lab", "their reference")

def test_driver(driver): assert driver in ("firefox", "chrome")

def test_options(request):
    assert request.config.getoption("--env") == ["staging"]
    assert request.config.getoption("--driver") == request.config.getoption("--set") == []

def test_fails(): assert 1 == 2
"""
LIGHT = """
import sys

def test_nothing_of_it_is_imported():
    heavy = ("numpy", "jax", "hypothesis", "scipy", "twinstep.testing.session", "twinstep.contract")
    assert not [name for name in heavy if name in sys.modules]
"""
DUEL = '[tool.twinstep.envs]\nduel = "twinstep.tests.toys.duel:DUEL"\n'
SUITE = ("--pyargs", "twinstep.rollouts.test_lockstep")
QUICK = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
SHORT = ("--candidate", "vector", "--twinstep-driver", "random", "--episodes", "8")


@pytest.fixture
def foreign(tmp_path, toy_cache):
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(INI)
    (folder / "test_theirs.py").write_text(TESTS)
    return Folder(folder, toy_cache, fork=False)


def _run(project, *args):
    done = project._child("pytest", *QUICK, *args)
    return done.returncode, done.stdout + done.stderr


def _same_every_time(text):
    text = re.sub(r"(?m)^plugins: .*\n", "", text)
    return re.sub(r"in \d+\.\d+s", "in a while", text)


@pytest.mark.parametrize("args", [("-v",), ("-m", "slow"), ("-k", "lab or driver"), ("-n", "2")])
def test_its_items_and_its_output_are_the_same_without_the_plugin(foreign, args):
    args = ("--env", "staging", *args)
    with_it = _run(foreign, *args)
    without = _run(foreign, "-p", "no:twinstep", *args)
    if "-n" in args:  # the order of workers' dots is by chance
        tail = [re.sub(r"^[.F ]*\[", "[", line) for line in with_it[1].splitlines()[-4:]]
        assert "1 failed, 8 passed" in tail[-1]
        assert with_it[0] == without[0] == 1
        return
    assert with_it[0] == without[0]
    assert _same_every_time(with_it[1]) == _same_every_time(without[1])
    said = _same_every_time(with_it[1])
    for place in (str(foreign.folder), sys.prefix):  # a checkout's folder has any name
        said = said.replace(place, "")
    assert "twinstep" not in said


def test_all_of_its_items_run(foreign):
    code, text = _run(foreign, "--env", "staging", "-q")
    assert code == 1
    assert "1 failed, 8 passed" in text


def test_nothing_heavy_is_imported(foreign):
    (foreign.folder / "test_light.py").write_text(LIGHT)
    code, text = _run(foreign, "-q", "test_light.py")
    assert code == 0, text


def test_an_option_that_the_project_has_goes_to_the_project(foreign):
    """Whoever is loaded first: the conftest is, before and after the plugins."""
    (foreign.folder / "theirs.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--candidate', default='none')\n"
    )
    code, text = _run(foreign, "-p", "theirs", "--env", "staging", "--candidate", "x", "-q")
    assert "1 failed, 8 passed" in text, text


def test_a_run_of_ours_there_names_the_long_options_and_leaves_their_items_alone(foreign):
    (foreign.folder / "pyproject.toml").write_text(DUEL)
    code, text = _run(
        foreign, "test_theirs.py", *SUITE, "--twinstep-env", "duel", *SHORT, "--env", "staging"
    )
    for name in ("env", "driver", "set", "variant"):
        assert f"--{name} belongs to another plugin: write --twinstep-{name}" in text
    assert "candidate belongs" not in text
    assert "1 failed, 9 passed" in text, text
    assert "duel-vector (float32 on cpu): equal in part" in text


@pytest.mark.e2e
def test_the_suite_among_the_arguments_is_enough(foreign):
    (foreign.folder / "conftest.py").unlink()
    (foreign.folder / "pyproject.toml").write_text(DUEL)
    code, text = _run(foreign, *SUITE, "-k", "duel-vector-random")
    assert code == 0, text
    assert "duel-vector (float32 on cpu): equal in part" in text


def test_the_ini_key_is_enough(foreign):
    (foreign.folder / "conftest.py").unlink()
    (foreign.folder / "pyproject.toml").write_text(DUEL)
    (foreign.folder / "pytest.ini").write_text(INI + "twinstep = true\n")
    (foreign.folder / "test_theirs.py").write_text("def test_theirs(): pass\n")
    code, text = _run(foreign, "test_theirs.py")
    assert code == 0, text
    assert "duel-v0: vector, wrongmask, wrongtake, wrongstep against the toy" in text


def test_a_broken_declaration_of_another_package_is_a_line_and_no_error(foreign):
    (foreign.folder / "conftest.py").unlink()
    (foreign.folder / "pyproject.toml").write_text(DUEL + 'broken = "nowhere.at.all:ENV"\n')
    code, text = _run(foreign, *SUITE, "-k", "duel-vector-random")
    assert code == 0, text
    assert "broken is left out: environment 'broken' is declared as nowhere.at.all:ENV" in text
    code, text = _run(foreign, *SUITE, "--env", "broken")
    assert code == 4
    assert "environment 'broken' is declared as nowhere.at.all:ENV" in text
    assert "Traceback" not in text


OWN = """
import numpy as np
import pytest

@pytest.mark.level1
@pytest.mark.needs("candidate.call", "oracle.call")
def test_own_module(twinstep_lab, twinstep_module):
    declared = twinstep_lab.contract.module(twinstep_module)
    inputs = twinstep_lab.reference.module_inputs(declared, 8, "own")
    want = twinstep_lab.oracle.call(twinstep_module, inputs)
    got = twinstep_lab.runner.call(twinstep_module, inputs)
    assert all(np.array_equal(want[name], got[name]) for name in want)

@pytest.mark.level1
@pytest.mark.needs("candidate.eager")
def test_not_for_numpy(twinstep_lab): assert 0

def test_beside_them(lab, driver): assert lab == "their lab"
"""


def test_a_projects_own_level_1_tests_use_the_fixtures_by_their_long_names(foreign):
    (foreign.folder / "pyproject.toml").write_text(DUEL)
    (foreign.folder / "test_theirs.py").write_text(OWN)
    code, text = _run(foreign, "--twinstep-env", "duel", "--candidate", "vector", "-v")
    assert code == 0, text
    assert "test_own_module[duel-vector-take] PASSED" in text
    assert "3 passed" in text
    assert "not_for_numpy" not in text


def test_the_long_names_alone_are_registered_where_the_run_is_theirs(foreign):
    code, text = _run(foreign, "--help")
    assert code == 0
    for name in ("env", "candidate", "require-oracles", "nonce"):
        assert f"--twinstep-{name}" in text
