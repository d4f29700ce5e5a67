"""A candidate's probe and the hash of its build are an agent's code too: never the judge's."""

import pytest

from twinstep.project import registry
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.tests.support.project_folder import DECLARED, Project

#: Both write a file beside the project: outside walls it is there afterwards.
BUILT = """
from pathlib import Path
from twinstep.environment import Probe

def _left(name):
    try:
        Path({folder!r}, name).write_text("")
    except OSError:
        pass

def build():
    _left("build")
    return "1"

def probe(params):
    _left("probe")
    return Probe({{"pin": "1"}})
"""


@pytest.fixture
def project(tmp_path, toy_cache):
    made = Project(tmp_path / "project", toy_cache)
    (made.package / "built.py").write_text(BUILT.format(folder=str(tmp_path)))
    more = 'build="fastduel.built:build", probe="fastduel.built:probe",\n    packages='
    (made.package / "declared.py").write_text(DECLARED.replace("packages=", more))
    return made


@needs_namespaces
def test_a_run_that_keeps_candidates_apart_calls_neither_itself(project, tmp_path):
    words = ("-m", "level3", "--driver", "random", "--candidate", "mine", "--episodes", "5")
    apart = project.pytest(*words, "--isolate")
    assert apart.code == 0, apart.text
    assert not list(tmp_path.glob("build")) + list(tmp_path.glob("probe"))
    here = project.pytest(*words)
    assert {path.name for path in tmp_path.iterdir()} >= {"build", "probe"}
    # The hash says the same of the same files, wherever it was asked for.
    entries = [run.verdict["pairs"]["duel-mine"] for run in (apart, here)]
    assert entries[0]["loaded"] == entries[1]["loaded"] != ""
    assert entries[0]["sources"] == entries[1]["sources"] != ""


@needs_namespaces
def test_what_cannot_be_called_there_is_one_line(project):
    text = (project.package / "built.py").read_text()
    (project.package / "built.py").write_text(
        text + "\n\ndef probe(params):\n    raise OSError(3)\n"
    )
    for words in ((), ("--isolate",)):
        run = project.pytest("-m", "level3", "--candidate", "mine", "--require-oracles", *words)
        assert run.code == 1, run.text
        assert "fastduel.built:probe" in run.text
        assert "mend the probe" in run.text
        assert "Traceback" not in run.text


def test_a_run_leaves_the_way_of_calling_as_it_was():
    assert registry._calls == []
