"""A candidate behind walls imports what it is made of, and finds no oracle, trace or verdict."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import twinstep
from twinstep._lib.paths import cache_dir
from twinstep._lib.spawn import child_command
from twinstep.environment import CandidateRef
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner.candidate_view import view_of
from twinstep.tests.runner import sees
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.walls.view import variables, walled

pytestmark = needs_namespaces
ENVIRONMENTS = ("cartpole", "emurust", "halfcheetah", "pokejax", "pong", "tcgjax")
ROOT = Path(twinstep.__file__).parents[1]


def _pair(name):
    env = registry.environment(name)
    return Pair(EnvVariant(env, env.variants[0]), env.candidates[0])


def _asked(view, modules, files=()):
    """Ask in the view whether modules import, and whether files are there."""
    words = child_command(sees.__name__, 0, json.dumps([modules, [str(file) for file in files]]))
    done = subprocess.run(
        walled(words), env=variables(view), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _with_this_test(view):
    return replace(view, read=(*view.read, sees.__file__, str(ROOT / "tests" / "__init__.py")))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_candidate_imports_and_the_oracle_does_not(name):
    pair = _pair(name)
    oracle = pair.subject.env.oracle
    mine = [pair.candidate.factory.partition(":")[0], registry.locator(name).partition(":")[0]]
    foreign = [oracle.factory.partition(":")[0], *oracle.upstream]
    said, _ = _asked(_with_this_test(view_of(pair)), mine + foreign)
    assert said[: len(mine)] == ["imported"] * len(mine)
    assert all(one == "empty" or one.startswith("ModuleNotFound") for one in said[len(mine) :])


def test_nothing_of_the_project_is_there_but_what_is_named(tmp_path):
    pair = _pair("pong")
    files = [
        cache_dir(), ROOT / ".git", ROOT / "pyproject.toml", ROOT / "tests" / "conftest.py",
        ROOT / "candidates" / "halfcheetah", ROOT / "generated" / "tcgjax", tmp_path,
        Path(twinstep.__file__), ROOT / "candidates" / "pong", ROOT / "generated" / "pong",
    ]  # fmt: skip
    _, there = _asked(_with_this_test(view_of(pair)), [], files)
    assert there == [False] * 7 + [True] * 3


def test_an_oracle_beside_the_candidate_is_empty_and_its_package_is_seen(tmp_path, monkeypatch):
    package = tmp_path / "port"
    for name in ("__init__", "oracle", "fast", "declared", "library/__init__"):
        (package / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (package / f"{name}.py").write_text("right = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    pair = _pair("pong")
    env = replace(
        pair.subject.env,
        oracle=replace(pair.subject.env.oracle, package="port.oracle", upstream=("port.library",)),
    )
    mine = CandidateRef("mine", "port.fast:Make", packages=("port",))
    view = view_of(Pair(EnvVariant(env, env.variants[0]), mine))
    files = [package / name for name in ("fast.py", "library/__init__.py")]
    said, there = _asked(_with_this_test(view), ["port.fast", "port.library"], files)
    assert said[0] == "imported"
    assert there == [True, False]
    read = f"print(repr(open({str(package / 'oracle.py')!r}).read()))"
    done = subprocess.run(
        walled([sys.executable, "-c", read]), env=variables(view), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "''", done.stderr


def test_helpers_that_nobody_declared_are_seen_and_what_lies_beside_them_is_not(
    tmp_path, monkeypatch
):
    texts = {
        "port/__init__.py": "",
        "port/deep/__init__.py": "",
        "port/deep/fast.py": "from ..tables import rows\nimport helpers.draws, helpers.a",
        "port/tables.py": "from .numbers import rows",
        "port/numbers.py": "rows = 1",
        "port/other.py": "",
        "helpers/draws.py": "",
        "helpers/a.py": "",
        "helpers/b.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    pair = _pair("pong")
    mine = CandidateRef("mine", "port.deep.fast:Make")
    view = view_of(Pair(EnvVariant(pair.subject.env, pair.subject.variant), mine))
    files = [tmp_path / name for name in texts]
    said, there = _asked(_with_this_test(view), ["port.deep.fast"], files)
    assert said == ["imported"]
    assert [file.name for file, seen in zip(files, there, strict=True) if not seen] == [
        "other.py", "b.py"
    ]  # fmt: skip


def test_a_project_inside_pythons_own_prefix_is_not_seen_with_it(tmp_path, monkeypatch):
    """A project with its runs, their keys and the oracle may lie in an environment's folder."""
    (tmp_path / "lib").mkdir()
    (tmp_path / ".twinstep" / "runs" / "one").mkdir(parents=True)
    (tmp_path / ".twinstep" / "built").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    view = view_of(_pair("pong"))
    assert str(tmp_path) not in view.read
    assert str(tmp_path / "lib") in view.read
    assert str(tmp_path / ".twinstep" / "runs") in view.hide
    assert str(tmp_path / ".twinstep" / "built") not in view.hide


def test_what_says_how_a_candidate_did_is_empty_for_it():
    pair = _pair("pong")
    verdict = ROOT / "candidates" / "pong" / "verdict.json"
    assert verdict.stat().st_size
    read = f"import os; print(os.path.getsize({str(verdict)!r}))"
    done = subprocess.run(
        walled([sys.executable, "-c", read]), env=variables(view_of(pair)), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "0", done.stderr


def test_of_installed_packages_it_sees_those_that_are_required_and_no_others():
    """`gymnasium` is here for another environment; `matplotlib` requires `pillow`."""
    pair = _pair("pong")
    names = ["numpy", "jax", "twinstep.candidates.pong.jax_pong", "gymnasium", "matplotlib", "PIL"]
    for requires, expected in [
        (None, [True] * 6),
        ((), [True] * 3 + [False] * 3),
        (("matplotlib>=3",), [True] * 3 + [False, True, True]),
    ]:
        mine = Pair(pair.subject, replace(pair.candidate, requires=requires))
        said, _ = _asked(_with_this_test(view_of(mine)), names)
        assert [one == "imported" for one in said] == expected, said


def test_what_declares_environments_is_found_whatever_is_required():
    """`make` in a user's program reads it; no pyproject.toml is there."""
    pair = _pair("pong")
    view = view_of(Pair(pair.subject, replace(pair.candidate, requires=())))
    asks = "import twinstep; print(twinstep.make('pong-v0', 'jax').id)"
    words, given = [sys.executable, "-c", asks], variables(view) | {"HOME": "/tmp"}
    done = subprocess.run(walled(words), env=given, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "pong-v0", done.stderr


@pytest.mark.parametrize("wrong", ["no-such-distribution", "no-such[extra]>=3; os", "!"])
def test_what_is_required_and_not_installed_is_a_line(wrong):
    pair = _pair("pong")
    with pytest.raises(UserError, match="requires"):
        view_of(Pair(pair.subject, replace(pair.candidate, requires=(wrong,))))
