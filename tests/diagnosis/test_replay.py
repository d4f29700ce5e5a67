"""`twinstep replay` of what cannot be asked again: one clear line, exit code 4; 1 for a side."""

import json
import shutil
import sys

import pytest

from twinstep.cli import main
from twinstep.tests.support.project_folder import SHORT, Project

BREAK = "\nclass Vector(Was):\n    def step(self, state, actions):\n        raise ValueError('x')\n"


@pytest.fixture(scope="module")
def failed(tmp_path_factory, toy_cache):
    """A project whose run failed, and the path of its report."""
    project = Project(tmp_path_factory.mktemp("replayed") / "project", toy_cache)
    project.plant()
    run = project.pytest(*SHORT, "--driver", "random", "-k", "random")
    return project, project.reports / f"{run.verdict['reports'][0]}.json"


def one_line(code, out, err):
    """Return exit code and the one line of a replay that could not be."""
    assert not out
    assert err.startswith("twinstep: ")
    assert err.count("\n") == 1, err
    return code, err


@pytest.fixture
def refused(failed, monkeypatch, capsys):
    """Return a function that replays a file in this process."""
    monkeypatch.chdir(failed[0].folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    capsys.readouterr()
    yield lambda path: one_line(main(["replay", str(path)]), *capsys.readouterr())
    for name in [name for name in sys.modules if name.split(".")[0] == "fastduel"]:
        del sys.modules[name]


@pytest.fixture
def copy(failed, tmp_path):
    """A copy of the failed project, to break."""
    project, path = failed
    there = Project(tmp_path / "copy", tmp_path)
    shutil.copytree(project.folder, there.folder, dirs_exist_ok=True)
    return there, there.reports / path.name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def (:", "the candidate cannot be built: SyntaxError"),
        (None, "the candidate cannot be built: ModuleNotFoundError"),
        ("raise SystemExit(0)", "the candidate cannot be built: SystemExit"),
    ],
)
def test_a_broken_candidate_is_one_line(copy, text, says):
    project, path = copy
    if text is None:
        project.rules.unlink()
    else:
        project.rules.write_text(text)
    done = project.twinstep("replay", path)
    code, line = one_line(done.returncode, done.stdout, done.stderr)
    assert code == 1
    assert says in line


def test_a_candidate_that_raises_by_now_has_another_report(copy):
    project, path = copy
    was = project.rules.read_text().replace("class Vector:", "class Was:")
    project.rules.write_text(was + BREAK)
    done = project.twinstep("replay", path)
    assert done.returncode == 1
    assert "the candidate raises ValueError: x, at `" in done.stdout
    assert "It still differs, but not byte for byte as reported" in done.stdout


def test_a_candidate_that_is_gone_is_one_line(copy):
    project, path = copy
    shutil.rmtree(project.package)
    done = project.twinstep("replay", path)
    code, line = one_line(done.returncode, done.stdout, done.stderr)
    assert code == 4
    assert "candidate 'duel.mine' is declared as fastduel.declared:MINE" in line


WRONG = {
    "no actions": lambda r: r["case"].pop("actions"),
    "no context": lambda r: r.pop("context"),
    "a context without its level": lambda r: r["context"].pop("level"),
    "a row without its oracle": lambda r: r["diff"][0].pop("oracle"),
    "another kind of case": lambda r: r["case"].update(kind="zz"),
    "a step from no state": lambda r: r["case"].update(kind="step"),
    "a start nobody declares": lambda r: r["case"].update(start={"deck": [1]}),
    "an unknown parameter": lambda r: r["params"].update(stones=1),
    "an action out of range": lambda r: r["case"].update(actions=[[[99, 99], 3]]),
    "a run of no steps": lambda r: r["case"].update(actions=[[[1, 1], 0]]),
    "a run without an end": lambda r: r["case"].update(actions=[[[1, 1], 10**15]]),
    "actions that are no runs": lambda r: r["case"].update(actions=[3]),
    "a seed above u32": lambda r: r["case"].update(seed=[2**40, 0]),
    "a seed of text": lambda r: r["case"].update(seed=["a", "b"]),
    "a witness that is none": lambda r: r.update(witness=3),
    "an unknown environment": lambda r: r.update(environment="dual"),
    "an unknown candidate": lambda r: r.update(candidate="yours"),
    "another contract": lambda r: r.update(contract="duel-v9"),
    "no case at all": lambda r: (r["case"].update(actions=[]), r.update(diff=[])),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_record_that_is_not_whole_is_one_line(failed, refused, tmp_path, wrong):
    record = json.loads(failed[1].read_text())
    wrong(record)
    (tmp_path / "wrong.json").write_text(json.dumps(record))
    assert refused(tmp_path / "wrong.json")[0] == 4


@pytest.mark.parametrize("text", ["[" * 99999, "[]", '{"schema": 1}', "\0", '{"schema": 99}'])
def test_what_is_no_report_is_one_line(refused, tmp_path, text):
    (tmp_path / "none.json").write_text(text)
    assert refused(tmp_path / "none.json")[0] == 4


def test_a_verdict_is_no_report(failed, refused):
    code, line = refused(failed[0].folder / ".twinstep" / "verdict.json")
    assert code == 4
    assert "verdict.json is not a twinstep report (it has no `id`)" in line


def test_a_folder_is_no_report(failed, refused):
    assert refused(failed[0].reports)[0] == 4
