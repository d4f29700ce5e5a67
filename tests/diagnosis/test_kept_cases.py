"""A report's inputs are kept as regressions, which ask the oracle again for ever."""

import json

import pytest

from twinstep.cli import main
from twinstep.diagnosis import regressions
from twinstep.errors import UserError
from twinstep.tests.support.project_folder import SHORT, Project
from twinstep.tests.toys import duel

SUITE = "properties.test_regressions rollouts.test_regressions"
STAY = ("--candidate", "mine", "-m", "level1 or level3", "-k", "stay_fixed")


@pytest.fixture(scope="module")
def kept(tmp_path_factory, toy_cache):
    """A project with a bug, whose report was replayed and kept: (project, id, what was printed)."""
    project = Project(tmp_path_factory.mktemp("kept") / "project", toy_cache)
    project.plant()
    run = project.pytest(*SHORT)
    (name, *_) = run.verdict["reports"]
    done = project.twinstep("replay", f".twinstep/reports/{name}.json", "--keep")
    assert done.returncode == 1, done.stderr
    return project, name, done.stdout


def test_keeping_writes_the_episode_and_its_one_step_witness(kept):
    project, name, text = kept
    record = project.record(name)
    for kind, case in (("rollouts", record["case"]), ("properties", record["witness"])):
        path = project.folder / kind / "regressions" / f"{name}.json"
        data = json.loads(path.read_text())
        assert data["case"] == case
        assert data["contract"] == "duel-v0"
        assert data["params"] == {}
        assert f"kept {path.relative_to(project.folder)}" in text
        # Inputs only: the oracle is asked for the answers.
        assert data.keys() == {"case", "contract", "params", "found"}
    assert record["case"]["kind"] == "episode"
    assert record["witness"]["kind"] == "step"
    assert text.strip().endswith("Reproduced byte for byte.")


def test_the_kept_cases_alone_fail_the_bug_and_pass_its_mend(kept):
    project, name, _ = kept
    project.mend()
    project.plant()
    run = project.pytest(*STAY, suite=SUITE)
    assert run.code == 1, run.text
    levels = run.verdict["pairs"]["duel-mine"]["levels"]
    assert levels["level1"]["failed"] == levels["level3"]["failed"] == 1
    assert f"Regression {name}.json." in run.text
    assert f"Witness {name}.json." in run.text
    assert "## Counterexample\n" in run.text
    assert "## Minimal" not in run.text
    project.mend()
    run = project.pytest(*STAY, suite=SUITE)
    assert run.code == 0, run.text
    levels = run.verdict["pairs"]["duel-mine"]["levels"]
    assert levels["level1"]["passed"] == levels["level3"]["passed"] == 1
    again = project.twinstep("replay", f".twinstep/reports/{name}.json")
    assert again.returncode == 0
    assert "Does not happen any more" in again.stdout


def test_a_kept_case_that_cannot_be_read_fails_and_is_named(tmp_path, monkeypatch):
    folder = tmp_path / "rollouts" / "regressions"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    contract = duel.contract({})
    for text in ("{", "[]", '{"contract": "duel-v0"}', '{"contract":"duel-v0","params":{}}'):
        (folder / "bad.json").write_text(text)
        with pytest.raises(UserError, match="bad.json is not a kept case"):
            regressions.kept("rollouts", contract)
    (folder / "bad.json").write_text('{"contract": "other-v3", "params": {}}')
    assert regressions.kept("rollouts", contract) == []


def test_keeping_where_nothing_can_be_written_is_one_line(kept, tmp_path, monkeypatch, capsys):
    project, name, _ = kept
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rollouts").write_text("")
    assert main(["replay", "--keep", str(project.reports / f"{name}.json")]) == 4
    error = capsys.readouterr().err
    assert f"rollouts/regressions/{name}.json cannot be written" in error
    assert len(error.splitlines()) == 1


def test_a_report_without_a_case_is_not_kept(kept, tmp_path):
    project, name, _ = kept
    record = project.record(name)
    record["diff"], record["case"]["actions"] = [], []
    with pytest.raises(UserError, match="has no case to keep"):
        regressions.keep(record, tmp_path)
    assert list(tmp_path.iterdir()) == []
