"""`twinstep init` writes a project, or says in one line why it cannot."""

import ast
import re
import sys
import tomllib

import pytest

from twinstep.cli import main
from twinstep.project import registry
from twinstep.protocols import CANDIDATE_LADDER, ORACLE_LADDER
from twinstep.scaffold.render import TEMPLATES
from twinstep.scaffold.twins import AGREE
from twinstep.tests.support import init_projects
from twinstep.tests.support.init_runs import (
    BOTH,
    begin,
    generated,
    gymnax,
    init,
    run,
    written,
)  # fmt: skip

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

FILES = {
    ".gitignore", "pyproject.toml", "P/__init__.py", "P/contract.py", "P/declared.py",
    "P/oracle/__init__.py", "P/oracle/bridge.py", "P/oracle/probe.py",
    "P/fast/__init__.py", "P/fast/candidate.py",
}  # fmt: skip


def test_a_project_begins_with_reset_step_and_load(empty, capsys):
    assert init("gymnasium:MountainCar-v0") == 0
    assert written(empty) == {name.replace("P/", "twinstep_mountaincar/") for name in FILES}
    bridge = ast.parse((empty / "twinstep_mountaincar/oracle/bridge.py").read_text())
    (reference,) = (node for node in bridge.body if isinstance(node, ast.ClassDef))
    assert ast.unparse(reference.bases[0]) == (
        "oracle_from_gym(make, place=place, fields=show, load=load)"
    )
    printed = capsys.readouterr().out
    assert "\nNext: pytest -m level3\n" in printed
    for line in (
        f"oracle.call: {ORACLE_LADDER['call']}",
        f"oracle.events: {ORACLE_LADDER['events']}",
        f"candidate.call: {CANDIDATE_LADDER['call']}",
        "a driver of your own: what random play never reaches",
    ):
        assert line in printed
    assert "oracle.load:" not in printed
    assert "candidate.load:" not in printed


def test_a_named_folder_is_made_and_the_way_there_is_said(empty, capsys):
    assert init("gymnasium:CartPole-v1", "--name", "pole", "new/one") == 0
    assert "twinstep_pole/declared.py" in written(empty / "new" / "one")
    assert "Next: cd new/one && pytest -m level3" in capsys.readouterr().out


def test_a_project_says_that_its_runs_are_twinsteps(empty):
    begin(empty, "gymnasium:MountainCar-v0")
    tool = tomllib.loads((empty / "pyproject.toml").read_text())["tool"]
    assert tool["pytest"]["ini_options"]["twinstep"] is True
    assert tool["pytest"]["ini_options"]["addopts"][:3] == ["--pyargs", "--env", "mine"]


PUBLIC = {"twinstep", "twinstep.chance", "twinstep.inward"}
IMPORTS = re.compile(r"^ *(?:from|import) (twinstep(?:\.\w+)*)\b", re.MULTILINE)


@pytest.mark.parametrize("what", ["MountainCar-v0", "FrozenLake-v1", "header"])
def test_a_project_imports_the_public_face_alone(what, empty):
    if what == "header":
        (empty / "env.h").write_text(init_projects.HEADER)
        assert init("header:env.h") == 0
    else:
        begin(empty, f"gymnasium:{what}")
    for path in empty.rglob("*.py"):
        assert set(IMPORTS.findall(path.read_text())) <= PUBLIC, path


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES.rglob("*.txt")), ids=lambda path: path.parent.name
)
def test_no_template_imports_more_than_the_public_face(path):
    """Of every condition, gymnax's too."""
    assert set(IMPORTS.findall(path.read_text())) <= PUBLIC


def test_a_derived_name_that_is_taken_gives_the_next_free_one(empty, capsys, monkeypatch):
    """The README's own example in a checkout, where examples/cartpole is installed."""
    names = [*registry.names(), "mountaincar", "mountaincar2"]
    monkeypatch.setattr(registry, "names", lambda: names)
    assert init("gymnasium:MountainCar-v0") == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if "already" in line)
    assert line == (
        "There is an environment 'mountaincar' already, so this one is 'mountaincar3': --name "
        "gives another."
    )
    assert written(empty) == {name.replace("P/", "twinstep_mountaincar3/") for name in FILES}
    declared = generated(empty, "mountaincar3", "declared", monkeypatch).MOUNTAINCAR3
    assert declared.name == "mountaincar3"
    assert declared.contract({}).version == "mountaincar3-v0"
    assert '"--env", "mountaincar3"' in (empty / "pyproject.toml").read_text()


def test_a_free_name_is_kept_without_a_word(empty, capsys):
    assert init("gymnasium:MountainCar-v0") == 0
    assert "already" not in capsys.readouterr().out


