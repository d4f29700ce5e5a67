"""What a failing run leaves behind, and where a person, an agent or CI reads it."""

import json
import re
from xml.etree import ElementTree

import pytest

from twinstep.diagnosis import report
from twinstep.testing import github_actions, reporting
from twinstep.tests.support.project_folder import SHORT, Project

VERDICT = ".twinstep/verdict.json"
#: Two candidates at whose import the process dies.
DYING = """
from twinstep.environment import CandidateRef

MINE = CandidateRef("mine", "fastduel.mine_dies:Vector")
OTHER = CandidateRef("other", "fastduel.other_dies:Vector")
"""
#: Dies when both processes are here, or after 5 s: the first one may hold a lock.
DIES = """
import os
import signal
import time
from pathlib import Path

Path(f"{__name__}.here").touch()
ends = time.monotonic() + 5
while len(list(Path().glob("*.here"))) < 2 and time.monotonic() < ends:
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory, toy_cache):
    """One failing run as GitHub's runner starts it, in a folder of its repository."""
    root = tmp_path_factory.mktemp("repository")
    project = Project(root / "envs" / "duel", toy_cache)
    project.plant()
    run = project.pytest(
        *SHORT, "--junitxml", "junit.xml",
        GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(root), GITHUB_STEP_SUMMARY=str(root / "page"),
    )  # fmt: skip
    assert run.code == 1, run.text
    return project, run


def _simplest(project, run):
    """Return the record of the fewest steps, which stands for all reports of the bug."""
    records = [project.record(name) for name in run.verdict["reports"]]
    assert len(records) == 2
    return min(records, key=lambda r: sum(count for _, count in r["case"]["actions"]))


def test_the_last_lines_name_the_difference_the_module_the_report_and_the_replay(failing):
    project, run = failing
    record = _simplest(project, run)
    file = f".twinstep/reports/{record['id']}"
    head, module, replay, _, count = run.text.rstrip().splitlines()[-5:]
    assert head == report.headline(record)
    line = project.rules.read_text().split("def _frame")[0].count("\n") + 1
    place = f"fastduel/rules.py:{line}"
    assert module == f"  module step ({place}); report {file}.md and 1 more of it"
    assert replay == f"  twinstep replay {file}.json"
    assert count.startswith("2 failed")
    assert (project.folder / f"{file}.md").is_file()
    assert project.twinstep(*replay.split()[1:]).returncode == 1


def test_github_marks_the_line_to_edit_from_the_repositorys_root(failing):
    project, run = failing
    (text,) = [line for line in run.text.splitlines() if line.startswith("::error")]
    place, _, headline = text.removeprefix("::error ").partition("::")
    assert headline == report.headline(_simplest(project, run))
    words = dict(word.split("=") for word in place.split(","))
    file = project.folder.parents[1] / words["file"]
    assert words["file"] == "envs/duel/fastduel/rules.py"
    assert file.read_text().splitlines()[int(words["line"]) - 1].lstrip().startswith("def _frame(")


def test_githubs_page_of_the_job_shows_the_report(failing):
    project, run = failing
    text = (project.folder.parents[1] / "page").read_text()
    assert text.strip() == report_text(project, _simplest(project, run)["id"]).strip()


