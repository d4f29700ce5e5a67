"""twinstep beside plugins of other projects: `make trainers ARGS=plugins` installs them.

pytest-selenium has `--driver`, pytest-env and pytest-receptor touch options and the environment,
pytest-randomly reorders, pytest-rerunfailures and pytest-timeout wrap every call, pytest-cov runs
in every worker.
"""

import importlib.metadata
import re

import pytest

from twinstep.tests.support.project_folder import Folder

PLUGINS = (
    *("pytest-cov", "pytest-env", "pytest-randomly", "pytest-receptor", "pytest-rerunfailures"),
    *("pytest-selenium", "pytest-timeout", "pytest-xdist"),
)


def _missing():
    try:
        for name in PLUGINS:
            importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(_missing()), reason="make trainers ARGS=plugins")

DUEL = '[tool.twinstep.envs]\nduel = "twinstep.tests.toys.duel:DUEL"\n'
TESTS = """
import pytest

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.parametrize("n", range(8))
def test_many(n): pass

def test_driver_option_is_seleniums(request):
    assert request.config.getoption("--driver") == "firefox"
"""
SUITE = ("--pyargs", "twinstep.rollouts.test_lockstep", "twinstep.properties.test_modules")


@pytest.fixture
def foreign(tmp_path, toy_cache):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: theirs\n")
    (tmp_path / "test_theirs.py").write_text(TESTS)
    return Folder(tmp_path, toy_cache, fork=False)


def _run(project, *args):
    done = project._child("pytest", "-p", "no:cacheprovider", *args)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("spread", [(), ("-n", "2")])
def test_a_foreign_run_is_the_same_without_the_plugin(foreign, spread):
    args = ("--driver", "firefox", "-p", "no:randomly", "-q", *spread)
    results = [_run(foreign, *args), _run(foreign, "-p", "no:twinstep", *args)]
    said = [re.sub(r"in \d+\.\d+s", "", text) for _, text in results]
    assert said[0] == said[1]
    assert [code for code, _ in results] == [0, 0], said[0]
    assert "10 passed" in said[0]


@pytest.mark.parametrize(
    "more",
    [(), ("-n", "2", "--dist", "loadgroup"), ("--reruns", "1", "--timeout", "600"), ("--cov",)],
)
def test_a_run_of_ours_verifies_among_them(foreign, more):
    """Tests in another order each time, reruns, timeouts and coverage change no verdict."""
    (foreign.folder / "pyproject.toml").write_text(DUEL)
    args = ("--twinstep-env", "duel", "--candidate", "vector", *SUITE, *more)
    code, text = _run(foreign, *args)
    assert code == 0, text
    assert "--driver belongs to another plugin: write --twinstep-driver" in text
    assert "duel-vector (float32 on cpu): equal" in text
