"""What is wrong in a project's own declarations, oracle or caches is one line, no traceback."""

import dataclasses
import os
import subprocess
import sys

import pytest

from twinstep.environment import Variant
from twinstep.errors import UserError
from twinstep.project import registry, source_view
from twinstep.project.registry import EnvVariant
from twinstep.tests.support.project_folder import HANGS
from twinstep.tests.toys.faulty import FAULTY

DECLARED = """
[tool.twinstep.envs]
faulty = "twinstep.tests.toys.faulty:FAULTY"
[tool.twinstep.candidates]
"faulty.mine" = "mine:MINE"
"""
MINE = """
from twinstep.environment import CandidateRef
MINE = CandidateRef("mine", "mine:none", edit=("mine.py",), sources={}, packages=())
"""


@pytest.mark.parametrize(
    "text", ["[tool.twinstep]\nenvs = 'a'", "[tool.twinstep]\nenvs = ['a']", "[tool]\ntwinstep = 3"]
)
def test_tables_that_are_none_are_named(tmp_path, monkeypatch, text):
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"\[tool.twinstep.envs\] .* are tables") as error:
        registry.names()
    assert "\n" not in str(error.value)


def _raises(params):
    raise ZeroDivisionError("a slip")


def test_a_contract_and_a_probe_that_raise_are_named():
    wrong = dataclasses.replace(FAULTY, contract=_raises)
    with pytest.raises(UserError, match="the contract of faulty raises ZeroDivisionError: a slip"):
        EnvVariant(wrong, Variant("", {})).contract  # noqa: B018
    oracle = dataclasses.replace(FAULTY.oracle, probe=f"{FAULTY.contract.__module__}:prob")
    wrong = dataclasses.replace(FAULTY, oracle=oracle)
    with pytest.raises(UserError, match="probe, .*:prob raises AttributeError"):
        EnvVariant(wrong, Variant("", FAULTY.params({}))).probe  # noqa: B018


@pytest.mark.parametrize("place", ["pong.h", "pong.h:", "pong.h:step"])
def test_a_source_without_lines_shows_none(place):
    record = {
        "environment": "pong",
        "params": registry.environment("pong").params({}),
        "suspects": [{"source": place}],
    }
    assert source_view.oracle_source(record) == ""


def test_an_oracle_that_breaks_its_contract_is_one_line(tmp_path):
    (tmp_path / "pyproject.toml").write_text(DECLARED)
    (tmp_path / "mine.py").write_text(MINE)
    done = _pytest(tmp_path, "twinstep.rollouts.test_drivers", "--env=faulty", "--set=fault=dtype")
    section = done.stdout.partition("= FAILURES =")[2].partition("= short test summary")[0]
    _, _, said, *rest = section.splitlines()
    assert said.startswith("the oracle's obs is float64[1, 1], the contract says int32[1, 1]")
    assert len(rest) == 1, section


def test_a_damaged_program_in_jaxs_cache_is_compiled_again(tmp_path):
    """A killed run or a full disk leaves one; a right candidate must not fail for it."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n'
    )
    chosen = ("--env=pong", "--candidate=jax", "--variant=fs8", "-k", "compiled_equals_eager")
    wanted = ("twinstep.interactions.test_batches", *chosen)
    assert _pytest(tmp_path, *wanted).returncode == 0
    programs = [path for path in (tmp_path / "jax").iterdir() if path.is_file()]
    assert programs
    for path in programs:
        path.write_bytes(path.read_bytes()[:40])
    done = _pytest(tmp_path, *wanted)
    assert done.returncode == 0, done.stdout
    assert "Error reading persistent compilation cache" in done.stdout


def _pytest(folder, *args):
    variables = {
        "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", *args]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
