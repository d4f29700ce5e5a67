"""What goes wrong around a run ends in a line: other plugins, full disks, odd texts and folders."""

import os
import subprocess
import sys

import pytest

from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.tests.support.project_folder import QUICK, Project

#: Runs each test twice, as pytest-rerunfailures does, whose first failure is a "rerun".
RERUNS = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for turn in range(2):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.outcome == "failed" and not turn:
                report.outcome = "rerun"
            hook.pytest_runtest_logreport(report=report)
        item._initrequest()
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True

def pytest_report_teststatus(report):
    return ("rerun", "R", "RERUN") if report.outcome == "rerun" else None
"""
#: What a step does -> what is said of it.
TEXTS = {
    "raise ValueError('x' * 5_000_000)": "ValueError: xxxx",
    "raise ValueError('\\udcff\\ud800')": "ValueError: \\\\udcff\\\\ud800",
    "raise Odd()": "(its text cannot be made: Odd)",
}
ODD = "class Odd(Exception):\n    def __str__(self):\n        raise self\n\n\nROUNDS ="


def test_a_failure_that_is_tried_again_is_counted_by_its_own_name(tmp_path, toy_cache):
    project = Project(tmp_path / "project", toy_cache, fork=False)
    project.plant()
    (project.folder / "conftest.py").write_text(RERUNS)
    run = project.pytest()
    assert "INTERNALERROR" not in run.text
    levels = run.verdict["pairs"]["duel-mine"]["levels"]["level3"]
    assert levels["rerun"] == levels["failed"] == 2, run.text


@pytest.mark.parametrize("words", [(), ("--isolate",)])
@pytest.mark.parametrize("act", TEXTS)
def test_an_exception_of_any_text_is_a_short_line(tmp_path, toy_cache, act, words):
    project = Project(tmp_path / "project", toy_cache)
    text = project.rules.read_text().replace("ROUNDS =", ODD, 1)
    project.rules.write_text(
        text.replace("values, key = state", f"{act}\n        values, key = state")
    )
    run = project.pytest("--candidate", "mine", "--driver", "random", "--episodes", "5", *words)
    assert run.code == 1, run.text[-2000:]
    assert TEXTS[act].replace("\\\\", "\\") in run.text
    assert "INTERNALERROR" not in run.text
    assert len(run.text) < 50_000


def test_a_candidate_that_ends_pytest_differs_and_so_does_the_exit_code(tmp_path, toy_cache):
    """In a part of the suite whose calls nothing else guards."""
    project = Project(tmp_path / "project", toy_cache)
    text = project.rules.read_text()
    ends = "import pytest\n        pytest.exit('all is well', 0)\n        values, key = state"
    project.rules.write_text(text.replace("values, key = state", ends))
    run = project.pytest("--candidate", "mine", "-m", "level3", suite="rollouts.test_shipped")
    assert run.code == 1, run.text
    assert run.verdict["pairs"]["duel-mine"]["verdict"] == "differs"
    assert "raised Exit: all is well" in run.text


def test_where_no_file_can_grow_it_is_said_and_nobody_is_blamed(tmp_path, toy_cache):
    """Neither the cache nor the temporary folder takes a recording: as on a full disk."""
    project = Project(tmp_path / "project", tmp_path / "cache")
    words = [sys.executable, "-m", "pytest", *QUICK, "--pyargs", "twinstep.rollouts.test_lockstep"]
    words += ["--env", "duel", "--candidate", "mine", "--driver", "random"]
    shell = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *words]
    done = subprocess.run(
        shell, cwd=project.folder, env=project._env, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "traces can be written neither to" in said
    assert "free some space or set TWINSTEP_CACHE" in said
    assert "the oracle raised" not in said


@needs_namespaces
def test_a_folder_with_a_name_that_is_no_text_is_no_difference(tmp_path, toy_cache):
    project = Project(tmp_path / os.fsdecode(b"caf\xff"), toy_cache, fork=False)
    run = project.pytest(
        "--candidate", "mine", "--driver", "random", "--episodes", "5", "--isolate"
    )
    assert run.code == 0, run.text.encode(errors="backslashreplace").decode()