def report_text(project, name):
    return (project.reports / f"{name}.md").read_text()


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ("a, b: c", "", "::error::a, b: c"),
        ("100% wrong\nand more", "", "::error::100%25 wrong%0Aand more"),
        ("x", "a,b.py:7", "::error file=a%2Cb.py,line=7::x"),
        ("x", "a,b.py", "::error file=a%2Cb.py::x"),
        ("x", "not_here.py:7", "::error::x"),
    ],
)
def test_an_annotation_is_one_line_and_names_only_files_that_are_there(
    tmp_path, monkeypatch, text, place, line
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.py").write_text("")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert github_actions.annotation(text, place) == line
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert github_actions.annotation(text, place) == ""


def test_githubs_page_shows_every_bug(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page"))
    github_actions.add_to_job("one")
    github_actions.add_to_job("two")
    assert (tmp_path / "page").read_text() == "one\ntwo\n"
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    github_actions.add_to_job("three")


def test_junit_names_each_report_and_does_not_hold_it(failing):
    project, run = failing
    path = project.folder / "junit.xml"
    named = {}
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None:
            properties = [(p.get("name"), p.get("value")) for p in case.iter("property")]
            named[case.get("name")] = properties
    by_test = {}
    for name in run.verdict["reports"]:
        test = project.record(name)["context"]["test"].rpartition("::")[2]
        by_test[test] = [("twinstep", f".twinstep/reports/{name}.json")]
    assert named == by_test
    assert "pins" not in path.read_text()


def test_a_report_says_the_same_wherever_the_suite_lies(failing):
    """pytest's own name of a test depends on how it was asked for."""
    project, run = failing
    for name in run.verdict["reports"]:
        record = project.record(name)
        driver = record["context"]["driver"]
        test = f"rollouts/test_lockstep.py::test_episodes_match[duel-mine-{driver}]"
        assert record["context"]["test"] == test
    again = project.pytest(*SHORT, "-k", "episodes_match", suite="rollouts")
    assert again.verdict["reports"] == run.verdict["reports"]


def test_two_workers_write_the_same_bytes_and_share_no_candidate(failing):
    project, run = failing
    alone = {path.name: path.read_bytes() for path in project.reports.iterdir()}
    args = (*SHORT, "--candidate", "vector")
    one = project.pytest(*args)
    assert one.code == 1
    verdict = _but_for_the_command(project)
    two = project.pytest(*args, "-n", "2", "--dist", "loadgroup", "-vv")
    assert _but_for_the_command(project) == verdict
    assert {path.name: path.read_bytes() for path in project.reports.iterdir()} == alone
    by_pair = {}
    for worker, pair in re.findall(r"\[(gw\d)\].*test_episodes_match\[(duel-\w+)-", two.text):
        by_pair.setdefault(pair, set()).add(worker)
    assert by_pair.keys() == {"duel-mine", "duel-vector"}
    assert sorted(map(len, by_pair.values())) == [1, 1], two.text


def test_tests_of_two_workers_that_die_at_once_are_given_to_their_successors(project):
    """The one that is ready first must not be given the tests of one that is still collecting."""
    for name in ("mine", "other"):
        (project.package / f"{name}_dies.py").write_text(DIES)
    (project.package / "declared.py").write_text(DYING)
    extra = '"duel.other" = "fastduel.declared:OTHER"\n'
    with (project.folder / "pyproject.toml").open("a") as file:
        file.write(extra)
    run = project.pytest(
        "--candidate", "mine", "--candidate", "other", "--episodes", "6", "-n", "2",
        "--dist", "loadgroup",
    )  # fmt: skip
    assert run.code == 1, run.text
    assert run.text.count("node down") == 6, run.text
    assert "6 failed" in run.text
    assert [pair["verdict"] for pair in run.verdict["pairs"].values()] == ["differs"] * 2


def _but_for_the_command(project):
    text = (project.folder / VERDICT).read_text()
    return text.replace(json.dumps(json.loads(text)["command"]), "")


FULL = """
import errno
from twinstep._lib import paths

def write_atomically(path, data):
    raise OSError(errno.ENOSPC, "No space left on device")

paths.write_atomically = write_atomically
"""


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--report-dir", "a_file/reports"), "report cannot be written to a_file/reports"),
        (("-p", "full"), "the verdict cannot be written (No space left on device)"),
    ],
)
def test_a_failing_run_that_cannot_write_says_so_in_its_last_line(project, args, says):
    project.plant()
    (project.folder / "a_file").write_text("")
    (project.folder / "full.py").write_text(FULL)
    run = project.pytest(*SHORT, *args)
    assert run.code == 1, run.text
    last = run.text.rstrip().splitlines()[-2]
    assert last.startswith("twinstep: ")
    assert says in last
    assert "Traceback" not in run.text
    assert "INTERNALERROR" not in run.text
    # Nothing is lost: the report is in the output.
    assert "## Minimal counterexample" in run.text


@pytest.mark.parametrize(
    ("args", "env", "says"),
    [
        (("--verdict", "a_file/verdict.json"), {}, "the verdict cannot be written"),
        (("--export-traces", "a_file/traces"), {}, "a_file/traces cannot be written"),
    ],
)
def test_a_passing_run_that_cannot_write_has_not_passed(project, args, env, says):
    (project.folder / "a_file").write_text("")
    run = project.pytest(*SHORT, *args, **env)
    assert run.code == 4, run.text
    assert says in run.text.rstrip().splitlines()[-2]
    assert "Traceback" not in run.text


def test_nothing_is_left_beside_a_verdict_and_the_times_lie_elsewhere(project):
    run = project.pytest(*SHORT, "--verdict", "of_the_candidate/verdict.json")
    assert run.code == 0, run.text
    assert [path.name for path in (project.folder / "of_the_candidate").iterdir()] == [
        "verdict.json"
    ]
    times = json.loads((project.folder / ".twinstep" / "times.json").read_text())
    assert all(seconds > 0 for seconds in times.values())
    assert any("test_episodes_match" in test for test in times)


def test_a_run_whose_times_cannot_be_written_has_passed_all_the_same(project):
    (project.folder / ".twinstep" / "times.json").mkdir(parents=True)
    run = project.pytest(*SHORT, "--verdict", "verdict.json")
    assert run.code == 0, run.text
    assert (project.folder / "verdict.json").is_file()


def test_a_page_that_cannot_be_written_is_one_line(project):
    project.plant()
    run = project.pytest(*SHORT, GITHUB_STEP_SUMMARY=str(project.folder / "nowhere" / "page"))
    assert run.code == 1, run.text
    assert "the job's page cannot be written" in run.text.rstrip().splitlines()[-2]
    assert "INTERNALERROR" not in run.text
    assert json.loads((project.folder / VERDICT).read_text())["reports"]


def test_a_report_of_a_state_at_a_limit_comes_after_one_of_any_state():
    """A reader of reports took the limit, at which every step differed as well, for the cause."""

    def record(id, test, **more):
        case = {"actions": [[[0], 1]]}
        context = {"level": 2, "test": f"interactions/{test}.py::test_it[it]"}
        return {"id": id, "case": case, "context": context, "diff": [{}], **more}

    records = [
        record("a", "test_extremes"),
        record("b", "test_limits", term="as if `cost` were left out"),
        record("c", "test_steps"),
        record("d", "test_steps", term="as if `cost` were left out"),
    ]
    assert [each["id"] for each in sorted(records, key=reporting._simplest)] == list("dcba")