def test_starts_that_cannot_be_placed_are_said_and_marked(empty, capsys):
    assert init("gymnasium:FrozenLake-v1") == 0
    (line,) = (text for text in capsys.readouterr().out.splitlines() if "NOT matched" in text)
    assert "twinstep_frozenlake/" in line
    for place in ("contract.py", "oracle/bridge.py"):
        assert "FILL IN" in (empty / "twinstep_frozenlake" / place).read_text()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["gymnasium"], "--oracle gymnasium: write gymnasium:ID, MODULE:CALLABLE, dm_env:MODULE:"),
        (["nowhere:x"], "--oracle nowhere:x: there is no module nowhere here: install it or go to"),
        (["gymnasium:CartPol-v1"], "doesn't exist. Did you mean: `CartPole`?"),
        (["gymnasium:Blackjack-v1"], "observes Tuple, which is not one array: wrap it"),
        (
            ["gymnasium:MountainCar-v0", "--candidate", "x"],
            "functional:MODULE:CLASS or MODULE:CALLABLE, or leave it out",
        ),
        (["gymnasium:CartPole-v1", "--name", "Pole"], "'Pole' is no name: choose small letters"),
        (["gymnasium:CartPole-v1", "--name", "pong"], "'pong' already: choose another --name"),
        (["header:env.h", "--name", "pong"], "'pong' already: choose another --name"),
        (["header:no.h"], "--oracle header:no.h: No such file or directory"),
        (["header:env.h", "--candidate", "gymnax:x"], "leave it out"),
        (["header:Env.2.h"], "'Env.2' is no name: choose small letters, digits and _ with --name"),
        (["gymnasium:CartPole-v1", "env.h"], "env.h is no folder: name an empty one"),
    ],
)
def test_what_cannot_be_begun_is_one_line_and_writes_nothing(args, says, empty, capsys):
    (empty / "env.h").write_text(init_projects.HEADER)
    assert init(*args) == 4
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.startswith("twinstep: ")
    assert printed.err.count("\n") == 1
    assert not printed.out
    assert written(empty) == {"env.h"}


def test_a_missing_package_is_one_line_with_the_pip_command(empty, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnax", None)
    assert init("gymnasium:MountainCar-v0", "--candidate", "gymnax:MountainCar-v0") == 4
    assert capsys.readouterr().err == "twinstep: gymnax is not installed: pip install gymnax\n"
    monkeypatch.delitem(sys.modules, "gymnax")
    for text, says in (
        ("import no_such_part.inner", "needs no_such_part, which is missing: pip install no_such"),
        ("1 / 0", "cannot be imported (division by zero): pip install --force-reinstall gymnax"),
    ):
        (empty / "gymnax.py").write_text(text)
        code, output = run(
            empty, "twinstep.cli", "init", "--oracle", "gymnasium:MountainCar-v0",
            "--candidate", "gymnax:MountainCar-v0",
        )  # fmt: skip
        assert code == 4
        assert f"twinstep: gymnax {says}" in output
        assert output.count("\n") == 1
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    assert init("gymnasium:MountainCar-v0") == 4
    expected = "twinstep: gymnasium is not installed: pip install gymnasium\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("taken", ["pyproject.toml", "twinstep_mountaincar"])
def test_nothing_that_exists_is_overwritten(taken, empty, capsys):
    (empty / taken).write_text("mine")
    assert init("gymnasium:MountainCar-v0") == 4
    assert f"{taken} exists, and init overwrites nothing" in capsys.readouterr().err
    assert written(empty) == {taken}
    assert (empty / taken).read_text() == "mine"


def test_what_lies_beside_the_project_is_kept(empty):
    (empty / ".gitignore").write_text("mine")
    assert init("gymnasium:MountainCar-v0") == 0
    assert (empty / ".gitignore").read_text() == "mine"


def test_only_what_is_of_this_environment_is_collected_and_once(empty):
    """Its own settings name it, and so may the command line; tests of others are left out."""
    assert init("gymnasium:MountainCar-v0") == 0
    alone, twice = (
        [line for line in run(empty, "pytest", "-q", "--collect-only", *more)[1].splitlines()
         if "::" in line]
        for more in ([], ["--env", "mountaincar"])
    )  # fmt: skip
    assert alone == twice
    assert "test_lockstep.py::test_episodes_match[mountaincar-jax-random]" in alone
    assert not [line for line in alone if "pong" in line or "quirk" in line]


def test_a_broken_pyproject_is_one_line(empty, capsys):
    (empty / "pyproject.toml").write_text("mine")
    assert main(["envs"]) == 4
    assert "pyproject.toml cannot be read: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n, shape = 2, ()", "n, shape = 3, ()",
         "the action spaces differ: gymnasium's slides:Slide-v0 has Discrete(2), gymnax's Slide-v0 "
         f"has Discrete(3); {AGREE}"),
        ("9.0, (2,)", "9.0, (3,)",
         "the observations differ: gymnasium's slides:Slide-v0 has shape [2], gymnax's Slide-v0 "
         f"has [3]; {AGREE}"),
        ('if id != "Slide-v0"', "if True",
         "--candidate gymnax:Slide-v0: Slide-v0 is not known"),
    ],
)  # fmt: skip
def test_two_environments_that_do_not_fit_are_refused_in_one_line(empty, old, new, says):
    gymnax(empty, edits=[(old, new)])
    code, text = run(empty, "twinstep.cli", *BOTH)
    assert (code, text) == (4, f"twinstep: {says}\n")
