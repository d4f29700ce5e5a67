"""An issue for a port's maintainers holds what they need, and no word of ours."""

import json

import pytest

from twinstep.cli import main
from twinstep.diagnosis import report
from twinstep.diagnosis.upstream import issue
from twinstep.testing.lab import Divergence
from twinstep.tests.support.toy_labs import labs
from twinstep.tests.toys import broken, duel, lap

OURS = ("oracle", "candidate", "witness", "lockstep", "gate", "shrunk", "twinstep", "suspect")


@pytest.fixture
def record_of(tmp_path):
    def record(env, candidate, driver="random"):
        with labs(tmp_path, env, episodes=20) as lab_of:
            lab = lab_of(candidate)
            traces = lab.traces(driver)
            with pytest.raises(Divergence) as found:
                lab.require_lockstep(traces)
        return found.value.record

    return record


@pytest.mark.parametrize(
    ("env", "candidate", "driver", "says"),
    [
        (lap.LAP, "shrugs", "careless", "# `breath` is 1 where the toy's own Python has 0"),
        (duel.DUEL, "wrongmask", "random", "`legal` of player 1: pass only in the port"),
        (broken.DUEL, "raisesinstep", "random", "# A step raises IndexError: round 3 is beyond"),
    ],
)
def test_an_issue_says_what_differs_from_which_state_in_plain_words(
    record_of, env, candidate, driver, says
):
    record = record_of(env, candidate, driver)
    text = issue(record, {"port": "1.2.3"})
    assert says in text
    assert "state = {" in text
    assert "action = " in text
    assert "- port 1.2.3" in text
    assert "Of 20 episodes that were played, " in text
    words = text.lower()
    assert not [word for word in OURS if word in words]


def test_the_command_prints_it_and_refuses_a_report_without_a_case_in_one_line(
    record_of, tmp_path, monkeypatch, capsys
):
    record = record_of(lap.LAP, "shrugs", "careless")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.twinstep.envs]\nlap = "twinstep.tests.toys.lap:LAP"\n'
    )
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "report.json"
    path.write_bytes(report.encode(record))
    assert main(["report", "--upstream", str(path)]) == 0
    assert "- numpy " in capsys.readouterr().out
    bare = record | {"diff": [], "case": record["case"] | {"actions": []}}
    path.write_text(json.dumps(bare))
    assert main(["report", "--upstream", str(path)]) == 4
    assert "has no case that others could try" in capsys.readouterr().err
