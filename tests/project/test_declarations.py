"""Errors in a project's own declarations, oracle or caches are one line without traceback."""

import dataclasses
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import twinstep
from twinstep.cli import main
from twinstep.contract import Field
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


def test_a_project_is_importable_whenever_it_is_asked_for_not_only_the_first_time(
    tmp_path, monkeypatch
):
    """What it declares is read once; the path may have been restored since."""
    (tmp_path / "pyproject.toml").write_text('[tool.twinstep.envs]\nown = "own:ENV"')
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        with monkeypatch.context() as scope:
            scope.setattr(sys, "path", list(sys.path))
            assert "own" in registry.names()
            assert str(tmp_path) in sys.path
        assert str(tmp_path) not in sys.path


#: Name -> (its module, a part of its line of `twinstep envs`).
BROKEN = {
    "absent": ("", "declared as absent:ENV, which cannot be imported: ModuleNotFoundError: "),
    "syntax": ("1 +", "cannot be imported: SyntaxError: "),
    "raising": ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
    "nameless": ("OTHER = 1", "cannot be imported: AttributeError: "),
    "other": ("ENV = 3", "declared as other:ENV, which is no Environment"),
    "slip": ("def contract(params): return params['absent']", "raises KeyError: 'absent'"),
    "lazy": ("def contract(params): import no_such_part", "cannot be imported: No module named"),
    "none": ("def contract(params): pass", "the contract of none is a NoneType, not a Contract"),
    "empty": ("VARIED = dict(variants=())", "declared as empty:ENV, which has no variants"),
}
SOUND = """
import dataclasses
from twinstep.tests.toys.faulty import FAULTY
ENV = dataclasses.replace(
    FAULTY, name=__name__, **({"contract": contract} if "contract" in globals() else VARIED)
)
"""


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A project that declares every kind of broken environment and a sound one."""
    lines = ["[tool.twinstep.envs]", 'faulty = "twinstep.tests.toys.faulty:FAULTY"']
    for name, (text, _) in BROKEN.items():
        lines.append(f'{name} = "{name}:ENV"')
        if text:
            whole = "contract" in text or "VARIED" in text
            (tmp_path / f"{name}.py").write_text(text + "\n" + SOUND * whole)
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "pyproject.toml").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in BROKEN:
        sys.modules.pop(name, None)


def test_a_broken_declaration_is_one_line_and_hides_no_environment(broken, capsys):
    assert main(["envs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (_, says) in BROKEN.items():
        (line,) = (line for line in lines if line.startswith(f"{name}"))
        assert line.startswith(f"{name}: broken: ")
        assert says in line
    for name in ("faulty", "pong"):
        (place,) = (n for n, line in enumerate(lines) if line.startswith(f"{name} ("))
        assert lines[place + 1].startswith("  oracle: ")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_declaration_is_an_error_where_it_is_asked_for_and_nowhere_else(broken, name):
    with pytest.raises(UserError, match=f"{name}"):
        EnvVariant(registry.environment(name), Variant("", {})).contract  # noqa: B018
    with pytest.raises(UserError, match=re.escape(BROKEN[name][1])):
        twinstep.make(f"{name}-v0")
    with pytest.raises(UserError, match=r"unknown environment 'pnog-v0'; did you mean 'pong-v0'"):
        twinstep.make("pnog-v0")
    assert registry.environment("faulty").name == "faulty"


def test_an_environment_whose_probe_raises_is_listed_as_broken(broken, monkeypatch, capsys):
    oracle = dataclasses.replace(FAULTY.oracle, probe=f"{__name__}:_raises")
    wrong = dataclasses.replace(FAULTY, oracle=oracle)
    monkeypatch.setattr(registry, "names", lambda: ["faulty"])
    monkeypatch.setattr(registry, "environment", lambda name: wrong)
    assert main(["envs"]) == 0
    assert capsys.readouterr().out == (
        f"faulty: broken: the oracle's probe, {__name__}:_raises raises ZeroDivisionError: a slip\n"
    )


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


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"low": [0.0, 1.0], "shape": (2,)}, r"low is \[0.0, 1.0\]: give one number"),
        ({"high": np.zeros(2), "shape": (2,)}, "high is array"),
        ({"step": "1"}, "step is '1'"),
        ({"high": float("nan")}, "high is nan"),
        ({"low": 2, "high": np.float32(1)}, "low 2 is above high 1"),
        ({"names": ("x", "y"), "shape": (3,)}, r"2 names for the last axis of shape \[3\]"),
        ({"names": ("x",)}, r"1 names for the last axis of shape \[\]"),
    ],
)
def test_a_field_without_a_range_of_two_numbers_or_a_name_for_each_element_is_refused(wrong, says):
    """A list once ended a run in a traceback, after all of its tests."""
    with pytest.raises(UserError, match=f"^field 'at': {says}"):
        Field("at", "float32", **wrong)


def test_a_field_takes_numbers_of_any_kind():
    field = Field("at", "int32", (2,), np.int32(0), high=9.0, step=True, names=("x", "y"))
    assert (field.low, field.high) == (0, 9)


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
    _, _, message, *rest = section.splitlines()
    assert message.startswith("the oracle's obs is float64[1, 1], the contract says int32[1, 1]")
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
